"""Builds shallow_resnet with one library, as binding.gyp does, without Node.js.

Warnings are counted, not refused: a newer compiler than ours is no reason to learn nothing.
"""

import functools
import hashlib
import os
import sys

from gpu.report import Skipped
from gpu.run import run
from gpu.together import together

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NATIVE = os.path.join(ROOT, "native")

sys.path.insert(0, NATIVE)
from detect import sources  # noqa: E402
from detection.cudnn import find_cudnn, site_packages  # noqa: E402
from detection.gpu_backend import plan_gpu_backend  # noqa: E402
from detection.toolkit import find_nvcc  # noqa: E402

FOLDERS = ("common", "shallow_resnet", "shallow_resnet/cpu", "shallow_resnet/cuda")


def build(library, folder, log):
    """The program, and what it was built for. Skipped where this machine lacks what it needs."""
    toolkit = find_nvcc()
    if toolkit is None:
        raise Skipped("no nvcc")
    plan = plan_gpu_backend(toolkit)
    if not plan["build"]:
        raise Skipped(plan["reason"])
    flags = [
        *["-std=gnu++17", "-O3", "-fPIC", "-pthread", "-Wall", "-Wextra", f"-I{NATIVE}"],
        f"-isystem{toolkit['include']}",
        "-DHYDRACONF_CUDA=1",
        f'-DHYDRACONF_CUDA_TARGETS="{plan["targets"]}"',
    ]
    link = [os.path.join(toolkit["library"], "libcudart_static.a"), "-lrt", "-ldl", "-lpthread"]
    folders = list(FOLDERS)
    version = ""
    if library == "cudnn":
        found = find_cudnn(toolkit)
        if found is None or found["unusable"]:
            raise Skipped("no cuDNN" if found is None else found["unusable"])
        version = f", cuDNN {found['version']}"
        flags += ["-DHYDRACONF_CUDNN=1", f"-isystem{found['include']}"]
        folders.append("shallow_resnet/cudnn")
        link += [
            os.path.join(found["library"], "libcudnn.so.9"),
            "-Wl,--disable-new-dtags",
            *[f"-Wl,-rpath,{place}" for place in [*found["search"], toolkit["library"]]],
        ]
    else:
        flags.append("-DHYDRACONF_CUDNN=0")
    os.makedirs(folder, exist_ok=True)
    commands = compilations(flags, folders, plan, toolkit, folder)
    program = os.path.join(folder, "shallow_resnet")
    linking = ["g++", "-pthread", *[command[-1] for command in commands], "-o", program, *link]
    what = f"{plan['targets']}, nvcc {toolkit['version']}{version}"
    # Another command on the same machine may have built just this (--place).
    mark = os.path.join(folder, "built-from")
    key = fingerprint([*commands, linking], folders)
    if os.path.exists(program) and read_text(mark) == key:
        return program, f"{what}, as built before"
    compiling = [functools.partial(run, command, 400, log=log) for command in commands]
    results = together(compiling, os.cpu_count())
    run(linking, log=log)
    with open(mark, "w", encoding="utf-8") as file:
        file.write(key)
    warnings = sum(result.stderr.count("warning:") for result in results)
    return program, f"{what}, {warnings} warnings"


def fingerprint(commands, folders):
    """Of the commands and of all that they can read of ours."""
    text = hashlib.sha256(repr(commands).encode())
    for folder in [*folders, "shallow_resnet/cuda", "nvtx"]:
        for name in sorted(os.listdir(os.path.join(NATIVE, folder))):
            path = os.path.join(NATIVE, folder, name)
            if os.path.isfile(path):
                with open(path, "rb") as file:
                    text.update(file.read())
    return text.hexdigest()


def read_text(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError:
        return None


def compilations(flags, folders, plan, toolkit, folder):
    def to_object(source):
        return ["-o", os.path.join(folder, source.replace("/", "_") + ".o")]

    commands = []
    for source in sources("native/shallow_resnet/cuda", ".cu"):
        command = [toolkit["path"], "-c", "-std=c++17", "-O3", "-lineinfo", f"-I{NATIVE}", "--threads=0"]
        command += ["-Xcompiler=-fPIC", *plan["gencode"], os.path.join(ROOT, source)]
        commands.append([*command, *to_object(source)])
    for source_folder in folders:
        for source in sources(os.path.join("native", source_folder)):
            commands.append(["g++", *flags, "-c", os.path.join(ROOT, source), *to_object(source)])
    return commands
