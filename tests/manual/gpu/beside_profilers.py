"""A program with a profiler of its own, for a GPU with PyTorch: what the profile has, and what the recorder has.

    deep-profile -- python3 tests/manual/gpu/beside_profilers.py kineto        # torch.profiler, begun after CUDA
    deep-profile -- python3 tests/manual/gpu/beside_profilers.py kineto before # ... before CUDA is used
    deep-profile -- python3 tests/manual/gpu/beside_profilers.py proton        # Triton's Proton
    deep-profile -- python3 tests/manual/gpu/beside_profilers.py none          # loaded, never begun

Prints the number of kernels in the program's own profile. Regions: early, inside (profiled), late.
"""

import json
import pathlib
import sys
import tempfile

import torch

KERNELS = 10


def work(name):
    with torch.cuda.nvtx.range(name):
        x = torch.ones(512, 512, device="cuda")
        for _ in range(KERNELS):
            x = x @ x
        torch.cuda.synchronize()


def profile_with_kineto(body):
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities) as profile:
        body()
    place = pathlib.Path(tempfile.mkdtemp(), "trace.json")
    profile.export_chrome_trace(str(place))
    events = json.loads(place.read_text())["traceEvents"]
    return sum(event.get("cat") == "kernel" for event in events)


def profile_with_proton(body):
    import triton.profiler as proton

    place = pathlib.Path(tempfile.mkdtemp(), "proton")
    # Named, since Triton compiles something of its own to find out, and its defaults change.
    proton.start(str(place), backend="cupti")
    body()
    proton.finalize(output_format="hatchet")

    def count(node):
        own = node.get("metrics", {}).get("count", 0)
        return own + sum(count(child) for child in node.get("children", []))

    return sum(count(tree) for tree in json.loads(place.with_suffix(".hatchet").read_text()) if "frame" in tree)


def main():
    kind = sys.argv[1]
    begins_first = sys.argv[2:] == ["before"]
    if not begins_first:
        work("early")
    if kind == "none":
        work("inside")
    else:
        profile = {"kineto": profile_with_kineto, "proton": profile_with_proton}[kind]
        print("kernels in the program's profile:", profile(lambda: work("inside")))
    work("late")


main()
