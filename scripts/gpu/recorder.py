"""The recorder's kernel times beside those of other tools: gpu-check-recorder.py in a process of its own."""

import functools
import glob
import importlib.util
import os
import shlex
import sys

from gpu.build import NATIVE, ROOT
from gpu.cupti import name_cupti_where_missed
from gpu.report import Failed
from gpu.run import run

SCRIPT = os.path.join(ROOT, "scripts", "gpu-check-recorder.py")

# Kernels of some hundred microseconds: what a tool adds to a kernel counts for less than the tenth allowed. With passes
# before them in which the GPU's clock rises.
SIZES = [
    *["--batch-size", "32", "--base-channels", "64", "--num-blocks", "2", "--image-size", "112"],
    *["--program", "regions", "--warmup", "20"],
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
    named = name_cupti_where_missed(result.stdout)
    remarks += [f"from here on with {named}"] if named else []
    if result.returncode != 0:
        raise Failed("; ".join([result.stderr.strip()[-600:] or lines[-1], *remarks]) + f"\n{result.stdout}")
    return "; ".join([lines[-1], *remarks])


def longest_kernels(command, library, folder, most=4):
    """Of a program under the recorder, for a table: what takes its time."""
    env = {"NVTX_INJECTION64_PATH": library, "CUDA_INJECTION64_PATH": library, "HYDRACONF_RECORDER_DIR": folder}
    try:
        run(command, 60, env={**env, "PYTHONSAFEPATH": "1"})
        times = {}
        for path in glob.glob(os.path.join(folder, "*.nvtxrec")):
            for name, values in reader().read_recording(path)[0].items():
                times.setdefault(name, []).extend(values)
    except (Failed, OSError, SystemExit) as problem:
        return str(problem).split("\n", maxsplit=1)[0]
    longest = sorted(times.items(), key=lambda one: -sum(one[1]))[:most]
    return "; ".join(f"{len(ns)} x {sum(ns) / len(ns) / 1e3:.1f} us {name[:100]}" for name, ns in longest) or "none"


@functools.cache
def reader():
    """gpu-check-recorder.py as a module: its name is none that Python could import."""
    spec = importlib.util.spec_from_file_location("gpu_check_recorder", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
