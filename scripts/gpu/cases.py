"""The programs of tests/manual/gpu. gpu_cases.cu has what a program can do with a GPU that a profiler must survive."""

import json
import os

from gpu.build import ROOT, find_nvcc, plan_gpu_backend, site_packages
from gpu.nsys import OPTIONS, usable_nsys
from gpu.report import Failed, Skipped, first_line
from gpu.run import run

MANUAL = os.path.join(ROOT, "tests", "manual", "gpu")
SOURCE = os.path.join(MANUAL, "gpu_cases.cu")
# Programs of PyTorch.
TORCH_PROGRAM = os.path.join(MANUAL, "torch_regions.py")
EMIT_NVTX_PROGRAM = os.path.join(MANUAL, "torch_emit_nvtx.py")
BESIDE_PROFILERS = os.path.join(MANUAL, "beside_profilers.py")
NAME = "gpu_cases"
NVTX = os.path.join("nvtx3", "nvToolsExt.h")
# Of its case `graph`: five replays of five kernels, one beside them, and one before the ranges.
GRAPH_KERNELS = 27


def build_cases(folder, log=None):
    """Compiles the program into `folder`."""
    toolkit = find_nvcc()
    if toolkit is None:
        raise Skipped("no nvcc")
    plan = plan_gpu_backend(toolkit)
    if not plan["build"]:
        raise Skipped(plan["reason"])
    program = os.path.join(folder, NAME)
    command = [toolkit["path"], "-std=c++17", "-O2", *nvtx_flags(toolkit), *plan["gencode"]]
    command += ["-o", program, SOURCE, "-ldl"]
    result = run(command, 200, log=log)
    return f"{plan['targets']}, {result.stderr.count('warning')} warnings"


def nvtx_flags(toolkit):
    """A toolkit may lack NVTX's headers; PyTorch brings them as a package."""
    if os.path.exists(os.path.join(toolkit["include"], NVTX)):
        return []
    roots = [os.path.join(place, "nvidia", name, "include") for place in site_packages() for name in ("cu13", "nvtx")]
    return [f"-I{root}" for root in roots if os.path.exists(os.path.join(root, NVTX))][:1]


def cases_in(folder):
    program = os.path.join(folder, NAME)
    if not os.path.exists(program):
        raise Skipped("it was not built")
    return program


def measure_costs(program, env=None, under=()):
    """Nanoseconds of a launch, alone and inside ranges of ten, by the program's own clock."""
    result = run([*under, program, "costs"], 60, env=env)
    # nsys says on standard output what it wrote.
    lines = [line for line in result.stdout.split("\n") if line.startswith('{"ns_per_launch"')]
    if not lines:
        raise Failed(f"no times in {result.stdout[-300:]}")
    return json.loads(lines[-1])


def check_costs(program, folder, library):
    """What the recorder adds to each launch and each range of a program of many short kernels, beside nsys."""
    recorder = {
        "NVTX_INJECTION64_PATH": library,
        "CUDA_INJECTION64_PATH": library,
        "HYDRACONF_RECORDER_DIR": os.path.join(folder, "costs"),
    }
    nsys = usable_nsys()[:1]
    ways = {
        "ranges": ({**recorder, "HYDRACONF_RECORDER_GPU": "off"}, ()),
        "kernels": (recorder, ()),
        **({"nsys": ({}, (*nsys, "profile", *OPTIONS, "-o", os.path.join(folder, "costs-nsys")))} if nsys else {}),
    }
    alone = measure_costs(program)
    told = [f"alone {alone['ns_per_launch'] / 1e3:.2f} us per launch"]
    for name, (env, under) in ways.items():
        try:
            one = measure_costs(program, env, under)
        except Failed as problem:
            if name != "nsys":
                raise
            told.append(f"nsys: {first_line(problem)[:100]}")
            continue
        launch = one["ns_per_launch"] - alone["ns_per_launch"]
        ranges = (one["ns_per_launch_in_ranges"] - one["ns_per_launch"]) * one["launches_per_range"]
        share = 100 * launch / alone["ns_per_launch"]
        told.append(f"{name} {launch:+.0f} ns per launch ({share:+.0f} %), {ranges:+.0f} ns per range")
    return "; ".join(told)
