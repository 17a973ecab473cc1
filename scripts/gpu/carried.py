"""What scripts/gpu-carry.mjs packed, unpacked here."""

import hashlib
import os
import shutil
import tarfile

from gpu.build import read_text
from gpu.report import Failed, Skipped
from gpu.run import run


def unpack(archive, folder):
    if not os.path.exists(archive):
        raise Failed(f"{archive} is not here: node scripts/gpu-carry.mjs makes it, and `carry` names it")
    try:
        with tarfile.open(archive) as tar:
            # From 3.14 on files get fewer rights unless told, and from 3.12 on Python says so.
            tar.extractall(folder, **({"filter": "fully_trusted"} if hasattr(tarfile, "fully_trusted_filter") else {}))
    except tarfile.ReadError:
        # A Python that was built without lzma.
        run(["tar", "-C", folder, "-xf", archive], 120)
    return f"{os.path.getsize(archive) / 2**20:.0f} MiB"


def unpack_once(archive, folder):
    """Not again where this very archive was unpacked before, by another command: what was built there stays."""
    mark = os.path.join(folder, ".unpacked")
    if os.path.exists(archive) and read_text(mark) == checksum(archive):
        return "as unpacked before"
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
    size = unpack(archive, folder)
    with open(mark, "w", encoding="utf-8") as file:
        file.write(checksum(archive))
    return size


def checksum(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def use_nsys(archive, folder):
    """Puts the carried nsys before the machine's own, which may make no reports of what it records."""
    if not os.path.exists(archive):
        raise Skipped("node scripts/gpu-carry.mjs --nsys makes it, and `carry` names it")
    unpack(archive, folder)
    place = os.path.join(folder, "nsys", "target-linux-x64")
    version = run([os.path.join(place, "nsys"), "--version"], 30).stdout.strip()
    os.environ["PATH"] = os.pathsep.join([place, os.environ.get("PATH", "")])
    return version
