"""What deep-profile is asked to do on a GPU, most valuable first, and what its reports must hold."""

import functools
import glob
import os
import shutil
from dataclasses import dataclass, field
from typing import Callable, Optional, Tuple

from gpu.build import ROOT
from gpu.cases import build_cases
from gpu.driver import make_old_driver
from gpu.expectations import (
    agree,
    all_of,
    answers,
    counted,
    fails_saying,
    labels_without,
    nested,
    notes,
    of,
    output,
    payloads,
    refused_or_measured,
    says,
    with_note,
)
from gpu.report import Skipped
from gpu.run import find_ncu, find_nsys, run

MANUAL = os.path.join(ROOT, "tests", "manual", "gpu")
TORCH_PROGRAM = os.path.join(MANUAL, "torch_regions.py")
EMIT_NVTX_PROGRAM = os.path.join(MANUAL, "torch_emit_nvtx.py")

LOOKS_FOR_TORCH = "import importlib.util as u, sys; sys.exit(u.find_spec('torch') is None)"


@functools.cache
def find_torch():
    """PyTorch for the Python that a command line's `python3` is; None where that has none."""
    if shutil.which("python3") is None:
        return None
    found = run(["python3", "-c", LOOKS_FOR_TORCH], 60, check=False)
    return "torch" if found.returncode == 0 else None


def find_nsys_with_importer():
    """That of Nsight Compute records, and has nothing that makes a report of it."""
    nsys = find_nsys()
    if nsys is None:
        return None
    with open(nsys, "rb") as file:
        is_script = file.read(2) == b"#!"
    importers = os.path.join(os.path.dirname(os.path.realpath(nsys)), "..", "host-*", "QdstrmImporter*")
    return nsys if is_script or glob.glob(importers) else None


def find_root():
    """Somebody who can run a program as another user."""
    return "root" if os.geteuid() == 0 else None


NESTED = ("A", "A::A1", "B")
LAYERS = ("stem", "residual", "block.conv1", "block.conv2", "head")
DURATION = "gpu__time_duration.sum"
CLI = "pipeline.ncu.ncu_cli"


@dataclass(frozen=True)
class Step:
    name: str
    arguments: Tuple[str, ...]
    # What must hold of the run's directory and its output; returns a detail for the table.
    expect: Callable
    seconds: int = 120
    # Steps that must have worked, and what must be there.
    after: Tuple[str, ...] = ("build",)
    needs: Tuple[Callable, ...] = ()
    run_directory: bool = True
    # Of ncu: one that hangs is not tried again.
    mode: Optional[str] = None
    # Done before the command, with the folder of the installation and a log; returns a detail for the table.
    before: Optional[Callable] = None
    # Of the third command of tests/manual/gpu/README.md: what takes long, and what is worth less.
    late: bool = False
    options: dict = field(default_factory=dict)

    @property
    def loads(self):
        """What ncu must be fast enough for: where one metric takes too long, so does a preset of many."""
        if self.mode is None:
            return ()
        few = (self.mode, "few metrics")
        return (few,) if f"{CLI}.set=null" in self.arguments else (few, (self.mode, "a preset"))

    def run(self, installation, seconds):
        for find in self.needs:
            if find() is None:
                raise Skipped(f"no {find.__name__.removeprefix('find_')}")
        if self.before is not None:
            detail = self.before(installation.place, os.path.join(installation.logs, f"{self.name}.txt"))
            if not self.arguments:
                return detail
        directory = installation.directory(self.name)
        if self.run_directory and "user" in self.options:
            os.makedirs(directory, exist_ok=True)
            os.chown(directory, self.options["user"], self.options["group"])
        where = [f"hydra.run.dir={directory}"] if self.run_directory else []
        words = list(self.arguments)
        at = words.index("--") if "--" in words else len(words)
        command = [*words[:at], *where, *words[at:]]
        result = installation.profile(self.name, command, seconds, **self.options)
        return f"{result.seconds:.0f} s; {self.expect(directory, result)}"


def ncu(name, mode, *arguments, expect, minutes=1.5, **settings):
    return Step(
        name,
        (
            "device=cuda:0",
            "pipeline.ncu.enable=true",
            # Before the step's own limit, so that what was measured until then is reported.
            f"pipeline.ncu.timeout_min={minutes}",
            f"{CLI}.replay_mode={mode}",
            f"{CLI}.clock_control=none",
            *arguments,
        ),
        expect,
        mode=mode,
        **{"seconds": 130, "needs": (find_ncu,), **settings},
    )


def case(name, expect, *arguments, check=True, env=None):
    """A case of tests/manual/gpu/gpu_cases.cu under the recorder."""
    return Step(
        f"case-{name}",
        (*arguments, "--", "{place}/gpu_cases", name),
        expect,
        seconds=40,
        after=("build", "cases"),
        options={"check": check, **({"env": env} if env else {})},
    )


ALL_REGIONS = f"{CLI}.nvtx.include='*'"
# The program has the layers in them, too: every level of nesting that is asked for is a run of ncu in the range modes.
NESTED_ALONE = f"{CLI}.nvtx.include=[A*,B]"
ONE_REGION = f"{CLI}.nvtx.include=B"
OURS = "infer.gpu_library=cuda"
NESTED_REGIONS = "workload=nvtx_regions"
A1_IN_A = nested("ncu", "A::A1", "A")
DURATION_ALONE = (f"{CLI}.set=null", f"{CLI}.sections=[]", f"{CLI}.metrics=[{DURATION}]")
# Application-based replay runs the program once per pass of metrics: some fifty times for the default
# preset, few times for this.
FEW_PASSES = (
    f"{CLI}.set=null",
    f"{CLI}.sections=[SpeedOfLight]",
    f"{CLI}.metrics=[{DURATION},sm__throughput.avg.pct_of_peak_sustained_elapsed]",
)
# As a user types it, and as DESIGN has it.
AS_TYPED = (
    "model/dummy_shallow_resnet/arch@model=dummy_shallow_resnet.default",
    "model/dummy_shallow_resnet/infer@infer=dummy_shallow_resnet.default",
    "pipeline.nsys.enable=false",
    ALL_REGIONS,
)
NOBODY = {
    **{"check": False, "user": 65534, "group": 65534, "extra_groups": []},
    **{"env": {"HOME": "/tmp", "USER": "nobody"}},
}
# The driver's other libraries may be found by this variable.
OLD_DRIVER = os.pathsep.join(filter(None, ["{place}/old-driver", os.environ.get("LD_LIBRARY_PATH")]))
# Kernels of some hundred microseconds, at the GPU's own clock and with what its caches hold: as the recorder sees them.
LARGE = ("infer.batch_size=32", "infer.image_size=112", "model.base_channels=64", "infer.warmup=100")
UNDISTURBED = f"{CLI}.cache_control=none"

STEPS = (
    Step("doctor", ("doctor", "--verbose"), output, after=(), run_directory=False, options={"check": False}),
    # Builds the native part on the way, as the first run of a user does.
    Step("build", ("device=cpu", "infer.iterations=2"), of("recorder", LAYERS), seconds=300, after=()),
    Step("recorder", ("device=cuda:0",), of("recorder", LAYERS, kernels=True)),
    Step(
        "recorder-cuda",
        ("device=cuda:0", OURS, NESTED_REGIONS, "pipeline.report.trace=true"),
        all_of(of("recorder", NESTED, kernels=True), nested("recorder", "A::A1", "A")),
    ),
    # The answer of a run with a GPU: its first screen, as data and as text.
    Step(
        "answer",
        ("query", "{runs}/recorder", "summary", "--json"),
        answers,
        after=("recorder",),
        seconds=30,
        run_directory=False,
    ),
    Step(
        "answer-why",
        ("query", "{runs}/recorder", "why", "block.conv1"),
        output,
        after=("recorder",),
        seconds=30,
        run_directory=False,
    ),
    # The four replay modes. A, A::A1, B and the layers in them, with the default preset.
    ncu(
        *("ncu-kernel", "kernel", OURS, NESTED_REGIONS, ALL_REGIONS),
        expect=all_of(of("ncu", (*NESTED, *LAYERS), kernels=True, metrics=(DURATION,)), A1_IN_A),
    ),
    ncu(
        *("ncu-range", "range", OURS, NESTED_REGIONS, ALL_REGIONS),
        expect=all_of(of("ncu", (*NESTED, *LAYERS), metrics=(DURATION,)), A1_IN_A, notes("ncu")),
        seconds=160,
    ),
    Step("cases", (), output, seconds=100, before=build_cases),
    case("graph", counted()),
    case("killed", all_of(fails_saying("SIGKILL", "signal 9"), counted()), check=False),
    case("reset-while-running", counted(may_lose=("running",))),
    case("destroy-while-running", counted(may_lose=("running",))),
    case("exit-while-running", counted(may_lose=("running",))),
    case("fault", all_of(fails_saying("illegal memory access"), counted()), check=False),
    case("out-of-memory", all_of(fails_saying("out of memory"), counted()), check=False),
    case("payload", all_of(counted(), payloads("step", "tokens", 1000), payloads("step", "Message size", 40960))),
    case("steps", counted()),
    case("threads", counted()),
    case("launch-ex", counted()),
    case("memory", counted()),
    # Without CUPTI there are ranges, and a note that says why there are no kernels.
    Step(
        "no-cupti",
        ("device=cuda:0",),
        with_note("names no libcupti", of("recorder", LAYERS), "recorder"),
        options={"env": {"HYDRACONF_CUPTI_PATH": "/nonexistent"}},
    ),
    # A driver that says that it is older than the toolkit.
    Step(
        "old-driver",
        ("device=cuda:0",),
        fails_saying("the NVIDIA driver is too old"),
        before=make_old_driver,
        options={"check": False, "env": {"LD_LIBRARY_PATH": OLD_DRIVER}},
    ),
    Step(
        "recorder-graphs",
        ("device=cuda:0", OURS, NESTED_REGIONS, "infer.cuda_graph=true"),
        all_of(of("recorder", (*NESTED, *LAYERS), kernels=True), nested("recorder", "A::A1", "A")),
    ),
    # As the stages' scripts of package.json run them.
    Step(
        "stage1",
        ("runners=stage1.default", "device=cuda:0"),
        of("recorder", LAYERS[:1], kernels=True),
    ),
    # What ncu wrote here, by our own reader: the same regions.
    Step(
        "import-own-reader",
        ("import", "{runs}/ncu-kernel/ncu/profile.ncu-rep", "--reader", "own", "-o", "{runs}/imported"),
        output,
        after=("ncu-kernel",),
        run_directory=False,
    ),
    Step(
        "doctor-unprivileged",
        ("doctor",),
        output,
        after=(),
        needs=(find_root,),
        run_directory=False,
        options=NOBODY,
    ),
    Step(
        "half",
        ("device=cuda:0", "infer.dtype=bfloat16", "infer.batch_size=64", "infer.image_size=112"),
        of("recorder", LAYERS[:1], kernels=True),
    ),
    Step(
        "emit-nvtx",
        ("labels=pytorch", "--", "python3", EMIT_NVTX_PROGRAM),
        all_of(
            of("recorder", ("train_step", "aten::conv2d"), kernels=True),
            labels_without("recorder", ", seq = "),
            notes("recorder"),
        ),
        seconds=90,
        needs=(find_torch,),
    ),
    ncu(
        *("emit-nvtx-ncu", "kernel", "labels=pytorch", f"{CLI}.nvtx.include=[train_step,'aten::conv2d']"),
        *(*DURATION_ALONE, "--", "python3", EMIT_NVTX_PROGRAM),
        expect=all_of(
            of("ncu", ("train_step", "aten::conv2d"), kernels=True, metrics=(DURATION,)),
            labels_without("ncu", ", seq = "),
        ),
        needs=(find_ncu, find_torch),
        seconds=150,
    ),
    # Times per region of two collectors of one run.
    ncu(
        *("agreement", "kernel", OURS, NESTED_REGIONS, ALL_REGIONS, UNDISTURBED, *LARGE, *DURATION_ALONE),
        expect=agree((*NESTED, *LAYERS), ("recorder", "ncu")),
    ),
    ncu(
        *("ncu-app-range", "app-range", OURS, NESTED_REGIONS, NESTED_ALONE, *FEW_PASSES),
        expect=all_of(of("ncu", NESTED, metrics=(DURATION,)), A1_IN_A),
    ),
    ncu(
        *("ncu-application", "application", OURS, NESTED_REGIONS, ALL_REGIONS, *FEW_PASSES),
        expect=all_of(of("ncu", (*NESTED, *LAYERS), kernels=True, metrics=(DURATION,)), A1_IN_A),
    ),
    # Graphs cannot be captured for certain.
    ncu(
        *("ncu-range-fallback", "range", OURS, NESTED_REGIONS, ONE_REGION, "infer.cuda_graph=true"),
        *FEW_PASSES,
        expect=with_note("app-range", of("ncu", ("B",), metrics=(DURATION,))),
    ),
    # With cuDNN, whose launches range replay may not be able to capture: then app-range takes over.
    ncu(
        *("ncu-range-cudnn", "range", NESTED_REGIONS, ONE_REGION, *FEW_PASSES),
        expect=all_of(of("ncu", ("B",), metrics=(DURATION,)), notes("ncu")),
    ),
    ncu(
        *("ncu-range-memory", "range", f"{CLI}.nvtx.include=[plain,ordered]", *DURATION_ALONE),
        *("--", "{place}/gpu_cases", "memory"),
        expect=all_of(of("ncu", ("plain", "ordered"), metrics=(DURATION,)), notes("ncu")),
        after=("build", "cases"),
        seconds=100,
    ),
    ncu(
        *("ncu-range-launch-ex", "range", f"{CLI}.nvtx.include=launch_ex", *DURATION_ALONE),
        *("--", "{place}/gpu_cases", "launch-ex"),
        expect=all_of(of("ncu", ("launch_ex",), metrics=(DURATION,)), notes("ncu")),
        after=("build", "cases"),
        seconds=100,
    ),
    ncu(
        *("stage2", "kernel", "runners=stage1.no-static", "runner=stage2", "infer.iterations=2"),
        *(f"{CLI}.sections=[SpeedOfLight,Occupancy]", "pipeline.ncu.top_n_kernels=3"),
        expect=of("ncu", LAYERS[:1], metrics=(DURATION,)),
        late=True,
    ),
    ncu(
        "ncu-unprivileged",
        *("kernel", OURS, NESTED_REGIONS, *DURATION_ALONE),
        expect=refused_or_measured("ERR_NVGPUCTRPERM", of("ncu", NESTED, metrics=(DURATION,))),
        needs=(find_ncu, find_root),
        options=NOBODY,
        late=True,
    ),
    # What ncu measured until then is kept.
    ncu(
        *("ncu-killed", "kernel", f"{CLI}.nvtx.include=[finished,open]", *DURATION_ALONE),
        *("--", "{place}/gpu_cases", "killed"),
        expect=all_of(
            fails_saying("SIGKILL", "exit code", "signal 9"),
            of("ncu", ("finished", "open"), kernels=True, metrics=(DURATION,)),
        ),
        after=("build", "cases"),
        options={"check": False},
        seconds=60,
        late=True,
    ),
    Step(
        "torch",
        ("--", "python3", TORCH_PROGRAM),
        of("recorder", ("step", "forward", "backward")),
        seconds=150,
        needs=(find_torch,),
        late=True,
    ),
    ncu(
        *("torch-ncu", "app-range", f"{CLI}.nvtx.include=forward", *DURATION_ALONE),
        *("--", "python3", TORCH_PROGRAM),
        expect=of("ncu", ("forward",), metrics=(DURATION,)),
        needs=(find_ncu, find_torch),
        late=True,
    ),
    # CUPTI's Range Profiler: the default metrics are sums and fit one pass, so that the program runs once more.
    Step(
        "counters",
        ("device=cuda:0", OURS, NESTED_REGIONS, "pipeline.counters.enable=true"),
        all_of(of("counters", NESTED, metrics=(DURATION,)), nested("counters", "A::A1", "A"), notes("counters")),
        late=True,
    ),
    # CUPTI's PM Sampling: whole devices at an interval.
    Step(
        "counters-timeline",
        ("device=cuda:0", OURS, NESTED_REGIONS, "pipeline.counters.enable=true", "pipeline.counters.timeline=true"),
        all_of(of("counters", NESTED), notes("counters")),
        late=True,
    ),
    Step(
        "nsys",
        ("device=cuda:0", OURS, NESTED_REGIONS, "pipeline.nsys.enable=true", *LARGE),
        all_of(of("nsys", NESTED, kernels=True), agree((*NESTED, *LAYERS), ("recorder", "nsys"))),
        needs=(find_nsys_with_importer,),
        late=True,
    ),
    Step(
        "emit-nvtx-nsys",
        ("labels=pytorch", "pipeline.nsys.enable=true", "--", "python3", EMIT_NVTX_PROGRAM),
        all_of(of("nsys", ("train_step", "aten::conv2d"), kernels=True), labels_without("nsys", ", seq = ")),
        needs=(find_nsys_with_importer, find_torch),
        late=True,
    ),
    ncu(
        *("ncu-range-no-fallback", "range", OURS, NESTED_REGIONS, ONE_REGION, "infer.cuda_graph=true"),
        *("pipeline.ncu.fallback=false", *FEW_PASSES),
        expect=output,
        options={"check": False},
        late=True,
    ),
    ncu(
        *("ncu-no-match", "kernel", OURS, NESTED_REGIONS, f"{CLI}.nvtx.include=decode"),
        expect=says("no matching regions"),
        late=True,
    ),
    # The command line of the design as it stands, with all its layers; cuDNN where there is one.
    ncu(
        *("range-as-typed", "range", *AS_TYPED),
        expect=all_of(of("ncu", LAYERS, metrics=(DURATION,)), notes("ncu")),
        minutes=1.1,
        seconds=290,
        late=True,
    ),
    ncu(
        *("ncu-hopper", "kernel", NESTED_REGIONS, "profiling/ncu@pipeline.ncu=ncu.hopper", ALL_REGIONS),
        expect=of("ncu", NESTED, kernels=True),
        after=("build", "ncu-kernel"),
        late=True,
    ),
    # The default preset in the modes that run the program once for each of its passes.
    ncu(
        *("ncu-application-preset", "application", OURS, NESTED_REGIONS, NESTED_ALONE),
        expect=of("ncu", NESTED, kernels=True, metrics=(DURATION,)),
        minutes=2.5,
        seconds=200,
        late=True,
    ),
    ncu(
        *("ncu-app-range-preset", "app-range", OURS, NESTED_REGIONS, ONE_REGION),
        expect=of("ncu", ("B",), metrics=(DURATION,)),
        minutes=2.5,
        seconds=200,
        late=True,
    ),
)
