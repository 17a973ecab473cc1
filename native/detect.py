#!/usr/bin/env python3
"""Finds what the native part can be built with. Called by binding.gyp and native/build.mjs.

    detect.py nvtx-include         directory with nvtx3/nvToolsExt.h, or nothing
    detect.py version              the package's version
    detect.py sources DIR [EXT]    the .cc (or other) files of a directory below native/, sorted
    detect.py all                  everything found, as JSON

Standard output holds the value and nothing else: gyp puts it into the build files.
A place that the environment names (NVTX_ROOT, CUDNN_ROOT, NVCC, CXX) must hold what it promises;
falling back to something else without a word would build what nobody asked for.

HYDRACONF_CUDA says whether the GPU backend is built, and for which GPUs:
    auto (or not set)   where nvcc and a GPU are found, for the GPUs of this machine
    1, on               for every GPU generation in TARGETS that nvcc knows; nvcc must be there
    80,90               for these
    0, off              not at all
"""

import glob
import json
import os
import platform
import re
import shlex
import shutil
import site
import subprocess
import sys
import sysconfig

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


# GPU generations by compute capability: Turing, Ampere (A100, then the others), Ada, Hopper, Blackwell
# (data centre, then the others). Code for one also runs on later minor versions of the same major.
TARGETS = (75, 80, 86, 89, 90, 100, 120)


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
            root = toolkit_root(path)
            return {
                "path": path,
                "version": version,
                "root": root,
                "include": include_dir_with("cuda_runtime_api.h", [root, "/usr"]),
                "library": library_dir_with("libcudart_static.a", [root, "/usr"]),
            }
    return None


def toolkit_root(nvcc_path):
    """The toolkit behind an nvcc that may be a link or a wrapper script: it knows its own place."""
    top = first_line_matching([nvcc_path, "--dryrun", "-x", "cu", os.devnull], r"_HERE_=(.+)")
    if top:
        return os.path.dirname(os.path.realpath(top.strip()))
    return os.path.dirname(os.path.dirname(os.path.realpath(nvcc_path)))


def multiarch():
    """`x86_64-linux-gnu`: where Debian keeps what depends on the architecture. Other Pythons than Debian's do not tell."""
    return sysconfig.get_config_var("MULTIARCH") or f"{machine()}-linux-gnu"


def machine():
    """`x86_64` or `aarch64`."""
    name = platform.machine().lower()
    return {"amd64": "x86_64", "arm64": "aarch64"}.get(name, name)


def target_folders():
    """Where a CUDA toolkit keeps what is for this machine; Conda's has it nowhere else. Servers, then Jetson."""
    names = {"aarch64": ("sbsa-linux", "aarch64-linux")}.get(machine(), (f"{machine()}-linux",))
    return tuple(os.path.join("targets", name) for name in names)


def include_dir_with(header, roots):
    of_targets = (os.path.join(target, "include") for target in target_folders())
    below = ("", "include", os.path.join("c", "include"), os.path.join("include", multiarch()), *of_targets)
    return dir_with(header, roots, below)


def library_dir_with(name, roots):
    of_targets = (os.path.join(target, "lib") for target in target_folders())
    below = ("lib64", "lib", os.path.join("lib", multiarch()), *of_targets)
    return dir_with(name, roots, below)


def dir_with(name, roots, below):
    for root in roots:
        for part in below:
            directory = os.path.join(root, part)
            if os.path.isfile(os.path.join(directory, name)):
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


def site_packages():
    """Where Python packages are installed, those of a virtual environment first."""
    places = [sysconfig.get_path(kind) for kind in ("purelib", "platlib")]
    places += site.getsitepackages()
    places.append(site.getusersitepackages())
    return list(dict.fromkeys(place for place in places if place))


def cudnn_roots():
    explicit = os.environ.get("CUDNN_ROOT")
    if explicit:
        if include_dir_with("cudnn.h", [explicit]) is None:
            raise Missing(f"CUDNN_ROOT={explicit}: holds no cudnn.h")
        return [explicit]
    wheels = [os.path.join(place, "nvidia", "cudnn") for place in site_packages()]
    return [*wheels, "/usr", "/usr/local", "/usr/local/cuda"]


def cudnn():
    """cuDNN's headers with the library beside them; the first place that has them."""
    for root in cudnn_roots():
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
            "search": cudnn_search(root, library),
            "unusable": cudnn_problem(root, parts[0], library),
        }
    return None


def cudnn_search(root, library):
    """Where the libraries are that cuDNN loads while it runs: its own, and beside a wheel cuBLAS and NVRTC."""
    beside = [os.path.join(root, "..", name, "lib") for name in ("cu13", "cublas", "cuda_nvrtc")]
    places = [library, *beside] if library else []
    return [os.path.normpath(place) for place in places if os.path.isdir(place)]


def cudnn_problem(root, major, library):
    """Why this cuDNN cannot be used; None where it can."""
    if major != 9:
        return "cuDNN 9 is needed"
    if library is None:
        return "libcudnn.so.9 is not beside the headers"
    toolkit = nvcc()
    # The wheel says in its name which CUDA it is for.
    wheel = glob.glob(os.path.join(root, "..", "..", "nvidia_cudnn_cu*.dist-info"))
    made_for = {re.search(r"_cu(\d+)-", name).group(1) for name in wheel}
    if toolkit and made_for and toolkit["version"].split(".")[0] not in made_for:
        return f"it is made for CUDA {', '.join(sorted(made_for))}"
    return None


def gpus():
    """Compute capabilities of this machine's GPUs: [90]. Empty without a driver."""
    try:
        result = subprocess.run(
            ["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    if result.returncode != 0:
        return []
    found = re.findall(r"^\s*(\d+)\.(\d)\s*$", result.stdout, re.MULTILINE)
    return sorted({int(major) * 10 + int(minor) for major, minor in found})


def known_architectures(toolkit):
    """What nvcc compiles for: [75, 80, ...]."""
    result = subprocess.run(
        [toolkit["path"], "--list-gpu-arch"],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    return sorted({int(number) for number in re.findall(r"compute_(\d+)\s*$", result.stdout, re.MULTILINE)})


def cuda(toolkit):
    """Whether and how the GPU backend is built: {"build", "required", "reason"} and what nvcc needs."""
    asked = (os.environ.get("HYDRACONF_CUDA") or "auto").lower()
    required = asked not in ("auto", "0", "off")

    def no(reason):
        if required:
            raise Missing(f"HYDRACONF_CUDA={asked}: {reason}")
        return {"build": False, "required": False, "reason": reason}

    if not re.fullmatch(r"auto|0|1|on|off|\d{2,3}([, ]+\d{2,3})*", asked):
        raise Missing(f"HYDRACONF_CUDA={asked}: not auto, on, off, or numbers such as 80,90")
    if asked in ("0", "off"):
        return no("HYDRACONF_CUDA switches it off")
    if toolkit is None:
        return no("no nvcc")
    if toolkit["include"] is None or toolkit["library"] is None:
        return no("the CUDA toolkit lacks its headers or libcudart_static.a")
    known = known_architectures(toolkit)
    intermediate = set()
    if asked == "auto":
        present = gpus()
        if not present:
            return no("no GPU answers here; HYDRACONF_CUDA=1 builds it all the same")
        # A GPU that nvcc does not know runs the newest code before its own, as intermediate code at least.
        newest = {number: max((one for one in known if one <= number), default=None) for number in present}
        targets = sorted({one for one in newest.values() if one is not None})
        if not targets:
            return no(f"nvcc {toolkit['version']} does not compile for this machine's GPU")
        intermediate = {one for number, one in newest.items() if one not in (None, number)}
    elif asked in ("1", "on"):
        targets = [number for number in TARGETS if number in known]
    else:
        targets = sorted({int(number) for number in re.findall(r"\d+", asked)})
        unknown = [str(number) for number in targets if number not in known]
        if unknown:
            return no(f"nvcc {toolkit['version']} does not know {', '.join(unknown)}")
    if not targets:
        return no(f"nvcc {toolkit['version']} knows none of the supported GPUs")
    codes = [(number, f"sm_{number}") for number in targets]
    codes += [(number, f"compute_{number}") for number in sorted({*intermediate, targets[-1]})]
    gencode = [f"-gencode=arch=compute_{number},code={code}" for number, code in codes]
    names = [code for _, code in codes]
    return {
        "build": True,
        "required": required,
        "reason": None,
        "gencode": gencode,
        "targets": "+".join(names),
    }


def version():
    with open(os.path.join(ROOT, "package.json"), encoding="utf-8") as package:
        return json.load(package)["version"]


def sources(directory, extension=".cc"):
    """Relative to the root, where binding.gyp stands."""
    names = sorted(os.listdir(os.path.join(ROOT, directory)))
    return [f"{directory}/{name}" for name in names if name.endswith(extension)]


def everything():
    toolkit = nvcc()
    return {
        "version": version(),
        "compiler": compiler(),
        "nvcc": toolkit,
        "nvtx": nvtx(toolkit),
        "cudnn": cudnn(),
        "cuda": cuda(toolkit),
    }


def main(arguments):
    if arguments == ["nvtx-include"]:
        found = nvtx(nvcc())
        print(found["include"] if found else "")
    elif arguments == ["version"]:
        print(version())
    elif len(arguments) in (2, 3) and arguments[0] == "sources":
        print("\n".join(sources(*arguments[1:])))
    elif arguments == ["all"]:
        print(json.dumps(everything()))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except Missing as problem:
        sys.exit(f"detect.py: {problem}")
