#!/usr/bin/env python3
"""Checks the ShallowResNet's GPU backend and the recorder on a machine with a GPU. Needs no Node.js.

    python3 scripts/gpu-check.py [--out DIR] [--minutes N] [--program FILE] [--place DIR] [--nsys FILE]
                               [--only STEP,...] [--skip STEP,...]

Builds shallow_resnet with each library that is found (cuda: kernels of our own; cudnn), runs it with
all data types, statistics and launch modes against PyTorch's golden data (tests/fixtures/golden),
against the CPU backend on odd sizes and against the PyTorch of this machine, compares the recorder's
kernel times with those of nsys and ncu (gpu-check-recorder.py), records a training step of PyTorch and
replays of CUDA graphs with nsys, measures what the recorder costs beside nsys, records ncu's reports for
tests to keep, asks ncu what it refuses, measures speed, and looks for memory errors (compute-sanitizer).

Steps, the most valuable first, as time may not suffice for all: machine, build, golden, odd, failures, recorder,
torch, permission, ncu, nsys, overhead, fixtures, sanitizer, speed, refused. A step that fails, hangs or finds no
time left costs itself only; a program or an ncu that cannot do the least is not tried again. Prints a table and writes it with all output to DIR (default: $OUT,
else tmp/gpu-check) after every check; where DIR is $OUT or below it, or with --pack, as at most 8 files below
16 MiB at any moment (--one-archive: 3 files). Exit code 1 when a check failed; what cannot be checked here is listed as
skipped, with the reason.

--program takes an executable that is built already, and skips building. --place builds in DIR and leaves that there:
another command on the same machine does not build again. --nsys takes what gpu-carry.mjs --nsys
packed (default: .carry-nsys/nsys.tar.gz), which is used before an nsys of the machine.
"""

import argparse
import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from gpu import correctness, nsight, nsys_checks, speed  # noqa: E402
from gpu.build import ROOT, build  # noqa: E402
from gpu.cases import build_cases, cases_in, check_costs  # noqa: E402
from gpu.carried import use_nsys  # noqa: E402
from gpu.machine import describe_machine  # noqa: E402
from gpu.nsys import GIVEN_UP  # noqa: E402
from gpu.outbox import Outbox, is_returned  # noqa: E402
from gpu.program import SPEED, Program, sizes_text  # noqa: E402
from gpu.recorder import build_recorder, check_recorder  # noqa: E402
from gpu.report import Report, finish_when_stopped  # noqa: E402
from gpu.run import end_all_at, end_all_now  # noqa: E402

STEPS = (
    *("machine", "build", "golden", "odd", "failures", "recorder", "torch", "permission", "ncu", "nsys"),
    *("overhead", "fixtures", "sanitizer", "speed", "refused"),
)
# What they need beside the program.
WITH_RECORDER = {"recorder", "torch", "overhead"}
WITH_CASES = {"nsys", "overhead", "ncu"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", default=os.environ.get("OUT") or os.path.join(ROOT, "tmp", "gpu-check"))
    parser.add_argument("--minutes", type=float, default=8)
    parser.add_argument("--pack", action="store_true")
    parser.add_argument("--one-archive", action="store_true")
    parser.add_argument("--program")
    parser.add_argument("--place")
    parser.add_argument("--nsys", default=os.path.join(ROOT, ".carry-nsys", "nsys.tar.gz"))
    parser.add_argument("--only", default=",".join(STEPS))
    parser.add_argument("--skip", default="")
    options = parser.parse_args()
    named = [step for step in [*options.only.split(","), *options.skip.split(",")] if step]
    unknown = [step for step in named if step not in STEPS]
    if unknown:
        parser.error(f"unknown step {unknown[0]}; there are {', '.join(STEPS)}")
    wanted = [step for step in options.only.split(",") if step not in options.skip.split(",")]

    outbox = Outbox(options.out, options.pack or is_returned(options.out), options.one_archive)
    report = Report(outbox, options.minutes * 60)
    end_all_at(report.deadline)
    finish_when_stopped(report, end_all_now)
    scratch = options.place or tempfile.mkdtemp(prefix="gpu-check-build-")
    os.makedirs(scratch, exist_ok=True)
    # Another user runs the program in one of the steps.
    os.chmod(scratch, 0o755)
    os.environ[GIVEN_UP] = os.path.join(scratch, f"nsys-given-up-{os.getpid()}")
    try:
        check_all(report, options, scratch, wanted)
    finally:
        code = report.finish()
        if scratch != options.place:
            shutil.rmtree(scratch, ignore_errors=True)
    return code


def check_all(report, options, scratch, wanted):
    out = report.outbox.work
    programs, library = prepare(report, options, scratch, wanted, out)
    for step in STEPS:
        if step not in wanted:
            continue
        if step in TOGETHER:
            report.check_together([check for program in programs for check in TOGETHER[step](program)])
            continue
        for program in programs:
            run_step(step, program, report, library, out)
        if step in WITH_CASES:
            run_cases(step, report, scratch, library, out)


def prepare(report, options, scratch, wanted, out):
    """Describes the machine and builds what is asked for, all at once: nothing is measured yet."""
    names = ["cuda"] if options.program else ["cuda", "cudnn"]
    programs = {}

    def program(name):
        folder = os.path.join(scratch, name)
        os.makedirs(folder, exist_ok=True)
        log = os.path.join(out, f"{name}-runs.log")
        if options.program:
            path, detail = os.path.abspath(options.program), "built before"
        else:
            path, detail = build(name, folder, report_log(out))
        programs[name] = Program(path, name, folder, log)
        return detail

    if {"machine", "recorder", "nsys", "overhead"} & set(wanted):
        report.check("machine", "nsys as carried", lambda: use_nsys(options.nsys, scratch))
    library = os.path.join(scratch, "region_recorder.so")
    checks = [("build", name, lambda name=name: program(name)) for name in names]
    if WITH_RECORDER & set(wanted):
        checks.append(("build", "recorder", lambda: build_recorder(library, report_log(out))))
    if WITH_CASES & set(wanted):
        checks.append(("build", "cases", lambda: build_cases(scratch, report_log(out))))
    if "machine" in wanted:
        checks.append(("machine", "what is here", lambda: describe_machine(out)))
    report.check_together(checks)
    built = [programs[name] for name in names if name in programs]

    def runs(program):
        what = f"{program.library} runs"
        return report.check("build", what, lambda: correctness.check_runs(program))

    return [program for program in built if runs(program)], library


def report_log(out):
    return os.path.join(out, "build.log")


# Checks that measure no time run several at once, those of all libraries.
TOGETHER = {
    "golden": correctness.golden_checks,
    "odd": correctness.odd_checks,
    "failures": correctness.failure_checks,
    "sanitizer": speed.sanitizer_checks,
}
ALONE = {"speed": speed.speed_checks}
WITH_FILES = {
    "fixtures": nsight.fixture_checks,
    "refused": nsight.refusal_checks,
    "ncu": nsight.replay_checks,
}
# Passes of few microseconds per launch, where the recorder costs most, and of large kernels.
OVERHEAD = (SPEED[0], SPEED[1])


def run_step(step, program, report, library, out):
    if step in ALONE:
        for check in ALONE[step](program):
            report.check(*check)
    elif step == "torch":
        for check in correctness.torch_checks(program, library, out):
            report.check(*check)
    elif step in WITH_FILES:
        for check in WITH_FILES[step](program, out):
            report.check(*check)
    elif step == "recorder":
        what = f"{program.library} beside nsys and ncu"
        report.check("recorder", what, lambda: check_recorder(program, library, out, report.left()))
    elif step == "overhead" and program.library == "cuda":
        for sizes in OVERHEAD:
            what = f"{program.library} {sizes_text(sizes)}"
            report.check("overhead", what, lambda s=sizes: speed.check_overhead(program, library, s))
    elif step == "permission" and program.library == "cuda":
        report.check("permission", "ncu, one kernel", lambda: nsight.check_ncu(program, out))
        report.check("permission", "ncu as nobody", lambda: nsight.check_permission(program, out))


def run_cases(step, report, folder, library, out):
    if step == "overhead":
        report.check("overhead", "launches and ranges", lambda: check_costs(folder, library))
        return
    if step == "ncu":
        report.check("ncu", "range of steps", lambda: nsight.check_steps(cases_in(folder), out))
        return
    for check in nsys_checks.nsys_checks(folder, out):
        report.check(*check)


if __name__ == "__main__":
    sys.exit(main())
