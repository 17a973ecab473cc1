"""NVIDIA's NVTX headers."""

import os

from .asking import Missing
from .places import defined, include_dir_with
from .toolkit import named_roots

HEADER = os.path.join("nvtx3", "nvToolsExt.h")


def find_nvtx(toolkit):
    explicit = os.environ.get("NVTX_ROOT")
    if explicit:
        directory = include_dir_with(HEADER, [explicit])
        if directory is None:
            raise Missing(f"NVTX_ROOT={explicit}: holds no {HEADER}")
        return {"include": directory, "source": "NVTX_ROOT", "cuda": None}
    roots = [*named_roots(), *([toolkit["root"]] if toolkit else []), "/usr/local/cuda", "/usr"]
    directory = include_dir_with(HEADER, roots)
    if directory is None:
        return None
    return {"include": directory, "source": "toolkit", "cuda": cuda_version(directory)}


def cuda_version(include):
    """`13.0` from the cuda.h beside the headers."""
    number = defined(os.path.join(include, "cuda.h"), "CUDA_VERSION")
    return f"{number // 1000}.{number % 1000 // 10}" if number else None
