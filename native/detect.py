#!/usr/bin/env python3
"""Finds what the native part can be built with. Called by binding.gyp and native/build.mjs.

    detect.py nvtx-include         directory with nvtx3/nvToolsExt.h, or nothing
    detect.py version              the package's version
    detect.py sources DIR [EXT]    the .cc (or other) files of a directory below native/, sorted
    detect.py all [GPU...]         everything found, as JSON, for GPUs of other machines, too (90: compute capability 9.0)

Standard output holds the value and nothing else: gyp puts it into the build files.
A place that the environment names (NVTX_ROOT, CUDNN_ROOT, NVCC, CXX) must hold what it promises;
falling back to something else without a word would build what nobody asked for.
HYDRACONF_CUDA: native/detection/gpu_backend.py.
"""

import json
import os
import sys

# The package may be another user's, and is what it was when it was packed.
sys.dont_write_bytecode = True

from detection.asking import Missing  # noqa: E402
from detection.compiler import find_compiler  # noqa: E402
from detection.cudnn import find_cudnn  # noqa: E402
from detection.gpu_backend import plan_gpu_backend  # noqa: E402
from detection.nvtx import find_nvtx  # noqa: E402
from detection.toolkit import find_nvcc  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def version():
    with open(os.path.join(ROOT, "package.json"), encoding="utf-8") as package:
        return json.load(package)["version"]


def sources(directory, extension=".cc"):
    """Relative to the root, where binding.gyp stands."""
    names = sorted(os.listdir(os.path.join(ROOT, directory)))
    return [f"{directory}/{name}" for name in names if name.endswith(extension)]


def everything(elsewhere):
    toolkit = find_nvcc()
    return {
        "version": version(),
        "compiler": find_compiler(),
        "nvcc": toolkit,
        "nvtx": find_nvtx(toolkit),
        "cudnn": find_cudnn(toolkit),
        "cuda": plan_gpu_backend(toolkit, elsewhere),
    }


def main(arguments):
    if arguments == ["nvtx-include"]:
        found = find_nvtx(find_nvcc())
        print(found["include"] if found else "")
    elif arguments == ["version"]:
        print(version())
    elif len(arguments) in (2, 3) and arguments[0] == "sources":
        print("\n".join(sources(*arguments[1:])))
    elif arguments[:1] == ["all"] and all(one.isdigit() for one in arguments[1:]):
        print(json.dumps(everything([int(one) for one in arguments[1:]])))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except Missing as problem:
        sys.exit(f"detect.py: {problem}")
