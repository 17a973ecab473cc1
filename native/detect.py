#!/usr/bin/env python3
"""Finds what the native part can be built with. Called by binding.gyp and native/build.mjs.

    detect.py nvtx-include         directory with nvtx3/nvToolsExt.h, or nothing
    detect.py version              the package's version
    detect.py sources DIR          the .cc files of a directory below native/, sorted
    detect.py all                  everything found, as JSON

Standard output holds the value and nothing else: gyp puts it into the build files.
A place that the environment names (NVTX_ROOT, CUDNN_ROOT, NVCC, CXX) must hold what it promises;
falling back to something else without a word would build what nobody asked for.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Missing(Exception):
    """What the environment promises is not there."""


def first_line_matching(command, pattern):
    """First group of `pattern` in what a tool prints about itself; None where it does not run."""
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = re.search(pattern, result.stdout + result.stderr)
    return match.group(1) if match else None


def compiler():
    # make splits CXX at blanks as well ("ccache g++").
    command = shlex.split(os.environ.get("CXX") or "g++")
    path = shutil.which(command[0])
    if path is None:
        if os.environ.get("CXX"):
            raise Missing(f"CXX={os.environ['CXX']}: no such program")
        return None
    banner = first_line_matching([*command, "--version"], r"^(.+)")
    version = first_line_matching([*command, "-dumpfullversion", "-dumpversion"], r"(\d[\d.]*)")
    return {"command": " ".join(command), "version": version, "banner": banner}


def nvcc_candidates():
    if os.environ.get("NVCC"):
        if shutil.which(os.environ["NVCC"]) is None:
            raise Missing(f"NVCC={os.environ['NVCC']}: no such program")
        yield os.environ["NVCC"]
    for name in ("CUDA_HOME", "CUDA_PATH"):
        if os.environ.get(name):
            yield os.path.join(os.environ[name], "bin", "nvcc")
    yield "nvcc"
    yield "/usr/local/cuda/bin/nvcc"


def nvcc():
    for candidate in nvcc_candidates():
        path = shutil.which(candidate)
        if path is None:
            continue
        version = first_line_matching([path, "--version"], r"release (\d+\.\d+)")
        if version:
            return {"path": path, "version": version, "root": toolkit_root(path)}
    return None


def toolkit_root(nvcc_path):
    """The toolkit behind an nvcc that may be a link or a wrapper script: it knows its own place."""
    top = first_line_matching([nvcc_path, "--dryrun", "-x", "cu", os.devnull], r"_HERE_=(.+)")
    if top:
        return os.path.dirname(os.path.realpath(top.strip()))
    return os.path.dirname(os.path.dirname(os.path.realpath(nvcc_path)))


def include_dir_with(header, roots):
    for root in roots:
        for below in ("", "include", os.path.join("c", "include")):
            directory = os.path.join(root, below)
            if os.path.isfile(os.path.join(directory, header)):
                return os.path.normpath(directory)
    return None


def nvtx(toolkit):
    header = os.path.join("nvtx3", "nvToolsExt.h")
    explicit = os.environ.get("NVTX_ROOT")
    if explicit:
        directory = include_dir_with(header, [explicit])
        if directory is None:
            raise Missing(f"NVTX_ROOT={explicit}: holds no {header}")
        return {"include": directory, "source": "NVTX_ROOT", "cuda": None}
    roots = [os.environ[name] for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name)]
    if toolkit:
        roots.append(toolkit["root"])
    roots += ["/usr/local/cuda", "/usr"]
    directory = include_dir_with(header, roots)
    if directory is None:
        return None
    return {"include": directory, "source": "toolkit", "cuda": cuda_version(directory)}


def cuda_version(include):
    """`13.0` from the cuda.h beside the headers."""
    number = defined(os.path.join(include, "cuda.h"), "CUDA_VERSION")
    return f"{number // 1000}.{number % 1000 // 10}" if number else None


def defined(path, name):
    try:
        with open(path, encoding="utf-8", errors="replace") as header:
            match = re.search(rf"^\s*#\s*define\s+{name}\s+(\d+)", header.read(), re.MULTILINE)
    except OSError:
        return None
    return int(match.group(1)) if match else None


def cudnn():
    explicit = os.environ.get("CUDNN_ROOT")
    if explicit and include_dir_with("cudnn.h", [explicit]) is None:
        raise Missing(f"CUDNN_ROOT={explicit}: holds no cudnn.h")
    wheels = [sysconfig.get_path(kind) for kind in ("purelib", "platlib")]
    roots = [explicit] if explicit else []
    roots += [os.path.join(wheel, "nvidia", "cudnn") for wheel in wheels if wheel]
    roots += ["/usr", "/usr/local", "/usr/local/cuda"]
    directory = include_dir_with("cudnn.h", roots)
    if directory is None:
        return None
    parts = [
        defined(os.path.join(directory, "cudnn_version.h"), f"CUDNN_{part}")
        for part in ("MAJOR", "MINOR", "PATCHLEVEL")
    ]
    version = ".".join(map(str, parts)) if None not in parts else None
    return {"include": directory, "version": version}


def version():
    with open(os.path.join(ROOT, "package.json"), encoding="utf-8") as package:
        return json.load(package)["version"]


def sources(directory):
    """Relative to the root, where binding.gyp stands."""
    names = sorted(os.listdir(os.path.join(ROOT, directory)))
    return [f"{directory}/{name}" for name in names if name.endswith(".cc")]


def everything():
    toolkit = nvcc()
    return {
        "version": version(),
        "compiler": compiler(),
        "nvcc": toolkit,
        "nvtx": nvtx(toolkit),
        "cudnn": cudnn(),
    }


def main(arguments):
    if arguments == ["nvtx-include"]:
        found = nvtx(nvcc())
        print(found["include"] if found else "")
    elif arguments == ["version"]:
        print(version())
    elif len(arguments) == 2 and arguments[0] == "sources":
        print("\n".join(sources(arguments[1])))
    elif arguments == ["all"]:
        print(json.dumps(everything()))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except Missing as problem:
        sys.exit(f"detect.py: {problem}")
