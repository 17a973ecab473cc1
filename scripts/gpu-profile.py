#!/usr/bin/env python3
"""Runs deep-profile itself on a GPU machine without Node.js, from what scripts/gpu-carry.mjs packed.

    python3 scripts/gpu-profile.py [--out DIR] [--minutes N] [--carried FILE] [--place DIR]
                                   [--only STEP,...] [--part first|late] [--list]

Unpacks .carry/hydraconf.tar.gz (Node.js, the package, its modules), lets the package build its native
part, and profiles in every way there is: the recorder, ncu in its four replay modes and with what range
replay refuses, nsys, both stages, PyTorch. Looks into the reports of each run. Every step stands alone:
one that fails, hangs or finds no time left costs itself only. Prints a table and writes it with the
run directories and transcripts to DIR (default: $OUT, else tmp/gpu-profile), at any moment at most
8 files below 16 MiB where DIR is $OUT or --pack is given. Exit code 1 when a step failed.

--place unpacks into DIR and leaves it there: another command on the same machine finds it built. --part takes the
steps of the second or of the third command of tests/manual/gpu/README.md. --one-archive: three files in all.

GPU clocks are left alone: ncu gets --clock-control none.
"""

import argparse
import os
import shutil
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "scripts"))

from gpu.carried import unpack_once  # noqa: E402
from gpu.cupti import name_cupti_where_missed  # noqa: E402
from gpu.deep_profile import Installation  # noqa: E402
from gpu.outbox import Outbox, is_returned  # noqa: E402
from gpu.profile_steps import STEPS  # noqa: E402
from gpu.report import Failed, Report, Skipped, finish_when_stopped  # noqa: E402
from gpu.run import TookTooLong, end_all_at, end_all_now  # noqa: E402

# Steps that others need, in whichever command they are.
MAKERS = ("build", "cases")

# In what deep-profile says where it ended a run of ncu.
TIME_LIMIT = "(pipeline.ncu.timeout_min)"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    default_out = os.environ.get("OUT") or os.path.join(ROOT, "tmp", "gpu-profile")
    parser.add_argument("--out", default=default_out)
    parser.add_argument("--minutes", type=float, default=8)
    parser.add_argument("--carried", default=os.path.join(ROOT, ".carry", "hydraconf.tar.gz"))
    parser.add_argument("--installed", help="a folder where it is unpacked already")
    parser.add_argument("--place", help="a folder to unpack it into, which stays")
    parser.add_argument("--pack", action="store_true")
    parser.add_argument("--one-archive", action="store_true")
    parser.add_argument("--only", default=None)
    parser.add_argument("--part", choices=("first", "late"))
    parser.add_argument("--list", action="store_true", help="print the steps and the commands")
    options = parser.parse_args()
    if options.list:
        for step in STEPS:
            print(f"{step.name:22} {'late ' if step.late else '     '} {' '.join(step.arguments)}")
        return 0
    names = [step.name for step in STEPS]
    wanted = options.only.split(",") if options.only else steps_of(options.part)
    unknown = [name for name in wanted if name not in names]
    if unknown:
        parser.error(f"unknown step {unknown[0]}; there are {', '.join(names)}")

    outbox = Outbox(options.out, options.pack or is_returned(options.out), options.one_archive)
    report = Report(outbox, options.minutes * 60)
    end_all_at(report.deadline)
    finish_when_stopped(report, end_all_now)
    place = options.installed or options.place or tempfile.mkdtemp(prefix="hydraconf-")
    os.makedirs(place, exist_ok=True)
    # One step runs as another user.
    for folder in {place, outbox.work}:
        os.chmod(folder, 0o755)
    try:
        profile_all(report, options, place, wanted)
    finally:
        code = report.finish()
        if place not in (options.installed, options.place):
            shutil.rmtree(place, ignore_errors=True)
    return code


def steps_of(part):
    """The late ones stand on what the others make."""
    if part is None:
        return [step.name for step in STEPS]
    return [step.name for step in STEPS if step.late == (part == "late") or (part == "late" and step.name in MAKERS)]


def profile_all(report, options, place, wanted):
    if options.installed is None:
        if not report.check("unpack", options.carried, lambda: unpack_once(options.carried, place)):
            return
    installation = Installation(place, report.outbox.work)
    done = {}
    hung = set()
    for step in STEPS:
        if step.name not in wanted:
            continue

        def action(step=step):
            for other in step.after:
                if not done.get(other, other not in wanted):
                    raise Skipped(f"{other} did not work")
            for mode, what in step.loads:
                if (mode, what) in hung:
                    raise Skipped(f"{mode} replay of {what} took too long before")
            try:
                return step.run(installation, min(step.seconds, report.left()))
            except Failed as problem:
                if step.mode and (isinstance(problem, TookTooLong) or TIME_LIMIT in str(problem)):
                    hung.add(step.loads[-1])
                named = name_cupti_where_missed(str(problem))
                raise Failed(f"{problem}; from here on with {named}") if named else problem

        done[step.name] = report.check("profile", step.name, action, least=5)


if __name__ == "__main__":
    sys.exit(main())
