"""What this machine is and has, as text to keep: the answers of its tools, whatever they are."""

import functools
import glob
import os
import re

from gpu.nsys import all_nsys
from gpu.report import Failed, first_line
from gpu.run import find_ncu, find_nsys, run
from gpu.together import together

LIBRARIES_OF_TORCH = (
    "import glob, importlib.util as u; "
    'print(*glob.glob(u.find_spec("torch").submodule_search_locations[0] + "/lib/libtorch_c*.so"))'
)
COMMANDS = [
    ["nvidia-smi"],
    ["nvidia-smi", "-q", "-d", "CLOCK,COMPUTE,MEMORY"],
    ["uname", "-a"],
    ["nvcc", "--version"],
    ["g++", "--version"],
    ["make", "--version"],
    ["sh", "-c", "command -v python3 nvcc ncu nsys compute-sanitizer make g++; ls -la $(command -v nvcc ncu)"],
    ["sh", "-c", "env | grep -E '^(PATH|LD_|CUDA|CUDNN|NV|VIRTUAL|CONDA)' | sort"],
    ["ldd", "--version"],
    ["python3", "-c", "import torch; print(torch.__version__, torch.backends.cudnn.version())"],
    # Whether PyTorch calls CUPTI and NVTX where the recorder can see it, or has its own inside.
    ["sh", "-c", f"for file in $(python3 -c '{LIBRARIES_OF_TORCH}'); do echo $file; readelf -dW $file | grep NEEDED; done"],
    ["sh", "-c", "ls -la /dev/nvidia* /opt/nvidia /opt/nvidia/* /usr/local | head -80"],
    # Whether nsys can make reports here: it needs its importer.
    ["sh", "-c", "timeout 10 find / -xdev \\( -name 'QdstrmImporter*' -o -name nsys \\) 2>/dev/null | head"],
    ["sh", "-c", "timeout 10 find / -xdev \\( -name 'libcupti.so*' -o -name 'libcudnn*.so*' \\) 2>&- | head -60"],
]
FILES = [
    "/proc/driver/nvidia/version",
    "/proc/driver/nvidia/params",
    "/proc/sys/kernel/perf_event_paranoid",
    "/etc/os-release",
]
NO_GPU = "no GPU answers"
NCU = ["--version", "--help", "--list-sets", "--list-sections", "--list-metrics"]


def describe_machine(out):
    log = os.path.join(out, "machine.txt")
    ncu = find_ncu()
    questions = [(command, log) for command in COMMANDS]
    questions += [([one, "--version"], log) for one in all_nsys()]
    if ncu:
        questions += [([ncu, option], os.path.join(out, f"ncu{option}.txt")) for option in NCU]
        # As deep-profile asks for what this GPU can measure.
        questions.append(([ncu, "--query-metrics", "--csv"], os.path.join(out, "ncu--query-metrics.txt")))
    # The slowest of them wait for a cold disk: nothing is measured before all have answered.
    answered = sum(together([functools.partial(ask, *question) for question in questions], 8))
    with open(log, "a", encoding="utf-8") as file:
        for path in FILES:
            file.write(f"$ cat {path}\n{text_of(path)}\n")
    nsys = find_nsys()
    cupti = glob.glob("/usr/local/cuda*/**/libcupti.so.*", recursive=True)
    place = "" if gpu().startswith(NO_GPU) else f": tests/fixtures/{fixture_folder(gpu())}"
    return f"{gpu()}{place}; {answered} answers; ncu: {ncu}, nsys: {nsys}, CUPTI of the toolkit: {cupti[:1]}"


@functools.cache
def gpu():
    """Which GPU it is, and its driver."""
    try:
        asked = run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], 30, check=False)
    except (OSError, Failed) as problem:
        return f"{NO_GPU}: {first_line(problem)}"
    name = first_line(asked.stdout)
    if asked.returncode != 0 or name == "":
        return f"{NO_GPU}: {first_line(asked.stdout + asked.stderr)}"
    return name


def hold_open(pattern="/dev/nvidia[0-9]*"):
    """Keeps the GPUs open while this process runs: a driver whose last user goes puts them down, and needs seconds for
    each of our hundred programs to start them again. Returns how many."""
    held = 0
    for path in glob.glob(pattern):
        try:
            os.open(path, os.O_RDWR)
            held += 1
        except OSError:
            pass
    return held


def fixture_folder(name):
    """Where what it leaves for tests is kept.

    `h200` of an `NVIDIA H200`, `h100` of an `NVIDIA H100 80GB HBM3`, `rtx-4090` of an `NVIDIA GeForce RTX 4090`.
    """
    model = re.sub(r"^(NVIDIA|Tesla|Quadro|GeForce)\s+", "", name.split(",")[0].strip())
    model = re.sub(r"^GeForce\s+", "", model)
    words = re.match(r"(?:(?:RTX|GTX|TITAN)\s+)?\S+", model)
    return re.sub(r"[^a-z0-9]+", "-", (words.group() if words else model).lower()).strip("-")


def ask(command, log):
    try:
        return run(command, 30, check=False, log=log).returncode == 0
    except (OSError, Failed) as problem:
        with open(log, "a", encoding="utf-8") as file:
            file.write(f"$ {' '.join(command)}\n{problem}\n")
        return False


def text_of(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError as problem:
        return str(problem)
