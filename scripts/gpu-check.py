#!/usr/bin/env python3
"""Checks the ShallowResNet's GPU backend on a machine with a GPU. Needs no Node.js.

    python3 scripts/gpu-check.py [--out DIR] [--minutes N] [--program FILE] [--only STEP,...]

Builds shallow_resnet with each library that is found (cuda: kernels of our own; cudnn), runs it with
all data types, statistics and launch modes against PyTorch's golden data (tests/fixtures/golden),
against the CPU backend on odd sizes and against the PyTorch of this machine, measures speed, looks
for memory errors (compute-sanitizer), compares the recorder's kernel times with those of nsys and ncu
(gpu-check-recorder.py), profiles it with ncu in its replay modes, and records what tests can keep.
Prints a table and writes it with all output to DIR (default: $OUT, else tmp/gpu-check). Exit code 1 when a check
failed; what cannot be checked here is listed as skipped, with the reason.

--program takes an executable that is built already, and skips building. Steps: build, golden, odd,
torch, recorder, fixtures, failures, speed, sanitizer, ncu. --pack (the default where DIR comes from $OUT) leaves
at most 8 files in DIR, each below 16 MiB: reports, tables and logs, exports and recordings as archives.
"""

import argparse
import concurrent.futures
import json
import os
import shutil
import struct
import subprocess
import sys
import tarfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NATIVE = os.path.join(ROOT, "native")
GOLDEN = os.path.join(ROOT, "tests", "fixtures", "golden", "shallow_resnet")
STEPS = (
    *("build", "golden", "odd", "torch", "recorder", "fixtures"),
    *("failures", "speed", "sanitizer", "ncu"),
)

# Largest error of a logit, relative to the largest logit; float32 by the project's own bar (below).
TOLERANCE = {"float32": 1e-4, "tf32": 5e-3, "float16": 1e-2, "bfloat16": 5e-2}

sys.path.insert(0, NATIVE)
import detect  # noqa: E402


class Failed(Exception):
    """A check found something wrong."""


class Skipped(Exception):
    """A check cannot be made here."""


class Report:
    def __init__(self, out, seconds):
        self.out = out
        self.deadline = time.monotonic() + seconds
        self.rows = []
        os.makedirs(out, exist_ok=True)

    def left(self):
        return self.deadline - time.monotonic()

    def check(self, step, what, action):
        begin = time.monotonic()
        try:
            if self.left() <= 0:
                raise Skipped("out of time")
            state, detail = "ok", action()
        except Skipped as reason:
            state, detail = "skipped", str(reason)
        except Exception as problem:  # a defect in one check must not hide the others
            state, detail = "FAILED", f"{type(problem).__name__}: {problem}"
        seconds = time.monotonic() - begin
        row = {"step": step, "what": what, "state": state, "detail": detail, "seconds": seconds}
        self.rows.append(row)
        first_line = str(detail or "").strip().split("\n")[0]
        print(f"{state:8} {step:10} {what:44} {first_line}", flush=True)
        with open(os.path.join(self.out, "results.json"), "w", encoding="utf-8") as file:
            json.dump(self.rows, file, indent=1)
        return state == "ok"


def run(argv, seconds=120, env=None, check=True):
    try:
        result = subprocess.run(
            argv,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds,
            env={**os.environ, **(env or {})},
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        raise Failed(f"{os.path.basename(argv[0])} took more than {seconds} s") from late
    if check and result.returncode != 0:
        raise Failed(
            f"exit {result.returncode}: {' '.join(argv)}\n{result.stderr[-3000:]}{result.stdout[-1000:]}"
        )
    return result


# Building, as binding.gyp does it.


def build(library, folder):
    toolkit = detect.nvcc()
    if toolkit is None:
        raise Skipped("no nvcc")
    os.environ.setdefault("HYDRACONF_CUDA", "auto")
    plan = detect.cuda(toolkit)
    if not plan["build"]:
        raise Skipped(plan["reason"])
    flags = [
        *["-std=gnu++17", "-O3", "-fPIC", "-pthread", "-Wall", "-Wextra", "-Werror", f"-I{NATIVE}"],
        f"-isystem{toolkit['include']}",
        "-DHYDRACONF_CUDA=1",
        f'-DHYDRACONF_CUDA_TARGETS="{plan["targets"]}"',
    ]
    link = [os.path.join(toolkit["library"], "libcudart_static.a"), "-lrt", "-ldl", "-lpthread"]
    folders = ["common", "shallow_resnet", "shallow_resnet/cpu", "shallow_resnet/cuda"]
    if library == "cudnn":
        found = detect.cudnn()
        if found is None or found["unusable"]:
            raise Skipped("no cuDNN" if found is None else found["unusable"])
        flags += ["-DHYDRACONF_CUDNN=1", f"-isystem{found['include']}"]
        folders.append("shallow_resnet/cudnn")
        link += [
            os.path.join(found["library"], "libcudnn.so.9"),
            "-Wl,--disable-new-dtags",
            *[f"-Wl,-rpath,{place}" for place in [found["library"], *cublas_places(toolkit)]],
        ]
    else:
        flags.append("-DHYDRACONF_CUDNN=0")
    os.makedirs(folder, exist_ok=True)
    commands = []
    for source_folder in folders:
        for source in detect.sources(os.path.join("native", source_folder)):
            command = ["g++", *flags, "-c", os.path.join(ROOT, source)]
            commands.append((command, os.path.join(folder, source.replace("/", "_") + ".o")))
    for source in detect.sources("native/shallow_resnet/cuda", ".cu"):
        command = [
            *[toolkit["path"], "-c", "-std=c++17", "-O3", f"-I{NATIVE}", "--threads=0"],
            *["-Xcompiler=-fPIC", "-Werror", "all-warnings", *plan["gencode"]],
            os.path.join(ROOT, source),
        ]
        commands.append((command, os.path.join(folder, source.replace("/", "_") + ".o")))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda each: run([*each[0], "-o", each[1]], 400), commands))
    program = os.path.join(folder, "shallow_resnet")
    run(["g++", "-pthread", *[output for _, output in commands], "-o", program, *link])
    return program, f"{plan['targets']}, nvcc {toolkit['version']}"


def cublas_places(toolkit):
    """cuDNN loads cuBLAS: from the toolkit, or from a wheel."""
    wheels = [
        os.path.join(place, "nvidia", name, "lib")
        for place in detect.site_packages()
        for name in ("cu13", "cublas")
    ]
    return [place for place in [*wheels, toolkit["library"]] if os.path.isdir(place)]


# Tensors, without numpy.


def read_tensors(path):
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
        data = file.read()
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        tensors[name] = struct.unpack(f"<{(end - begin) // 4}f", data[begin:end])
    return tensors


def strict_error(actual, wanted):
    """The project's bar for float32: at most 1e-4 of max(0.01, |wanted|), for every value."""
    if len(actual) != len(wanted):
        raise Failed(f"{len(actual)} values for {len(wanted)}")
    return largest(abs(a - b) / max(0.01, abs(b)) for a, b in zip(actual, wanted))


def relative_error(actual, wanted):
    if len(actual) != len(wanted):
        raise Failed(f"{len(actual)} values for {len(wanted)}")
    scale = max(abs(value) for value in wanted)
    return largest(abs(a - b) / scale for a, b in zip(actual, wanted))


def largest(errors):
    worst = 0.0
    for error in errors:
        # NaN must fail as well.
        if not error <= worst:
            worst = error
    return worst


def within(error, limit):
    if not error <= limit:
        raise Failed(f"error {error:.3g} is more than {limit:g}")
    return f"error {error:.2g}"


class Program:
    """One executable with one library."""

    def __init__(self, path, library, folder):
        self.path = path
        self.library = library
        self.folder = folder
        self.gpu = ["--device", "cuda:0", "--gpu-library", library]

    def document(self, args, seconds=300):
        return json.loads(run([self.path, *map(str, args)], seconds).stdout)

    def tensors(self, name, args, seconds=300):
        output = os.path.join(self.folder, f"{name}.safetensors")
        document = self.document([*args, "--output", output, "--save-activations"], seconds)
        return read_tensors(output), document


def variants(library):
    """(name, flags, tolerance) of everything that has its own arithmetic."""
    found = [("float32", [], "float32"), ("float16", ["--dtype", "float16"], "float16")]
    found.append(("bfloat16", ["--dtype", "bfloat16"], "bfloat16"))
    if library == "cudnn":
        found.append(("tf32", ["--tf32"], "tf32"))
    return found


def check_golden(program, flags, mode, tolerance):
    with open(os.path.join(GOLDEN, "expected.json"), encoding="utf-8") as file:
        expected = json.load(file)["batch_norm"][mode]
    tensors, document = program.tensors(
        "golden",
        [
            *[*program.gpu, *flags, "--batch-norm", mode, "--warmup", 1, "--iterations", 3],
            *["--weights", os.path.join(GOLDEN, "weights.safetensors")],
            *["--input", os.path.join(GOLDEN, "input.safetensors")],
        ],
    )
    wanted = [value for row in expected["logits"] for value in row]
    if not document["backend"]["library"].startswith(program.library):
        raise Failed(f"ran with {document['backend']['library']}")
    if tolerance != "float32":
        return within(relative_error(tensors["logits"], wanted), TOLERANCE[tolerance])
    errors = [strict_error(tensors["logits"], wanted)]
    for stage in ("stem", "residual"):
        errors.append(strict_error(tensors[stage][:16], expected[stage]["first"]))
    return within(max(errors), TOLERANCE["float32"]) + f", {document['timings_ms']['median']:.3f} ms"


ODD = [
    # batch, input channels, base channels, blocks, image
    (1, 1, 1, 1, 1),
    (3, 5, 17, 2, 7),
    (2, 20, 33, 1, 2),
    (1, 16, 15, 4, 23),
    (2, 3, 8, 1, 37),
    (1, 33, 130, 1, 17),
    (70000, 1, 2, 1, 1),
    (2, 3, 64, 2, 224),
]


def sizes_flags(batch, inputs, base, blocks, image):
    return [
        *["--batch-size", min(batch, 65536), "--in-channels", inputs, "--base-channels", base],
        *["--num-blocks", blocks, "--image-size", image, "--warmup", 0, "--iterations", 1],
    ]


def check_odd(program, sizes, mode, flags):
    common = [*sizes_flags(*sizes), "--batch-norm", mode, "--seed", 7]
    wanted, _ = program.tensors("odd-cpu", common)
    actual, _ = program.tensors("odd-gpu", [*common, *program.gpu, *flags])
    # Against float32 of another order of sums, not against exact values: relative to the scale.
    return within(max(relative_error(actual[name], wanted[name]) for name in wanted), 1e-4)


def torch_network(torch, tensors, blocks, device):
    functional = torch.nn.functional

    def parameter(name):
        return tensors[name].to(device)

    def norm(x, name):
        return functional.batch_norm(
            x,
            parameter(f"{name}.running_mean"),
            parameter(f"{name}.running_var"),
            parameter(f"{name}.weight"),
            parameter(f"{name}.bias"),
        )

    def conv(x, name):
        return functional.conv2d(x, parameter(f"{name}.weight"), parameter(f"{name}.bias"), padding=1)

    def forward(x):
        x = norm(conv(x, "stem.0"), "stem.1").relu()
        for i in range(blocks):
            y = norm(conv(x, f"blocks.{i}.conv1"), f"blocks.{i}.bn1").relu()
            y = norm(conv(y, f"blocks.{i}.conv2"), f"blocks.{i}.bn2")
            x = (x + y).relu()
        return functional.linear(x.mean((2, 3)), parameter("head.2.weight"), parameter("head.2.bias"))

    return forward


def check_torch(program, sizes):
    try:
        import torch
        from safetensors.torch import load_file, save_file
    except ImportError as missing:
        raise Skipped(str(missing)) from missing
    if not torch.cuda.is_available():
        raise Skipped("torch sees no GPU")
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    batch, inputs, base, blocks, image = sizes
    weights = os.path.join(program.folder, "torch-weights.safetensors")
    source = os.path.join(program.folder, "torch-input.safetensors")
    flags = [*sizes_flags(*sizes), "--warmup", 5, "--iterations", 20]
    torch.manual_seed(1)
    x = torch.randn(batch, inputs, image, image)
    save_file({"x": x}, source)
    program.document([*flags, *program.gpu, "--save-weights", weights])
    tensors = {name: value.cuda() for name, value in load_file(weights).items()}
    forward = torch_network(torch, tensors, blocks, "cuda")
    on_gpu = x.cuda()
    with torch.inference_mode():
        for _ in range(5):
            wanted = forward(on_gpu)
        torch.cuda.synchronize()
        times = []
        for _ in range(20):
            begin = time.perf_counter()
            forward(on_gpu)
            torch.cuda.synchronize()
            times.append((time.perf_counter() - begin) * 1e3)
    actual, document = program.tensors(
        "torch", [*flags, *program.gpu, "--weights", weights, "--input", source]
    )
    error = within(relative_error(actual["logits"], wanted.flatten().tolist()), 1e-4)
    return f"{error}; {document['timings_ms']['median']:.3f} ms, torch {sorted(times)[10]:.3f} ms"


def check_failure(program, args, words):
    result = run([program.path, *program.gpu, *map(str, args)], check=False)
    lines = result.stderr.strip().split("\n")
    if result.returncode != 1 or len(lines) != 1 or words not in lines[0]:
        raise Failed(f"exit {result.returncode}: {result.stderr[-600:]}")
    return lines[0]


SPEED = [
    (4, 3, 16, 3, 64),
    (32, 3, 64, 3, 56),
    (64, 3, 128, 3, 28),
    (64, 3, 256, 3, 14),
    (16, 3, 64, 3, 224),
]


def check_speed(program, sizes, flags):
    args = [*sizes_flags(*sizes), "--warmup", 10, "--iterations", 50, "--peaks"]
    document = program.document([*program.gpu, *args, *flags])
    rate = document["gflops_per_second"]
    peak = document["peaks"]["gflops_per_second"]
    share = f", {100 * rate / peak:.1f} % of {peak:.0f} GFLOP/s" if peak else ""
    return f"{document['timings_ms']['median']:.3f} ms, {rate:.0f} GFLOP/s{share}"


def find_tool(name, pattern):
    import glob

    places = sorted(glob.glob(pattern))
    return shutil.which(name) or (places[-1] if places else None)


def check_sanitizer(program, tool, flags):
    sanitizer = find_tool("compute-sanitizer", "/usr/local/cuda*/bin/compute-sanitizer")
    if sanitizer is None:
        raise Skipped("no compute-sanitizer")
    args = [*sizes_flags(2, 3, 17, 1, 9), *program.gpu, *flags]
    command = [sanitizer, "--tool", tool, "--error-exitcode", "9", program.path, *map(str, args)]
    result = run(command, 200, check=False)
    text = result.stdout + result.stderr
    if result.returncode != 0 or ("ERROR SUMMARY: 0 errors" not in text and tool != "racecheck"):
        raise Failed(text[-3000:])
    return text.strip().split("\n")[-1]


def check_ncu(program, mode, region, out, flags=()):
    ncu = find_tool("ncu", "/opt/nvidia/nsight-compute/*/ncu")
    if ncu is None:
        raise Skipped("no ncu")
    report = os.path.join(out, f"{program.library}-{mode}-{region.replace(':', '_')}")
    command = [
        *[ncu, "--config-file", "off", "-f", "-o", report, "--replay-mode", mode],
        *["--nvtx", "--nvtx-include", f"{region}/", "--clock-control", "none"],
        *["--metrics", "gpu__time_duration.sum,sm__throughput.avg.pct_of_peak_sustained_elapsed"],
        *[program.path, *program.gpu, "--program", "regions", "--warmup", "1", *flags],
    ]
    result = run(command, 200, check=False)
    text = result.stdout + result.stderr
    with open(f"{report}.log", "w", encoding="utf-8") as file:
        file.write(" ".join(command) + "\n" + text)
    if result.returncode != 0 or not os.path.exists(f"{report}.ncu-rep"):
        lines = [line for line in text.split("\n") if line.startswith("==")]
        raise Failed("\n".join(lines[-8:]) or text[-1000:])
    table = run(
        [ncu, "--import", f"{report}.ncu-rep", "--csv", "--page", "raw", "--print-units", "base"],
        env={"LC_ALL": "C.UTF-8"},
    ).stdout
    with open(f"{report}.csv", "w", encoding="utf-8") as file:
        file.write(table)
    rows = [line for line in table.split("\n") if line.startswith('"') and not line.startswith('"ID"')]
    rows = rows[1:]
    if not rows or (mode in ("range", "app-range") and len(rows) != 1):
        raise Failed(f"{len(rows)} results")
    return f"{len(rows)} results"


def check_recorder(program, out, seconds):
    """The recorder's kernel times beside those of nsys and ncu: within 10 %."""
    script = os.path.join(ROOT, "scripts", "gpu-check-recorder.py")
    folder = os.path.join(out, f"recorder-{program.library}")
    workload = [program.path, *program.gpu, "--program", "regions", "--warmup", "3"]
    result = run([sys.executable, script, "--out", folder, "--", *workload], min(200, seconds), check=False)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "check.log"), "w", encoding="utf-8") as file:
        file.write(result.stdout + result.stderr)
    if result.returncode != 0:
        raise Failed(result.stderr.strip()[-1500:] or result.stdout[-1500:])
    absent = [line for line in result.stdout.split("\n") if line.endswith("left out")]
    return "; ".join([result.stdout.strip().split("\n")[-1], *absent])


def record_fixture(program, mode, out, seconds):
    """A report of ncu with sections, and all that ncu prints of it, for tests to keep."""
    ncu = find_tool("ncu", "/opt/nvidia/nsight-compute/*/ncu")
    if ncu is None:
        raise Skipped("no ncu")
    report = os.path.join(out, f"fixture-{program.library}-{mode}")
    include = ["--nvtx-include", "A/"] if mode in ("range", "app-range") else []
    command = [
        *[ncu, "--config-file", "off", "-f", "-o", report, "--replay-mode", mode, "--nvtx", *include],
        *["--set", "basic", "--log-file", f"{report}.log"],
        *[program.path, *program.gpu, "--program", "regions", "--warmup", "1"],
    ]
    result = run(command, min(120, seconds), check=False)
    with open(f"{report}.command", "w", encoding="utf-8") as file:
        file.write(f"{' '.join(command)}\nexit code {result.returncode}\n{result.stdout}{result.stderr}")
    if not os.path.exists(f"{report}.ncu-rep"):
        raise Failed(f"exit {result.returncode}, no report: {result.stderr[-800:]}")
    pages = {
        "raw.csv": ["--csv", "--page", "raw", "--print-units", "base"],
        "details.csv": ["--csv", "--page", "details", "--print-units", "base", "--print-metric-name", "name"],
        "sections.txt": ["--page", "details"],
    }
    for name, options in pages.items():
        page = run([ncu, "--import", f"{report}.ncu-rep", *options], env={"LC_ALL": "C.UTF-8"})
        with open(f"{report}.{name}", "w", encoding="utf-8") as file:
            file.write(page.stdout)
    return f"{os.path.getsize(f'{report}.ncu-rep')} bytes"


MOST_ARCHIVE = 15 * 2**20
ARCHIVES = {
    "ncu-reports.tar.gz": (".ncu-rep",),
    "ncu-tables.tar.gz": (".csv", ".log", ".command", ".txt"),
    "nsys.tar.gz": (".nsys-rep", ".sqlite"),
    "recordings.tar.gz": (".nvtxrec",),
}


def files_below(out):
    return [os.path.join(folder, name) for folder, _, names in os.walk(out) for name in names]


def pack(out, before):
    """Puts what was written into few archives; names what was too large for them. What was there stays."""
    left_out = []
    files = [file for file in files_below(out) if file not in before]
    for archive, endings in ARCHIVES.items():
        # The small ones first: the most of them.
        members = sorted((each for each in files if each.endswith(endings)), key=os.path.getsize)
        room = MOST_ARCHIVE
        chosen = []
        for member in members:
            room -= os.path.getsize(member)  # incompressible in the worst case
            if room < 0:
                left_out.append(os.path.relpath(member, out))
            else:
                chosen.append(member)
        if chosen:
            with tarfile.open(os.path.join(out, archive), "w:gz") as tar:
                for member in chosen:
                    tar.add(member, os.path.relpath(member, out))
    for file in files:
        if os.path.dirname(file) != out or not os.path.basename(file).startswith("results."):
            os.remove(file)
    for folder, _, _ in os.walk(out, topdown=False):
        if folder != out and not os.listdir(folder):
            os.rmdir(folder)
    return left_out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", default=os.environ.get("OUT") or os.path.join(ROOT, "tmp", "gpu-check"))
    parser.add_argument("--minutes", type=float, default=9)
    parser.add_argument("--pack", action="store_true", default=None)
    parser.add_argument("--program")
    parser.add_argument("--only", default=",".join(STEPS))
    options = parser.parse_args()
    wanted = options.only.split(",")
    unknown = [step for step in wanted if step not in STEPS]
    if unknown:
        parser.error(f"unknown step {unknown[0]}; there are {', '.join(STEPS)}")
    before = set(files_below(options.out))
    report = Report(options.out, options.minutes * 60)
    scratch = os.path.join(ROOT, "tmp", "gpu-check-build")

    programs = []
    for library in ["cuda"] if options.program else ["cuda", "cudnn"]:
        folder = os.path.join(scratch, library)
        os.makedirs(folder, exist_ok=True)
        if options.program:
            programs.append(Program(os.path.abspath(options.program), library, folder))
            continue

        def make(library=library, folder=folder):
            path, detail = build(library, folder)
            programs.append(Program(path, library, folder))
            return detail

        report.check("build", library, make)

    for program in programs:
        check_program(program, report, wanted)
    # What a session with little time wants last: ncu writes the most and takes the longest.
    for program in programs:
        if "ncu" in wanted:
            check_all_replays(program, report)

    states = [row["state"] for row in report.rows]
    counts = {state: states.count(state) for state in ("ok", "FAILED", "skipped")}
    print(", ".join(f"{count} {state}" for state, count in counts.items()))
    left_out = []
    from_environment = os.environ.get("OUT") and options.out == os.environ["OUT"]
    if options.pack or from_environment:
        left_out = pack(options.out, before)
    write_markdown(report, left_out)
    return 1 if counts["FAILED"] or not counts["ok"] else 0


def check_program(program, report, wanted):
    name = program.library
    if "golden" in wanted:
        for variant, flags, tolerance in variants(name):
            for mode in ("running", "batch"):
                for graph in ([], ["--cuda-graph"]):
                    what = f"{name} {variant} {mode}{' graph' if graph else ''}"
                    report.check(
                        "golden",
                        what,
                        lambda f=[*flags, *graph], m=mode, t=tolerance: check_golden(program, f, m, t),
                    )
    if "odd" in wanted:
        for sizes in ODD:
            mode = "running" if sizes[4] == 1 else "batch"
            what = f"{name} {'x'.join(map(str, sizes))} {mode}"
            report.check("odd", what, lambda s=sizes, m=mode: check_odd(program, s, m, []))
    if "torch" in wanted:
        for sizes in SPEED:
            what = f"{name} {'x'.join(map(str, sizes))}"
            report.check("torch", what, lambda s=sizes: check_torch(program, s))
    if "recorder" in wanted:
        what = f"{name} beside nsys and ncu"
        report.check("recorder", what, lambda: check_recorder(program, report.out, report.left()))
    if "fixtures" in wanted:
        for mode in ("kernel", "application", "range", "app-range"):
            what = f"{name} {mode}"
            report.check(
                "fixtures",
                what,
                lambda m=mode: record_fixture(program, m, report.out, report.left()),
            )
    if "failures" in wanted:
        report.check(
            "failures",
            f"{name}: no such GPU",
            lambda: check_failure(program, ["--device", "cuda:99"], "there is no such GPU"),
        )
        # 4 x 256 GiB of activations, which no GPU has, with an input that the host has.
        huge = [*sizes_flags(512, 1, 1024, 1, 360), "--seed", 1]
        report.check(
            "failures",
            f"{name}: out of memory",
            lambda: check_failure(program, huge, "not enough free memory"),
        )
    if "speed" in wanted:
        for sizes in SPEED:
            for variant, flags, _ in variants(name):
                for graph in ([], ["--cuda-graph"]):
                    what = f"{name} {'x'.join(map(str, sizes))} {variant}{' graph' if graph else ''}"
                    report.check(
                        "speed",
                        what,
                        lambda s=sizes, f=[*flags, *graph]: check_speed(program, s, f),
                    )
    if "sanitizer" in wanted:
        for tool in ("memcheck", "racecheck", "synccheck", "initcheck"):
            report.check(
                "sanitizer",
                f"{name} {tool}",
                lambda t=tool: check_sanitizer(program, t, ["--batch-norm", "batch"]),
            )


def check_all_replays(program, report):
    out = report.out
    for mode in ("kernel", "range", "app-range"):
        for region in ("A", "A::A1", "B"):
            report.check(
                "ncu",
                f"{program.library} {mode} {region}",
                lambda m=mode, r=region: check_ncu(program, m, r, out),
            )


def write_markdown(report, left_out):
    with open(os.path.join(report.out, "results.md"), "w", encoding="utf-8") as file:
        file.write("| | step | check | result | s |\n|---|---|---|---|---|\n")
        for row in report.rows:
            detail = str(row["detail"] or "").strip().split("\n")[0].replace("|", "\\|")
            file.write(
                f"| {row['state']} | {row['step']} | {row['what']} | {detail} | {row['seconds']:.1f} |\n"
            )
        for name in left_out:
            file.write(f"\nToo large to keep: {name}\n")



if __name__ == "__main__":
    sys.exit(main())
