"""What a lent machine gives back, kept within its limits at every moment.

Steps write where they like below `work`. On a machine that keeps only $OUT, `work` lies elsewhere, and
`keep` puts everything into few archives in $OUT: after a step, not at the end, so that whatever ends
the command (its time limit, a crash, the machine itself) costs the step that was running and no other.
"""

import os
import shutil
import tarfile
import tempfile
import time
import zlib

MOST_FILES = 8
# 16 MiB are allowed; headers and the estimate below need some of it.
MOST_ARCHIVE = 15 * 2**20
# Archives are written anew each time: not after every step of a second.
PAUSE_SECONDS = 10

# Archive, and the endings of what goes into it. The last one takes the rest.
ARCHIVES = {
    "ncu-reports.tar.gz": (".ncu-rep",),
    "recordings.tar.gz": (".nvtxrec",),
    "nsys.tar.gz": (".nsys-rep", ".sqlite", ".qdstrm"),
    "tables.tar.gz": (),
}


def is_returned(folder):
    """Whether a folder is, or lies in, the one whose files a lent machine gives back."""
    if not os.environ.get("OUT"):
        return False
    returned = os.path.abspath(os.environ["OUT"])
    return os.path.commonpath([os.path.abspath(folder), returned]) == returned


class Outbox:
    """`out` gets results; `packed` says that it may hold few files only, `one_archive` that it is to hold three."""

    def __init__(self, out, packed, one_archive=False):
        self.out = out
        self.packed = packed
        self.archives = {list(ARCHIVES)[-1]: ()} if one_archive else ARCHIVES
        os.makedirs(out, exist_ok=True)
        self.work = tempfile.mkdtemp(prefix="gpu-check-") if packed else out
        self.left_out = []
        self._sizes = {}
        self._kept_at = None

    def write(self, name, text):
        """A file of results, whole or not at all."""
        path = os.path.join(self.out, name)
        # Beside the others, where an interruption would leave it, it counted as one of them.
        unfinished = os.path.join(self.work, f".{name}")
        with open(unfinished, "w", encoding="utf-8") as file:
            file.write(text)
        try:
            os.replace(unfinished, path)
        except OSError:  # another file system
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            os.remove(unfinished)

    def keep(self, now=False):
        """Packs what there is, unless that was done a moment ago."""
        if not self.packed:
            return
        if not now and self._kept_at is not None and time.monotonic() - self._kept_at < PAUSE_SECONDS:
            return
        self.left_out = []
        groups = {name: [] for name in self.archives}
        for path in files_below(self.work):
            groups[archive_of(path, self.archives)].append(path)
        for name, members in groups.items():
            if members:
                self._pack(name, members)
        self._kept_at = time.monotonic()

    def close(self):
        """What is packed is not kept twice."""
        if self.packed:
            shutil.rmtree(self.work, ignore_errors=True)

    def _pack(self, name, members):
        room = MOST_ARCHIVE
        # The small ones first: the most of them.
        chosen = []
        for size, member in sorted((self._packed_size(path), path) for path in members):
            room -= size + 1024
            if room < 0:
                self.left_out.append(os.path.relpath(member, self.work))
            else:
                chosen.append(member)
        if not chosen:
            return
        path = os.path.join(self.out, name)
        unfinished = os.path.join(self.work, f".{name}")
        with tarfile.open(unfinished, "w:gz", compresslevel=6) as tar:
            for member in sorted(chosen):
                try:
                    tar.add(member, os.path.relpath(member, self.work), recursive=False)
                except OSError:
                    pass  # a file of a step that still runs, gone by now
        copy_over(unfinished, path)

    def _packed_size(self, path):
        try:
            facts = os.stat(path)
        except OSError:
            return 0
        key = (path, facts.st_size, facts.st_mtime_ns)
        if key not in self._sizes:
            self._sizes[key] = compressed_size(path)
        return self._sizes[key]


def archive_of(path, archives):
    for name, endings in archives.items():
        if path.endswith(endings):
            return name
    return list(archives)[-1]


def compressed_size(path):
    packer = zlib.compressobj(6)
    size = 0
    try:
        with open(path, "rb") as file:
            for block in iter(lambda: file.read(2**20), b""):
                size += len(packer.compress(block))
    except OSError:
        return 0
    return size + len(packer.flush())


def copy_over(source, target):
    """In one step where both lie on one file system; elsewhere as near to it as can be."""
    try:
        os.replace(source, target)
    except OSError:
        with open(source, "rb") as file:
            data = file.read()
        with open(target, "wb") as file:
            file.write(data)
        os.remove(source)


def files_below(folder):
    """Plain files; what this module itself is writing begins with a dot."""
    found = []
    for place, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(place, name)
            own = place == folder and name.startswith(".")
            if not own and os.path.isfile(path) and not os.path.islink(path):
                found.append(path)
    return found
