#!/usr/bin/env python3
"""Checks on a machine with a GPU what only a GPU can show. Needs no Node.js where gpu-carry.mjs packed one.

    python3 scripts/gpu-check.py [--minutes N] [--only STEP,...] [--skip STEP,...] [--seen FILE] [--list]
                                 [--place DIR] [--out DIR] [--pack] [--one-archive]
                                 [--carried FILE | --installed DIR] [--nsys FILE] [--program FILE] [--cases FILE]
    python3 scripts/gpu-check.py --record DIR

Steps come in the order of their value (--list): the program's results beside PyTorch's golden data, which take seconds;
deep-profile in ncu's four replay modes; the recorder's kernel times beside those of ncu and nsys; what range replay
cannot capture; PyTorch and other profilers; what fails and is killed; what recording costs; how fast the program is beside PyTorch; counters, and reports for tests to keep.
A step that fails, hangs or finds no time left costs itself only; a program, an ncu or a replay mode that cannot do the
least is not tried again. GPU clocks are left alone.

Prints a table and writes it with all output to DIR (default: $OUT, else tmp/gpu-check) after every check; where DIR is
$OUT or below it, or with --pack, as at most 8 files below 16 MiB at any moment (--one-archive: 3 files). Exit code 1
when a check failed; what cannot be checked here is listed as skipped, with the reason.

Left out is what was seen to be ok before: by the results that --record collected (--seen, default
tests/manual/gpu/results.json), and by an earlier command on the same machine in the same --place, where programs that
were compiled stay, too. So the same command goes on with what is left. --only makes steps whatever was seen.

--record takes the folder that a command left in --out, adds it to tests/manual/gpu/results.json and writes results.md
beside that.

deep-profile is what gpu-carry.mjs packed (--carried, or .carry/hydraconf.tar.xz where it is), a folder where that is
unpacked (--installed), or else this checkout, where it is built and Node.js is there. --nsys takes what gpu-carry.mjs --nsys packed
(default .carry-nsys/nsys.tar.xz), which is used before an nsys of the machine. --program and --cases take executables
of shallow_resnet and gpu_cases.cu that are compiled already.
"""

import argparse
import functools
import os
import shutil
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "scripts"))

from gpu.bench import Bench  # noqa: E402
from gpu.cupti import name_cupti_where_missed  # noqa: E402
from gpu.machine import gpu, hold_open  # noqa: E402
from gpu.nsys import GIVEN_UP  # noqa: E402
from gpu.outbox import Outbox, is_returned  # noqa: E402
from gpu.report import Failed, Report, Skipped, finish_when_stopped  # noqa: E402
from gpu.results import RECORDED, read_rows, record, seen_in  # noqa: E402
from gpu.run import TookTooLong, end_all_at, end_all_now  # noqa: E402
from gpu.steps import PLAN, STEPS, Check  # noqa: E402

NAMES = [step.name for step in STEPS]
# Of deep-profile, made while programs compile.
FIRST = ("doctor", "build")
# In what deep-profile says where it ended a run of ncu.
TIME_LIMIT = "(pipeline.ncu.timeout_min)"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", default=os.environ.get("OUT") or os.path.join(ROOT, "tmp", "gpu-check"))
    parser.add_argument("--minutes", type=float, default=8)
    parser.add_argument("--pack", action="store_true")
    parser.add_argument("--one-archive", action="store_true")
    parser.add_argument("--place")
    parser.add_argument("--only", type=steps_named)
    parser.add_argument("--skip", type=steps_named, default=())
    parser.add_argument("--seen", default=RECORDED)
    parser.add_argument("--carried")
    parser.add_argument("--installed")
    parser.add_argument("--nsys", default=os.path.join(ROOT, ".carry-nsys", "nsys.tar.xz"))
    parser.add_argument("--program")
    parser.add_argument("--cases")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--record", metavar="DIR")
    options = parser.parse_args()
    if options.list:
        print_plan()
        return 0
    if options.record:
        print(record(options.record))
        return 0

    scratch = options.place or tempfile.mkdtemp(prefix="gpu-check-build-")
    os.makedirs(scratch, exist_ok=True)
    earlier = read_rows(os.path.join(scratch, "results.json"))
    seen = set() if options.only else seen_in(options.seen) | seen_in(os.path.join(scratch, "results.json"))
    wanted = [name for name in options.only or NAMES if name not in options.skip and name not in seen]
    if not wanted:
        print(f"nothing is left: every step was ok before ({options.seen}); --only NAME makes one again")
        return 0
    hold_open()
    outbox = Outbox(options.out, options.pack or is_returned(options.out), options.one_archive)
    report = Report(outbox, options.minutes * 60, gpu(), earlier, options.place)
    end_all_at(report.deadline)
    finish_when_stopped(report, end_all_now)
    # Another user runs the program in one of the steps.
    for folder in {scratch, outbox.work}:
        os.chmod(folder, 0o755)
    os.environ[GIVEN_UP] = os.path.join(scratch, f"nsys-given-up-{os.getpid()}")
    try:
        check_all(Bench(report, options, scratch), with_needed(wanted, options.skip))
    finally:
        code = report.finish()
        if scratch != options.place:
            shutil.rmtree(scratch, ignore_errors=True)
    return code


def steps_named(text):
    names = [name for name in text.split(",") if name]
    for name in names:
        if name not in NAMES:
            raise argparse.ArgumentTypeError(f"unknown step {name}; there are {', '.join(NAMES)}")
    return names


def with_needed(wanted, skipped):
    """Those whose results others are made from, too, unless they are said to be there."""
    needed = set(wanted)
    for step in reversed(STEPS):
        if step.name in needed:
            needed |= {name for name in step.after if name not in skipped}
    return [step for step in STEPS if step.name in needed]


def print_plan():
    for question, steps in PLAN.items():
        print(f"\n{question}")
        for step in steps:
            words = "(no deep-profile)" if isinstance(step, Check) else " ".join(step.arguments)
            print(f"  {step.name:26} {words}")


def check_all(bench, steps):
    uses = {use for step in steps for use in step.uses}
    first = [step for step in steps if step.name in FIRST]
    describe = [
        (step.name, what, action) for step in steps if step.name == "machine" for what, action in step.rows(bench)
    ]
    profile_first = functools.partial(profile_all, bench, first) if first else None
    bench.prepare(uses, profile_first, describe)
    for step in steps:
        if step in first or step.name == "machine":
            continue
        if not isinstance(step, Check):
            profile(bench, step)
        elif step.together:
            bench.report.check_together([(step.name, *row) for row in step.rows(bench)])
        else:
            for row in step.rows(bench):
                bench.report.check(step.name, *row)


def profile_all(bench, steps):
    for step in steps:
        profile(bench, step)


def profile(bench, step):
    """Not where a step that it needs did not work, nor ncu where it was too slow for less."""

    def action():
        for other in step.after:
            if not bench.done.get(other, True):
                raise Skipped(f"{other} did not work")
        for mode, what in step.loads:
            if (mode, what) in bench.hung:
                raise Skipped(f"{mode} replay of {what} took too long before")
        try:
            return step.run(bench, min(step.seconds, bench.report.left()))
        except Failed as problem:
            if step.mode and (isinstance(problem, TookTooLong) or TIME_LIMIT in str(problem)):
                bench.hung.add(step.loads[-1])
            named = name_cupti_where_missed(str(problem))
            raise Failed(f"{problem}; from here on with {named}") if named else problem

    bench.done[step.name] = bench.report.check(step.name, "deep-profile", action, least=5)


if __name__ == "__main__":
    sys.exit(main())
