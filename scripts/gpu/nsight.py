"""ncu by hand: what it says in each replay mode, what it refuses, and reports for tests to keep.

The GPU's clocks are left alone (--clock-control none): the machine is lent.
"""

import os
import re
import tempfile

from gpu.build import ROOT
from gpu.report import Failed, Skipped, first_line
from gpu.run import TookTooLong, find_ncu, run

REGIONS = ["--program", "regions", "--warmup", "1"]
IMPORT = ["--csv", "--page", "raw", "--print-units", "base"]
C_LOCALE = {"LC_ALL": "C.UTF-8"}


# What ncu is not asked again in this process: minutes are few.
_broken = None
_too_slow = set()


def require_ncu():
    ncu = find_ncu()
    if ncu is None:
        raise Skipped("no ncu")
    if _broken is not None:
        raise Skipped(f"ncu did not work for one kernel: {_broken}")
    return ncu


def check_ncu(program, out):
    """One metric of one kernel. Where that fails or hangs, nothing else is asked of ncu."""
    global _broken
    report = os.path.join(out, f"{program.library}-one-kernel")
    options = ["--launch-count", "1", "--metrics", "gpu__time_duration.sum"]
    try:
        result = profile(report, program, options, seconds=60)
    except TookTooLong as problem:
        _broken = first_line(problem)[:100]
        raise
    if result.returncode != 0 or not os.path.exists(f"{report}.ncu-rep"):
        words = complaints(result)
        _broken = f"exit {result.returncode}, {first_line(words)[:100]}"
        raise Failed(f"exit {result.returncode}: {words}")
    return f"{result.seconds:.0f} s"


def profile(report, program, options, seconds=90, **settings):
    """Runs ncu over the nested regions; its report is REPORT.ncu-rep, its transcript REPORT.command."""
    command = [
        *[require_ncu(), "--config-file", "off", "-f", "-o", report, "--clock-control", "none"],
        *options,
        *[program.path, *program.gpu, *REGIONS],
    ]
    mode = options[options.index("--replay-mode") + 1] if "--replay-mode" in options else "kernel"
    # Where our own few kernels are too much for it, cuDNN's are, too.
    for library in ("cuda", program.library):
        if (library, mode) in _too_slow:
            raise Skipped(f"{mode} replay of {library} took too long before")
    try:
        return run(command, seconds, check=False, log=f"{report}.command", **settings)
    except TookTooLong:
        _too_slow.add((program.library, mode))
        raise


def complaints(result):
    lines = [line for line in (result.stdout + result.stderr).split("\n") if line.startswith("==")]
    lines = sorted(lines[-8:], key=lambda line: not line.startswith("==ERROR=="))
    return "\n".join(lines) or (result.stdout + result.stderr)[-1000:]


def results_of(report):
    """Rows of the raw page, without header and units."""
    ncu = require_ncu()
    table = run([ncu, "--import", f"{report}.ncu-rep", *IMPORT], env=C_LOCALE).stdout
    rows = [line for line in table.split("\n") if line.startswith('"') and not line.startswith('"ID"')]
    return rows[1:]


def replay_checks(program, out):
    # gpu-profile.py has them all, through deep-profile: here is what ncu itself says.
    modes = {"kernel": ("A",), "range": ("A", "A::A1"), "app-range": ("A",)}
    if program.library == "cudnn":
        modes = {"range": ("A",)}
    for mode, regions in modes.items():
        for region in regions:
            what = f"{program.library} {mode} {region}"
            yield what, lambda m=mode, r=region: check_replay(program, m, r, out)
    if program.library == "cuda":
        for mode in ("range", "app-range"):
            yield f"cuda {mode} of neighbours", lambda m=mode: check_neighbours(program, m, out)


# Of the program's three passes: stem, residual and head follow each other without an API call between them.
NEIGHBOURS = ("stem", "residual", "head")


def check_neighbours(program, mode, out):
    """Whether ncu takes ranges that follow each other for one: the planner of deep-profile keeps them apart."""
    report = os.path.join(out, f"cuda-{mode}-neighbours")
    options = ["--replay-mode", mode, "--nvtx", "--metrics", "gpu__time_duration.sum"]
    for name in NEIGHBOURS:
        options += ["--nvtx-include", f"{name}/"]
    result = profile(report, program, options)
    if result.returncode != 0 or not os.path.exists(f"{report}.ncu-rep"):
        raise Failed(complaints(result))
    return f"{len(results_of(report))} results of {3 * len(NEIGHBOURS)} ranges"


def check_steps(cases, out):
    """The same of ranges of one name."""
    report = os.path.join(out, "range-steps")
    command = [require_ncu(), "--config-file", "off", "-f", "-o", report, "--clock-control", "none"]
    command += ["--replay-mode", "range", "--nvtx", "--nvtx-include", "step/", "--metrics", "gpu__time_duration.sum"]
    result = run([*command, cases, "steps"], 60, check=False, log=f"{report}.command")
    if result.returncode != 0 or not os.path.exists(f"{report}.ncu-rep"):
        raise Failed(complaints(result))
    return f"{len(results_of(report))} results of 3 ranges"


def check_replay(program, mode, region, out):
    report = os.path.join(out, f"{program.library}-{mode}-{region.replace(':', '_')}")
    metrics = "gpu__time_duration.sum,sm__throughput.avg.pct_of_peak_sustained_elapsed"
    options = ["--replay-mode", mode, "--nvtx", "--nvtx-include", f"{region}/", "--metrics", metrics]
    result = profile(report, program, options)
    if result.returncode != 0 or not os.path.exists(f"{report}.ncu-rep"):
        raise Failed(complaints(result))
    rows = results_of(report)
    if not rows or (mode in ("range", "app-range") and len(rows) != 1):
        raise Failed(f"{len(rows)} results")
    return f"{len(rows)} results in {result.seconds:.0f} s"


def fixture_checks(program, out):
    for mode in ("kernel", "range", "app-range", "application") if program.library == "cuda" else ("kernel", "range"):
        yield f"{program.library} {mode}", lambda m=mode: record_fixture(program, m, out)


def record_fixture(program, mode, out):
    """A report of ncu with sections, and all that ncu prints of it, for tests to keep."""
    report = os.path.join(out, f"fixture-{program.library}-{mode}")
    include = ["--nvtx-include", "A/"] if mode in ("range", "app-range") else []
    options = ["--replay-mode", mode, "--nvtx", *include, "--set", "basic", "--log-file", f"{report}.log"]
    result = profile(report, program, options)
    if not os.path.exists(f"{report}.ncu-rep"):
        raise Failed(f"exit {result.returncode}, no report: {complaints(result)}")
    pages = {
        "raw.csv": IMPORT,
        "details.csv": ["--csv", "--page", "details", "--print-units", "base", "--print-metric-name", "name"],
        "sections.txt": ["--page", "details"],
    }
    ncu = require_ncu()
    for name, options in pages.items():
        page = run([ncu, "--import", f"{report}.ncu-rep", *options], env=C_LOCALE)
        with open(f"{report}.{name}", "w", encoding="utf-8") as file:
            file.write(page.stdout)
    return f"{os.path.getsize(f'{report}.ncu-rep')} bytes in {result.seconds:.0f} s"


def default_preset():
    """Set, sections and metrics of conf/profiling/ncu/ncu.default.yaml; read by line, without a library."""
    path = os.path.join(ROOT, "conf", "profiling", "ncu", "ncu.default.yaml")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    chosen = re.search(r"^  set: (\S+)", text, re.MULTILINE).group(1)

    def listed(key):
        block = re.search(rf"^  {key}:\n((?:    .*\n)+)", text, re.MULTILINE).group(1)
        return re.findall(r"^    - (\S+)", block, re.MULTILINE)

    return chosen, listed("sections"), listed("metrics")


def refusal_checks(program, out):
    """Which parts of the default preset, and which others, ncu refuses to measure of ranges."""
    chosen, sections, metrics = default_preset()
    everything = ["--set", chosen]
    for section in sections:
        everything += ["--section", section]
    everything += ["--metrics", ",".join(metrics)]
    # app-range starts the program once per pass, some fifty times: with one library, and last.
    for mode in ("range", "kernel"):
        yield (
            f"{program.library} {mode}: the default preset",
            lambda m=mode: check_asked(program, m, everything, out, f"preset-{m}"),
        )
    for metric in ["inst_executed", "sass__inst_executed_global_loads", metrics[3]] if program.library == "cuda" else []:
        yield (
            f"{program.library} range: {metric}",
            lambda m=metric: check_asked(program, "range", ["--metrics", m], out, f"metric-{m}", False),
        )
    if program.library == "cuda":
        yield (
            "cuda app-range: the default preset",
            lambda: check_asked(program, "app-range", everything, out, "preset-app-range", seconds=150),
        )


def check_asked(program, mode, asked, out, name, must_work=True, seconds=90):
    report = os.path.join(out, f"{program.library}-{name}".replace(".", "_"))
    options = ["--replay-mode", mode, "--nvtx", "--nvtx-include", "B/", *asked]
    result = profile(report, program, options, seconds)
    made = os.path.exists(f"{report}.ncu-rep")
    answer = f"exit {result.returncode}, {'a' if made else 'no'} report in {result.seconds:.0f} s"
    if result.returncode == 0 and made:
        return answer
    if must_work:
        raise Failed(f"{answer}: {complaints(result)}")
    return f"{answer}: {complaints(result)}"


def check_permission(program, out):
    """ncu as somebody who is not root: counters, or ERR_NVGPUCTRPERM and what it looks like."""
    if os.geteuid() != 0:
        raise Skipped("we are not root, so that everything here shows it")
    with tempfile.TemporaryDirectory(prefix="nobody-") as home:
        os.chmod(home, 0o777)
        report = os.path.join(home, "unprivileged")
        nobody = {"user": 65534, "group": 65534, "extra_groups": []}
        command = [
            *[require_ncu(), "--config-file", "off", "-f", "-o", report, "--clock-control", "none"],
            *["--launch-count", "1", "--metrics", "gpu__time_duration.sum"],
            *[program.path, *program.gpu, *REGIONS],
        ]
        log = os.path.join(out, "unprivileged.command")
        env = {"HOME": home, "TMPDIR": home}
        result = run(command, 60, env=env, check=False, log=log, cwd=home, **nobody)
        if "ERR_NVGPUCTRPERM" in result.stdout + result.stderr:
            return f"exit {result.returncode}, ERR_NVGPUCTRPERM"
        if result.returncode == 0 and os.path.exists(f"{report}.ncu-rep"):
            return "counters are open to everybody here"
        raise Failed(f"exit {result.returncode}: {complaints(result)}")
