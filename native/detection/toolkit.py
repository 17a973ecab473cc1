"""The CUDA toolkit, found by its compiler."""

import os
import re
import shutil

from .asking import Missing, first_match, run
from .places import include_dir_with, library_dir_with


def find_nvcc():
    for candidate in candidates():
        path = shutil.which(candidate)
        if path is None:
            continue
        version = first_match([path, "--version"], r"release (\d+\.\d+)")
        if version:
            root = toolkit_root(path)
            return {
                "path": path,
                "version": version,
                "root": root,
                "include": include_dir_with("cuda_runtime_api.h", [root, "/usr"]),
                "library": library_dir_with("libcudart_static.a", [root, "/usr"]),
            }
    return None


def candidates():
    if os.environ.get("NVCC"):
        if shutil.which(os.environ["NVCC"]) is None:
            raise Missing(f"NVCC={os.environ['NVCC']}: no such program")
        yield os.environ["NVCC"]
    for root in named_roots():
        yield os.path.join(root, "bin", "nvcc")
    yield "nvcc"
    yield "/usr/local/cuda/bin/nvcc"


def named_roots():
    """The toolkits that the environment names."""
    return [os.environ[name] for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name)]


def toolkit_root(nvcc_path):
    """The toolkit behind an nvcc that may be a link or a wrapper script: it knows its own place."""
    top = first_match([nvcc_path, "--dryrun", "-x", "cu", os.devnull], r"_HERE_=(.+)")
    if top:
        return os.path.dirname(os.path.realpath(top.strip()))
    return os.path.dirname(os.path.dirname(os.path.realpath(nvcc_path)))


def known_architectures(toolkit):
    """What nvcc compiles for: [75, 80, ...]."""
    result = run([toolkit["path"], "--list-gpu-arch"])
    listed = result.stdout if result else ""
    return sorted({int(number) for number in re.findall(r"compute_(\d+)\s*$", listed, re.MULTILINE)})
