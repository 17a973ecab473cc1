"""cuDNN: of a Python package, or of the system."""

import os
import re
import site
import sysconfig

from .asking import Missing
from .places import defined, include_dir_with, library_dir_with


def find_cudnn(toolkit):
    """cuDNN's headers with the library beside them; the first place that has them."""
    for root in roots():
        include = include_dir_with("cudnn.h", [root])
        if include is None:
            continue
        parts = [
            defined(os.path.join(include, "cudnn_version.h"), f"CUDNN_{part}")
            for part in ("MAJOR", "MINOR", "PATCHLEVEL")
        ]
        version = ".".join(map(str, parts)) if None not in parts else None
        library = library_dir_with("libcudnn.so.9", [root])
        return {
            "include": include,
            "version": version,
            "library": library,
            "search": search_path(root, library),
            "unusable": problem(root, parts[0], library, toolkit),
        }
    return None


def roots():
    explicit = os.environ.get("CUDNN_ROOT")
    if explicit:
        if include_dir_with("cudnn.h", [explicit]) is None:
            raise Missing(f"CUDNN_ROOT={explicit}: holds no cudnn.h")
        return [explicit]
    wheels = [os.path.join(place, "nvidia", "cudnn") for place in site_packages()]
    return [*wheels, "/usr", "/usr/local", "/usr/local/cuda"]


def site_packages():
    """Where this Python's packages are installed, those of a virtual environment first."""
    places = [sysconfig.get_path(kind) for kind in ("purelib", "platlib")]
    places += site.getsitepackages()
    places.append(site.getusersitepackages())
    return list(dict.fromkeys(place for place in places if place))


def search_path(root, library):
    """Where the libraries are that cuDNN loads while it runs: its own, and beside a wheel cuBLAS and NVRTC."""
    beside = [os.path.join(root, "..", name, "lib") for name in ("cu13", "cublas", "cuda_nvrtc")]
    places = [library, *beside] if library else []
    return [os.path.normpath(place) for place in places if os.path.isdir(place)]


def problem(root, major, library, toolkit):
    """Why this cuDNN cannot be used; None where it can."""
    if major != 9:
        return "cuDNN 9 is needed"
    if library is None:
        return "libcudnn.so.9 is not beside the headers"
    made_for = cuda_of_wheel(root)
    if toolkit and made_for and toolkit["version"].split(".")[0] not in made_for:
        return f"it is made for CUDA {', '.join(sorted(made_for))}"
    return None


def cuda_of_wheel(root):
    """The versions of CUDA that the wheel at `root` is made for, as its name says: {"13"}. Empty for another place's."""
    try:
        installed = os.listdir(os.path.join(root, "..", ".."))
    except OSError:
        return set()
    names = (re.fullmatch(r"nvidia_cudnn_cu(\d+)-.*\.dist-info", name) for name in installed)
    return {name.group(1) for name in names if name}
