"""What deep-profile is asked to do on a GPU, most valuable first, and what its reports must hold."""

import functools
import os
import shutil
from dataclasses import dataclass, field
from typing import Callable, Optional, Tuple

from gpu.deep_profile import read_report, require_regions
from gpu.report import Failed, Skipped
from gpu.run import find_ncu, find_nsys, run

TORCH_PROGRAM = os.path.join(
    os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))),
    *("tests", "manual", "gpu", "torch_regions.py"),
)


LOOKS_FOR_TORCH = "import importlib.util as u, sys; sys.exit(u.find_spec('torch') is None)"


@functools.cache
def find_torch():
    """PyTorch for the Python that a command line's `python3` is; None where that has none."""
    if shutil.which("python3") is None:
        return None
    found = run(["python3", "-c", LOOKS_FOR_TORCH], 60, check=False)
    return "torch" if found.returncode == 0 else None


NESTED = ("A", "A::A1", "B")
LAYERS = ("stem", "residual", "block.conv1", "block.conv2", "head")
DURATION = "gpu__time_duration.sum"


@dataclass(frozen=True)
class Step:
    name: str
    arguments: Tuple[str, ...]
    # What must hold of the run's directory and its output; returns a detail for the table.
    expect: Callable
    seconds: int = 120
    # A step that must have worked, and what must be there.
    after: Optional[str] = "build"
    needs: Tuple[Callable, ...] = ()
    run_directory: bool = True
    # Of ncu: one that hangs is not tried again.
    mode: Optional[str] = None
    options: dict = field(default_factory=dict)

    def run(self, installation, seconds):
        for find in self.needs:
            if find() is None:
                raise Skipped(f"no {find.__name__.removeprefix('find_')}")
        directory = installation.directory(self.name)
        where = [f"hydra.run.dir={directory}"] if self.run_directory else []
        words = list(self.arguments)
        at = words.index("--") if "--" in words else len(words)
        command = [*words[:at], *where, *words[at:]]
        result = installation.profile(self.name, command, seconds, **self.options)
        return f"{result.seconds:.0f} s; {self.expect(directory, result)}"


def of(collector, names, kernels=False, metrics=()):
    """Expects regions in the report of a collector."""
    return lambda directory, _: require_regions(
        read_report(os.path.join(directory, collector)), names, kernels, metrics
    )


def with_note(words, expect):
    """Expects a note of ncu's report beside all else."""

    def check(directory, result):
        detail = expect(directory, result)
        notes = read_report(os.path.join(directory, "ncu"))["notes"]
        if not any(words in note for note in notes):
            raise Failed(f"no note says '{words}': {notes}")
        return detail

    return check


def says(words):
    def check(_, result):
        if words not in result.stdout + result.stderr:
            raise Failed(f"nothing says '{words}': {(result.stdout + result.stderr)[-800:]}")
        return words

    return check


def all_of(*expectations):
    return lambda directory, result: "; ".join(each(directory, result) for each in expectations)


def output(_, result):
    """Whatever it says; the transcript is what is wanted."""
    lines = [line for line in result.stdout.strip().split("\n") if line]
    return lines[-1] if lines else "no output"


def ncu(name, mode, *arguments, expect, **settings):
    cli = "pipeline.ncu.ncu_cli"
    return Step(
        name,
        (
            "device=cuda:0",
            "pipeline.ncu.enable=true",
            # Before the step's own limit, so that what was measured until then is reported.
            "pipeline.ncu.timeout_min=1.5",
            f"{cli}.replay_mode={mode}",
            f"{cli}.clock_control=none",
            *arguments,
        ),
        expect,
        mode=mode,
        **{"seconds": 130, "needs": (find_ncu,), **settings},
    )


CLI = "pipeline.ncu.ncu_cli"
ALL_REGIONS = f"{CLI}.nvtx.include='*'"
# The program has the layers in them, too: every level of nesting that is asked for is a run of ncu in the range modes.
NESTED_ALONE = f"{CLI}.nvtx.include=[A*,B]"
OURS = "infer.gpu_library=cuda"
NESTED_REGIONS = "workload=nvtx_regions"
# Application-based replay runs the program once per pass of metrics: some fifty times for the default
# preset, few times for this.
FEW_PASSES = (
    f"{CLI}.set=null",
    f"{CLI}.sections=[SpeedOfLight]",
    f"{CLI}.metrics=[{DURATION},sm__throughput.avg.pct_of_peak_sustained_elapsed]",
)

STEPS = (
    Step("doctor", ("doctor", "--verbose"), output, after=None, run_directory=False, options={"check": False}),
    # Builds the native part on the way, as the first run of a user does.
    Step("build", ("device=cpu", "infer.iterations=2"), of("recorder", LAYERS), seconds=300, after=None),
    Step("recorder", ("device=cuda:0",), of("recorder", LAYERS, kernels=True)),
    Step(
        "recorder-cuda",
        ("device=cuda:0", OURS, NESTED_REGIONS, "pipeline.report.trace=true"),
        of("recorder", NESTED, kernels=True),
    ),
    Step(
        "torch",
        ("--", "python3", TORCH_PROGRAM),
        of("recorder", ("step", "forward", "backward")),
        seconds=150,
        needs=(find_torch,),
    ),
    # As the stages' scripts of package.json run them.
    Step(
        "stage1",
        ("runners=stage1.default", "device=cuda:0"),
        of("recorder", LAYERS[:1], kernels=True),
    ),
    # The four replay modes; those of one run with the default preset and all that ncu may refuse of it.
    ncu(
        *("ncu-kernel", "kernel", OURS, NESTED_REGIONS, ALL_REGIONS),
        expect=of("ncu", NESTED, kernels=True, metrics=(DURATION,)),
    ),
    ncu(
        *("ncu-range", "range", OURS, NESTED_REGIONS, NESTED_ALONE),
        expect=of("ncu", NESTED, metrics=(DURATION,)),
    ),
    # As a user types it: the default workload and preset, cuDNN where there is one.
    ncu(
        *("range-as-typed", "range", "model/dummy_shallow_resnet/arch@model=dummy_shallow_resnet.default"),
        *("model/dummy_shallow_resnet/infer@infer=dummy_shallow_resnet.default", "pipeline.nsys.enable=false"),
        ALL_REGIONS,
        expect=of("ncu", LAYERS[:1], metrics=(DURATION,)),
    ),
    ncu(
        *("ncu-app-range", "app-range", OURS, NESTED_REGIONS, NESTED_ALONE, *FEW_PASSES),
        expect=of("ncu", NESTED, metrics=(DURATION,)),
    ),
    # Graphs cannot be captured for certain.
    ncu(
        *("ncu-range-fallback", "range", OURS, NESTED_REGIONS, NESTED_ALONE, "infer.cuda_graph=true"),
        *FEW_PASSES,
        expect=with_note("app-range", of("ncu", NESTED, metrics=(DURATION,))),
    ),
    # What ncu wrote here, by our own reader: the same regions.
    Step(
        "import-own-reader",
        ("import", "{runs}/ncu-kernel/ncu/profile.ncu-rep", "--reader", "own", "-o", "{runs}/imported"),
        output,
        after="ncu-kernel",
        run_directory=False,
    ),
    ncu(
        *("ncu-application", "application", OURS, NESTED_REGIONS, ALL_REGIONS, *FEW_PASSES),
        expect=of("ncu", NESTED, kernels=True, metrics=(DURATION,)),
    ),
    # With cuDNN, whose launches range replay may not be able to capture: then app-range takes over.
    ncu(
        *("ncu-range-cudnn", "range", NESTED_REGIONS, NESTED_ALONE, *FEW_PASSES),
        expect=of("ncu", NESTED, metrics=(DURATION,)),
    ),
    Step(
        "half",
        ("device=cuda:0", "infer.dtype=bfloat16", "infer.batch_size=64", "infer.image_size=112"),
        of("recorder", LAYERS[:1], kernels=True),
    ),
    Step(
        "doctor-unprivileged",
        ("doctor",),
        output,
        after=None,
        run_directory=False,
        options={
            **{"check": False, "user": 65534, "group": 65534, "extra_groups": []},
            **{"env": {"HOME": "/tmp", "USER": "nobody"}},
        },
    ),
    ncu(
        *("stage2", "kernel", "runners=stage1.no-static", "runner=stage2", "infer.iterations=2"),
        *(f"{CLI}.sections=[SpeedOfLight,Occupancy]", "pipeline.ncu.top_n_kernels=3"),
        expect=of("ncu", LAYERS[:1], metrics=(DURATION,)),
    ),
    ncu(
        *("torch-ncu", "app-range", f"{CLI}.nvtx.include=forward", f"{CLI}.set=null", f"{CLI}.sections=[]"),
        *(f"{CLI}.metrics=[{DURATION}]", "--", "python3", TORCH_PROGRAM),
        expect=of("ncu", ("forward",), metrics=(DURATION,)),
        needs=(find_ncu, find_torch),
    ),
    Step(
        "nsys",
        ("device=cuda:0", OURS, NESTED_REGIONS, "pipeline.nsys.enable=true"),
        of("nsys", NESTED, kernels=True),
        needs=(find_nsys,),
    ),
    ncu(
        *("ncu-range-no-fallback", "range", OURS, NESTED_REGIONS, NESTED_ALONE, "infer.cuda_graph=true"),
        *("pipeline.ncu.fallback=false", *FEW_PASSES),
        expect=output,
        options={"check": False},
    ),
    ncu(
        *("ncu-no-match", "kernel", OURS, NESTED_REGIONS, f"{CLI}.nvtx.include=decode"),
        expect=says("no matching regions"),
    ),
    ncu(
        *("ncu-hopper", "kernel", NESTED_REGIONS, "profiling/ncu@pipeline.ncu=ncu.hopper", ALL_REGIONS),
        expect=of("ncu", NESTED, kernels=True),
        after="ncu-kernel",
    ),
)
