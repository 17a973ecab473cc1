"""nsys by hand: records with whichever nsys of this machine sees kernels, and keeps what each left."""

import glob
import os
import shutil
import sqlite3

from gpu.report import Failed, first_line
from gpu.run import TookTooLong, run

ELSEWHERE = (
    "/opt/nvidia/nsight-systems*/*/bin/nsys",
    "/usr/local/cuda*/bin/nsys",
    # Of Nsight Compute: it records, and may lack what makes a report of it.
    "/opt/nvidia/nsight-compute/*/host/target-linux-x64/nsys",
)
OPTIONS = ("--trace", "cuda,nvtx", "--sample", "none", "--cpuctxsw", "none", "-f", "true")
KERNELS = "CUPTI_ACTIVITY_KIND_KERNEL"


# Names a file with the paths of those that hung or saw no kernels, for programs that are started from here, too:
# minutes are few.
GIVEN_UP = "GPU_CHECK_NSYS_GIVEN_UP"


def give_up(nsys):
    if GIVEN_UP in os.environ:
        with open(os.environ[GIVEN_UP], "a", encoding="utf-8") as file:
            file.write(f"{nsys}\n")


def given_up():
    try:
        with open(os.environ[GIVEN_UP], encoding="utf-8") as file:
            return file.read().split("\n")
    except (KeyError, OSError):
        return []


def all_nsys():
    """What was carried here comes first on PATH (carried.py)."""
    places = os.environ.get("PATH", "").split(os.pathsep)
    found = [path for place in places if (path := shutil.which("nsys", path=place))]
    found += [path for pattern in ELSEWHERE for path in sorted(glob.glob(pattern), reverse=True)]
    by_file = {os.path.realpath(path): path for path in reversed(found)}
    return [path for path in dict.fromkeys(found) if by_file[os.path.realpath(path)] == path]


def usable_nsys():
    return [path for path in all_nsys() if path not in given_up()]


class NoKernels(Failed):
    """An nsys that is too old for the driver records ranges alone."""


def record(command, report, options=(), seconds=60, **settings):
    """Records into REPORT.nsys-rep and REPORT.sqlite; the latter's path. Raises Failed with what each nsys said."""
    tools = usable_nsys()
    if not tools:
        raise Failed("none that works here" if given_up() else "not installed")
    problems = []
    for number, nsys in enumerate(tools):
        name = report if number == 0 else f"{report}-{number + 1}"
        try:
            return record_with(nsys, command, name, options, seconds, **settings)
        except Failed as problem:
            if isinstance(problem, (TookTooLong, NoKernels)):
                give_up(nsys)
            problems.append(first_line(problem)[:120])
    raise Failed("; ".join(problems))


def record_with(nsys, command, report, options, seconds, **settings):
    log = f"{report}.log"
    run([nsys, "profile", *OPTIONS, *options, "-o", report, *command], seconds, log=log, **settings)
    if not os.path.exists(f"{report}.nsys-rep"):
        import_recording(report, log)
    exporter = shutil.which("nsys") or nsys
    run([exporter, "export", "--type", "sqlite", "-f", "true", "-o", f"{report}.sqlite", f"{report}.nsys-rep"], log=log)
    if count(f"{report}.sqlite", f"SELECT count(*) FROM {KERNELS}") == 0:
        raise NoKernels("recorded no kernels")
    return f"{report}.sqlite"


def import_recording(report, log):
    """By the importer that was carried here: newer ones than it was made for it may refuse."""
    raw = f"{report}.qdstrm"
    carried = shutil.which("nsys")
    importer = carried and os.path.join(os.path.dirname(carried), "..", "host-linux-x64", "QdstrmImporter")
    if not os.path.exists(raw) or not importer or not os.path.exists(importer):
        raise Failed(f"no report{', a .qdstrm' if os.path.exists(raw) else ''}")
    run([importer, "-i", raw, "-o", f"{report}.nsys-rep"], 60, log=log)


def count(database, query, *values):
    """0 where the table is not there: nsys makes tables when it has rows for them."""
    try:
        with sqlite3.connect(database) as connection:
            return connection.execute(query, values).fetchone()[0]
    except sqlite3.Error:
        return 0


def ranges_named(database, pattern):
    return count(
        database,
        "SELECT count(*) FROM NVTX_EVENTS e LEFT JOIN StringIds s ON s.id = e.textId "
        "WHERE coalesce(e.text, s.value) LIKE ?",
        pattern,
    )


# Of an export, what readers need; the others hold the machine's environment.
KEPT = ("CUPTI_ACTIVITY_KIND_", "NVTX_", "ENUM_", "META_DATA_EXPORT", "StringIds", "TARGET_INFO_GPU", "PROCESSES")


def keep_for_tests(database):
    """FILE.fixture.sqlite: the export's tables that tests may have."""
    kept = f"{os.path.splitext(database)[0]}.fixture.sqlite"
    shutil.copyfile(database, kept)
    with sqlite3.connect(kept) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for name in names:
            if not name.startswith((*KEPT, "sqlite_")):
                connection.execute(f'DROP TABLE "{name}"')
    connection.execute("VACUUM")
    connection.close()
    return kept
