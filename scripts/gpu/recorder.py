"""The recorder's kernel times beside those of other tools: gpu-check-recorder.py in a process of its own."""

import glob
import os
import shlex
import sys

from gpu.build import NATIVE, ROOT
from gpu.report import Failed
from gpu.run import run

SCRIPT = os.path.join(ROOT, "scripts", "gpu-check-recorder.py")

# Kernels of some hundred microseconds: what a tool adds to a kernel counts for less than the tenth allowed.
SIZES = [
    *["--batch-size", "32", "--base-channels", "64", "--num-blocks", "2", "--image-size", "112"],
    *["--program", "regions", "--warmup", "3"],
]


def build_recorder(library, log=None):
    """Compiles native/region_recorder without Node.js and without NVIDIA's headers."""
    sources = glob.glob(f"{NATIVE}/region_recorder/*.cc") + glob.glob(f"{NATIVE}/region_recorder/gpu/*.cc")
    flags = "-std=gnu++17 -O2 -fPIC -shared -fno-exceptions -fno-rtti -fvisibility=hidden -DNVTX_OWN_CLIENT=1"
    compiler = shlex.split(os.environ.get("CXX") or "g++")
    libraries = ["-Wl,--as-needed", "-Wl,-z,nodelete", "-ldl", "-lpthread"]
    command = [*compiler, *flags.split(), f"-I{NATIVE}", *sorted(sources), "-o", library, *libraries]
    run(command, 200, log=log)
    return f"{os.path.getsize(library)} bytes"


def check_recorder(program, library, out, seconds):
    folder = os.path.join(out, f"recorder-{program.library}")
    os.makedirs(folder, exist_ok=True)
    workload = [program.path, *program.gpu, *SIZES]
    command = [sys.executable, SCRIPT, "--out", folder, "--library", library, "--", *workload]
    log = os.path.join(folder, "check.log")
    result = run(command, min(150, seconds), check=False, log=log)
    lines = result.stdout.strip().split("\n")
    remarks = [line for line in lines if "left out" in line or "kernels begin" in line]
    if result.returncode != 0:
        raise Failed("; ".join([result.stderr.strip()[-600:] or lines[-1], *remarks]) + f"\n{result.stdout}")
    return "; ".join([lines[-1], *remarks])
