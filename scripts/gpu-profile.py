#!/usr/bin/env python3
"""Runs deep-profile itself on a GPU machine without Node.js, from what scripts/gpu-carry.mjs packed.

    python3 scripts/gpu-profile.py [--out DIR] [--minutes N] [--carried FILE] [--only STEP,...] [--list]

Unpacks .carry/hydraconf.tar.gz (Node.js, the package, its modules), lets the package build its native
part, and profiles in every way there is: the recorder, ncu in its four replay modes and with what range
replay refuses, nsys, both stages, PyTorch. Looks into the reports of each run. Every step stands alone:
one that fails, hangs or finds no time left costs itself only. Prints a table and writes it with the
run directories and transcripts to DIR (default: $OUT, else tmp/gpu-profile), at any moment at most
8 files below 16 MiB where DIR is $OUT or --pack is given. Exit code 1 when a step failed.

GPU clocks are left alone: ncu gets --clock-control none.
"""

import argparse
import os
import shutil
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "scripts"))

from gpu.carried import unpack  # noqa: E402
from gpu.deep_profile import Installation  # noqa: E402
from gpu.outbox import Outbox  # noqa: E402
from gpu.profile_steps import STEPS  # noqa: E402
from gpu.report import Report, Skipped, finish_when_stopped  # noqa: E402
from gpu.run import end_all_at, end_all_now  # noqa: E402

# A step that fails after this long has met its time limit (profile_steps.py), or nearly.
HUNG_SECONDS = 80


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    default_out = os.environ.get("OUT") or os.path.join(ROOT, "tmp", "gpu-profile")
    parser.add_argument("--out", default=default_out)
    parser.add_argument("--minutes", type=float, default=8)
    parser.add_argument("--carried", default=os.path.join(ROOT, ".carry", "hydraconf.tar.gz"))
    parser.add_argument("--installed", help="a folder where it is unpacked already")
    parser.add_argument("--pack", action="store_true")
    parser.add_argument("--only", default=None)
    parser.add_argument("--list", action="store_true", help="print the steps and the commands")
    options = parser.parse_args()
    if options.list:
        for step in STEPS:
            print(f"{step.name:20} {' '.join(step.arguments)}")
        return 0
    names = [step.name for step in STEPS]
    wanted = options.only.split(",") if options.only else names
    unknown = [name for name in wanted if name not in names]
    if unknown:
        parser.error(f"unknown step {unknown[0]}; there are {', '.join(names)}")

    outbox = Outbox(options.out, options.pack or options.out == os.environ.get("OUT"))
    report = Report(outbox, options.minutes * 60)
    end_all_at(report.deadline)
    finish_when_stopped(report, end_all_now)
    place = options.installed or tempfile.mkdtemp(prefix="hydraconf-")
    # One step runs as another user.
    for folder in {place, outbox.work}:
        os.chmod(folder, 0o755)
    try:
        profile_all(report, options, place, wanted)
    finally:
        code = report.finish()
        if place != options.installed:
            shutil.rmtree(place, ignore_errors=True)
    return code


def profile_all(report, options, place, wanted):
    if options.installed is None:
        if not report.check("unpack", options.carried, lambda: unpack(options.carried, place)):
            return
    installation = Installation(place, report.outbox.work)
    done = {}
    hung = set()
    for step in STEPS:
        if step.name not in wanted:
            continue

        def action(step=step):
            if step.after is not None and not done.get(step.after, step.after not in wanted):
                raise Skipped(f"{step.after} did not work")
            if step.mode in hung:
                raise Skipped(f"{step.mode} replay took too long before")
            return step.run(installation, min(step.seconds, report.left()))

        began = time.monotonic()
        done[step.name] = report.check("profile", step.name, action, least=5)
        if step.mode and not done[step.name] and time.monotonic() - began > HUNG_SECONDS:
            hung.add(step.mode)


if __name__ == "__main__":
    sys.exit(main())
