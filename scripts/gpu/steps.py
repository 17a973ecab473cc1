"""All that is checked on a GPU, in the order of its value: a visit that is cut short has shown the most.

A Step runs deep-profile and looks into its reports; a Check needs neither it nor Node.js.
"""

import contextlib
import glob
import os
import tempfile
from dataclasses import dataclass, field
from typing import Callable, Optional, Tuple

from gpu import correctness, nsight, nsys_checks, recorder, speed
from gpu.cases import BESIDE_PROFILERS, EMIT_NVTX_PROGRAM, TORCH_PROGRAM, check_costs
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
    own_profile,
    payloads,
    ranges_without_kernels,
    refused_or_measured,
    says,
    with_note,
    without_note,
)
from gpu.machine import describe_machine
from gpu.report import Skipped
from gpu.run import find_ncu, find_nsys, find_torch


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
class Check:
    """Without deep-profile. `rows` makes (what, action) of each check, for the table, from a Bench."""

    name: str
    rows: Callable
    # What must be compiled for it (bench.py).
    uses: Tuple[str, ...] = ("programs",)
    # Whether its checks may run side by side: those that measure no time.
    together: bool = False
    # A Step has such.
    after: Tuple[str, ...] = ()


@dataclass(frozen=True)
class Step:
    """A run of deep-profile."""

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
    # Done before the command, with the folder of the installation and a log.
    before: Optional[Callable] = None
    options: dict = field(default_factory=dict)

    @property
    def uses(self):
        cases = ("cases",) if any("{cases}" in word for word in self.arguments) else ()
        return (*cases, *(("nsys",) if find_nsys_with_importer in self.needs else ()))

    @property
    def loads(self):
        """What ncu must be fast enough for: where one metric takes too long, so does a preset of many."""
        if self.mode is None:
            return ()
        few = (self.mode, "few metrics")
        return (few,) if f"{CLI}.set=null" in self.arguments else (few, (self.mode, "a preset"))

    def run(self, bench, seconds):
        """On a Bench; a detail for the table."""
        for find in self.needs:
            if find() is None:
                raise Skipped(f"no {find.__name__.removeprefix('find_')}")
        installation = bench.installation()
        places = {"cases": bench.cases()} if "cases" in self.uses else {}
        if self.before is not None:
            self.before(installation.place, os.path.join(installation.logs, f"{self.name}.txt"))
        directory = installation.directory(self.name)
        if self.run_directory and "user" in self.options:
            os.makedirs(directory, exist_ok=True)
            os.chown(directory, self.options["user"], self.options["group"])
        where = [f"hydra.run.dir={directory}"] if self.run_directory else []
        words = list(self.arguments)
        at = words.index("--") if "--" in words else len(words)
        command = [*words[:at], *where, *words[at:]]
        with home_of(self.options) as home:
            result = installation.profile(self.name, command, seconds, {**places, **home}, **self.options)
        return f"{result.seconds:.0f} s; {self.expect(directory, result)}"


@contextlib.contextmanager
def home_of(options):
    """{home} of a step of another user: what root left in the folder for temporary files (ncu's lock) is root's."""
    if "user" not in options:
        yield {}
        return
    with tempfile.TemporaryDirectory(prefix="home-") as home:
        os.chown(home, options["user"], options["group"])
        yield {"home": home}


def ncu(name, mode, *arguments, expect, minutes=0.9, **settings):
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
        **{"seconds": 80, "needs": (find_ncu,), **settings},
    )


def case(name, expect, *arguments, check=True, env=None):
    """A case of tests/manual/gpu/gpu_cases.cu under the recorder."""
    return Step(
        f"case-{name}",
        (*arguments, "--", "{cases}", name),
        expect,
        seconds=40,
        options={"check": check, **({"env": env} if env else {})},
    )


def beside(name, expect, *arguments, profiler):
    """A program of PyTorch that profiles itself, under the recorder: docs/harmless.md says what each of them keeps."""
    return Step(
        f"beside-{name}",
        (*arguments, "--", "python3", BESIDE_PROFILERS, *profiler),
        expect,
        seconds=60,
        needs=(find_torch,),
    )


REGIONS_BESIDE = ("early", "inside", "late")
# Where its profiler begins before all else.
REGIONS_AFTER = REGIONS_BESIDE[1:]
# The program's profiler began when the recorder had the GPU: it takes it over.
HANDED_OVER = all_of(
    own_profile(least=10),
    of("recorder", REGIONS_BESIDE),
    with_note("GPU work was recorded for the first", of("recorder", ("early",), kernels=True), "recorder"),
)


def of_each(make):
    """The checks of each library's program, one library after the other."""
    return lambda bench: (check for program in bench.programs for check in make(program, bench))


def of_ours(make):
    """The checks of the program with kernels of our own."""
    return lambda bench: (
        check for program in bench.programs if program.library == "cuda" for check in make(program, bench)
    )


# Passes of few microseconds per launch, where the recorder costs most, and of large kernels.
OVERHEAD = (speed.SHORT, speed.SPEED[1])


def permission_checks(program, bench):
    yield "ncu, one kernel", lambda: nsight.check_ncu(program, bench.out)
    yield "ncu as nobody", lambda: nsight.check_permission(program, bench.out)


def kernel_time_checks(program, bench):
    yield (
        f"{program.library} beside nsys and ncu",
        lambda: recorder.check_recorder(program, bench.recorder, bench.out, bench.report.left()),
    )


def overhead_checks(bench):
    for program in bench.programs:
        for sizes in OVERHEAD if program.library == "cuda" else ():
            what = f"cuda {speed.sizes_text(sizes)}"
            yield what, lambda s=sizes, p=program: speed.check_overhead(p, bench.recorder, s)
    yield "launches and ranges", lambda: check_costs(bench.cases(), bench.scratch, bench.recorder)


def beside_torch_checks(program, bench):
    return correctness.torch_checks(program, bench.recorder, bench.out)


def ncu_alone_checks(bench):
    yield from of_each(lambda program, _: nsight.replay_checks(program, bench.out))(bench)
    yield "range of steps", lambda: nsight.check_steps(bench.cases(), bench.out)


ALL_REGIONS = f"{CLI}.nvtx.include='*'"
# The program has the layers in them, too: every level of nesting that is asked for is a run of ncu in the range modes.
NESTED_ALONE = f"{CLI}.nvtx.include=[A*,B]"
ONE_REGION = f"{CLI}.nvtx.include=B"
OURS = "infer.gpu_library=cuda"
NESTED_REGIONS = "workload=nvtx_regions"
A1_IN_A = nested("ncu", "A::A1", "A")
DURATION_ALONE = (f"{CLI}.set=null", f"{CLI}.sections=[]", f"{CLI}.metrics=[{DURATION}]")
# Application-based replay runs the program once per pass of metrics: some fifty times for the default
# preset, four times on a GH100 for this.
FEW_PASSES = (
    f"{CLI}.set=null",
    f"{CLI}.sections=[]",
    f"{CLI}.metrics=[{DURATION},lts__throughput.avg.pct_of_peak_sustained_elapsed]",
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
    **{"env": {"HOME": "{home}", "TMPDIR": "{home}", "USER": "nobody"}},
}
# The driver's other libraries may be found by this variable.
OLD_DRIVER = os.pathsep.join(filter(None, ["{place}/old-driver", os.environ.get("LD_LIBRARY_PATH")]))
# Kernels of some hundred microseconds, at the GPU's own clock and with what its caches hold: as the recorder sees them.
LARGE = ("infer.batch_size=32", "infer.image_size=112", "model.base_channels=64", "infer.warmup=100")
UNDISTURBED = f"{CLI}.cache_control=none"


# By the question that they answer.
PLAN = {
    "this machine": (
        Check("machine", lambda bench: [("what is here", lambda: describe_machine(bench.out))], uses=("nsys",)),
        Step("doctor", ("doctor", "--verbose"), output, after=(), run_directory=False, options={"check": False}),
        # Builds the native part on the way, as the first run of a user does.
        Step("build", ("device=cpu", "infer.iterations=2"), of("recorder", LAYERS), seconds=300, after=()),
        Step("recorder", ("device=cuda:0",), of("recorder", LAYERS, kernels=True)),
        Check("permission", of_ours(permission_checks)),
    ),
    "replay modes": (
        # A, A::A1 and B with the default preset where that does not start the program once for each pass of metrics.
        ncu(
            *("ncu-kernel", "kernel", OURS, NESTED_REGIONS, ALL_REGIONS),
            expect=all_of(of("ncu", (*NESTED, *LAYERS), kernels=True, metrics=(DURATION,)), A1_IN_A),
            minutes=1.5,
            seconds=110,
        ),
        ncu(
            *("ncu-range", "range", OURS, NESTED_REGIONS, NESTED_ALONE),
            expect=all_of(of("ncu", NESTED, metrics=(DURATION,)), A1_IN_A, notes("ncu")),
            seconds=110,
        ),
        # The layers inside the three, each level of nesting in a run of its own.
        ncu(
            *("ncu-range-layers", "range", OURS, NESTED_REGIONS, ALL_REGIONS, *FEW_PASSES),
            expect=of("ncu", (*NESTED, *LAYERS), metrics=(DURATION,)),
            seconds=150,
        ),
        ncu(
            *("ncu-app-range", "app-range", OURS, NESTED_REGIONS, NESTED_ALONE, *FEW_PASSES),
            expect=all_of(of("ncu", NESTED, metrics=(DURATION,)), A1_IN_A),
            seconds=110,
        ),
        ncu(
            *("ncu-application", "application", OURS, NESTED_REGIONS, ALL_REGIONS, *FEW_PASSES),
            expect=all_of(of("ncu", (*NESTED, *LAYERS), kernels=True, metrics=(DURATION,)), A1_IN_A),
        ),
    ),
    "golden data": (
        Check("golden", of_each(lambda program, _: correctness.golden_checks(program)), together=True),
        Check("odd", of_each(lambda program, _: correctness.odd_checks(program)), together=True),
    ),
    "agreement": (
        # Times per region of two collectors of one run.
        ncu(
            *("agreement", "kernel", OURS, NESTED_REGIONS, ALL_REGIONS, UNDISTURBED, *LARGE, *DURATION_ALONE),
            expect=agree((*NESTED, *LAYERS), ("recorder", "ncu")),
        ),
        Check("kernel-times", of_each(kernel_time_checks), uses=("programs", "recorder", "nsys")),
        Step(
            "nsys",
            ("device=cuda:0", OURS, NESTED_REGIONS, "pipeline.nsys.enable=true", *LARGE),
            all_of(of("nsys", NESTED, kernels=True), agree((*NESTED, *LAYERS), ("recorder", "nsys"))),
            needs=(find_nsys_with_importer,),
        ),
        Step(
            "recorder-cuda",
            ("device=cuda:0", OURS, NESTED_REGIONS, "pipeline.report.trace=true"),
            all_of(of("recorder", NESTED, kernels=True), nested("recorder", "A::A1", "A")),
        ),
        Step(
            "recorder-graphs",
            ("device=cuda:0", OURS, NESTED_REGIONS, "infer.cuda_graph=true"),
            all_of(of("recorder", (*NESTED, *LAYERS), kernels=True), nested("recorder", "A::A1", "A")),
        ),
        Step(
            "half",
            ("device=cuda:0", "infer.dtype=bfloat16", "infer.batch_size=64", "infer.image_size=112"),
            of("recorder", LAYERS[:1], kernels=True),
        ),
    ),
    "what range replay captures": (
        # Graphs cannot be captured for certain.
        ncu(
            *("ncu-range-fallback", "range", OURS, NESTED_REGIONS, ONE_REGION, "infer.cuda_graph=true"),
            *FEW_PASSES,
            expect=with_note("app-range", of("ncu", ("B",), metrics=(DURATION,))),
        ),
        # Only what the mode before could not measure, down to kernels.
        ncu(
            *("ncu-range-ladder", "range", OURS, NESTED_REGIONS, ONE_REGION, "infer.cuda_graph=true"),
            *("pipeline.ncu.fallback=ladder", *FEW_PASSES),
            expect=all_of(of("ncu", ("B",), metrics=(DURATION,)), notes("ncu")),
        ),
        # With cuDNN, whose launches range replay may not be able to capture: then app-range takes over.
        ncu(
            *("ncu-range-cudnn", "range", NESTED_REGIONS, ONE_REGION, *FEW_PASSES),
            expect=all_of(of("ncu", ("B",), metrics=(DURATION,)), notes("ncu")),
        ),
    ),
    "PyTorch and other profilers": (
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
            minutes=1.5,
            seconds=150,
        ),
        beside(
            "none",
            all_of(of("recorder", REGIONS_BESIDE, kernels=True), without_note("profiler")),
            profiler=("none",),
        ),
        beside("kineto", HANDED_OVER, profiler=("kineto",)),
        beside("proton", HANDED_OVER, profiler=("proton",)),
        beside(
            "kineto-first",
            all_of(
                own_profile(least=10),
                ranges_without_kernels(REGIONS_AFTER),
                with_note("MULTIPLE_SUBSCRIBERS", of("recorder", REGIONS_AFTER), "recorder"),
            ),
            profiler=("kineto", "before"),
        ),
        beside(
            "kineto-refused",
            all_of(
                own_profile(most=0),
                with_note("was refused CUPTI", of("recorder", REGIONS_BESIDE, kernels=True), "recorder"),
            ),
            "pipeline.recorder.gpu=on",
            profiler=("kineto",),
        ),
        Step(
            "torch",
            ("--", "python3", TORCH_PROGRAM),
            of("recorder", ("step", "forward", "backward")),
            seconds=150,
            needs=(find_torch,),
        ),
    ),
    "failures": (
        Check("failures", of_each(lambda program, _: correctness.failure_checks(program)), together=True),
        case("killed", all_of(fails_saying("SIGKILL", "signal 9"), counted()), check=False),
        case("destroy-while-running", counted(may_lose=("running",))),
        case("out-of-memory", all_of(fails_saying("out of memory"), counted()), check=False),
        case("fault", all_of(fails_saying("illegal memory access"), counted()), check=False),
        case("reset-while-running", counted(may_lose=("running",))),
        case("exit-while-running", counted(may_lose=("running",))),
        # What ncu measured until then is kept. Without the recorder: a program that fails there is not run again; and with
        # ncu's own expressions, since nobody knows the labels of a program that fails.
        ncu(
            *("ncu-killed", "kernel", "pipeline.recorder.enable=false", f"{CLI}.nvtx.include=['finished/','open/']"),
            *DURATION_ALONE,
            *("--", "{cases}", "killed"),
            expect=all_of(
                fails_saying("SIGKILL", "exit code", "signal 9"),
                of("ncu", ("finished", "open"), kernels=True, metrics=(DURATION,)),
            ),
            options={"check": False},
            seconds=60,
        ),
        ncu(
            "ncu-unprivileged",
            *("kernel", OURS, NESTED_REGIONS, *DURATION_ALONE),
            expect=refused_or_measured("ERR_NVGPUCTRPERM", of("ncu", NESTED, metrics=(DURATION,))),
            needs=(find_ncu, find_root),
            options=NOBODY,
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
        ncu(
            *("ncu-range-no-fallback", "range", OURS, NESTED_REGIONS, ONE_REGION, "infer.cuda_graph=true"),
            *("pipeline.ncu.fallback=false", *FEW_PASSES),
            expect=output,
            options={"check": False},
        ),
    ),
    "cost of recording": (
        Check("overhead", overhead_checks, uses=("programs", "recorder", "cases", "nsys")),
    ),
    "speed": (
        Check("beside-torch", of_each(beside_torch_checks), uses=("programs", "recorder")),
        Check("speed", of_each(lambda program, _: speed.speed_checks(program))),
    ),
    "other results": (
        # CUPTI's Range Profiler: the default metrics are sums and fit one pass, so that the program runs once more.
        Step(
            "counters",
            ("device=cuda:0", OURS, NESTED_REGIONS, "pipeline.counters.enable=true"),
            all_of(of("counters", NESTED, metrics=(DURATION,)), nested("counters", "A::A1", "A"), notes("counters")),
        ),
        # CUPTI's PM Sampling: whole devices at an interval.
        Step(
            "counters-timeline",
            ("device=cuda:0", OURS, NESTED_REGIONS, "pipeline.counters.enable=true", "pipeline.counters.timeline=true"),
            all_of(of("counters", NESTED), notes("counters")),
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
        case("graph", counted()),
        case("payload", all_of(counted(), payloads("step", "tokens", 1000), payloads("step", "Message size", 40960))),
        case("steps", counted()),
        case("threads", counted()),
        case("launch-ex", counted()),
        case("memory", counted()),
        ncu(
            *("ncu-range-memory", "range", f"{CLI}.nvtx.include=[plain,ordered]", *DURATION_ALONE),
            *("--", "{cases}", "memory"),
            expect=all_of(of("ncu", ("plain", "ordered"), metrics=(DURATION,)), notes("ncu")),
            seconds=100,
        ),
        ncu(
            *("ncu-range-launch-ex", "range", f"{CLI}.nvtx.include=launch_ex", *DURATION_ALONE),
            *("--", "{cases}", "launch-ex"),
            expect=all_of(of("ncu", ("launch_ex",), metrics=(DURATION,)), notes("ncu")),
            seconds=100,
        ),
        # As the stages' scripts of package.json run them.
        Step(
            "stage1",
            ("runners=stage1.default", "device=cuda:0"),
            of("recorder", LAYERS[:1], kernels=True),
        ),
        ncu(
            *("stage2", "kernel", "runners=stage1.no-static", "runner=stage2", "infer.iterations=2"),
            *(f"{CLI}.sections=[SpeedOfLight,Occupancy]", "pipeline.ncu.top_n_kernels=3"),
            # The longest kernels are those of the blocks; none of the stem need be among them.
            expect=of("ncu", ("residual",), metrics=(DURATION,)),
        ),
        ncu(
            *("ncu-no-match", "kernel", OURS, NESTED_REGIONS, f"{CLI}.nvtx.include=decode"),
            expect=says("no matching regions"),
        ),
        ncu(
            *("ncu-hopper", "kernel", NESTED_REGIONS, "profiling/ncu@pipeline.ncu=ncu.hopper", ALL_REGIONS),
            expect=of("ncu", NESTED, kernels=True),
            minutes=1.5,
            seconds=110,
        ),
        # What ncu wrote here, by our own reader: the same regions.
        Step(
            "import-own-reader",
            ("import", "{runs}/stage2/ncu/profile.ncu-rep", "--reader", "own", "-o", "{runs}/imported"),
            output,
            after=("stage2",),
            run_directory=False,
        ),
        ncu(
            *("torch-ncu", "app-range", f"{CLI}.nvtx.include=forward", *DURATION_ALONE),
            *("--", "python3", TORCH_PROGRAM),
            expect=of("ncu", ("forward",), metrics=(DURATION,)),
            needs=(find_ncu, find_torch),
            minutes=1.5,
            seconds=150,
        ),
        Step(
            "emit-nvtx-nsys",
            ("labels=pytorch", "pipeline.nsys.enable=true", "--", "python3", EMIT_NVTX_PROGRAM),
            all_of(of("nsys", ("train_step", "aten::conv2d"), kernels=True), labels_without("nsys", ", seq = ")),
            needs=(find_nsys_with_importer, find_torch),
        ),
        Check("fixtures", of_each(lambda program, bench: nsight.fixture_checks(program, bench.out))),
        Check("ncu-alone", ncu_alone_checks, uses=("programs", "cases")),
        Check("nsys-alone", lambda bench: nsys_checks.nsys_checks(bench), uses=("cases", "nsys")),
    ),
    "what takes long": (
        Check("sanitizer", of_each(lambda program, _: speed.sanitizer_checks(program)), together=True),
        # The command line of the design as it stands, with all its layers; cuDNN where there is one. Where
        # ncu cannot capture its launches, app-range starts the program once for each pass of each level.
        ncu(
            *("range-as-typed", "range", *AS_TYPED),
            expect=all_of(of("ncu", LAYERS, metrics=(DURATION,)), notes("ncu")),
            minutes=2,
            seconds=300,
        ),
        # The default preset in the modes that run the program once for each of its passes.
        ncu(
            *("ncu-application-preset", "application", OURS, NESTED_REGIONS, NESTED_ALONE),
            expect=of("ncu", NESTED, kernels=True, metrics=(DURATION,)),
            minutes=2.5,
            seconds=200,
        ),
        ncu(
            *("ncu-app-range-preset", "app-range", OURS, NESTED_REGIONS, ONE_REGION),
            expect=of("ncu", ("B",), metrics=(DURATION,)),
            minutes=2.5,
            seconds=200,
        ),
        Check("refused", of_each(lambda program, bench: nsight.refusal_checks(program, bench.out))),
    ),
}

STEPS = tuple(step for steps in PLAN.values() for step in steps)
