#!/usr/bin/env python3
"""Checks the recorder's kernel times on a machine with a GPU, beside those of nsys and ncu. Needs no Node.js.

    python3 scripts/gpu-check-recorder.py [--out DIR] [--program-only] [-- PROGRAM ARGUMENT...]

Compiles native/region_recorder, runs the program (default: build/Release/shallow_resnet on cuda:0)
without a tool, under the recorder, under nsys and under ncu, and compares the mean time of each
kernel: the three must agree within 10 %, and the recorder and nsys on how often each ran. Kernels
under 5 microseconds may differ by half a microsecond. Prints a table, and what the recorder costs the
program; writes recordings, exports and the table to DIR (default: $OUT, else tmp/gpu-check-recorder).
Exit code 1 when times differ or nothing was recorded; a tool that is absent is named and left out.
"""

import argparse
import csv
import glob
import io
import os
import shutil
import sqlite3
import struct
import subprocess
import sys
import time
from collections import defaultdict

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MOST_SHARE = 0.10
MOST_NS = 500  # what clocks of a microsecond's grain may make of a short kernel
SHORT_NS = 5000


def run(command, env=None, seconds=280):
    began = time.monotonic()
    result = subprocess.run(
        command,
        env={**os.environ, **(env or {})},
        capture_output=True,
        text=True,
        errors="replace",
        timeout=seconds,
        check=False,
    )
    if result.returncode != 0:
        tail = (result.stdout + result.stderr)[-2000:]
        sys.exit(f"{' '.join(command)}\nended with code {result.returncode}:\n{tail}")
    return result, time.monotonic() - began


def build_recorder(out):
    library = os.path.join(out, "region_recorder.so")
    native = os.path.join(ROOT, "native")
    sources = glob.glob(f"{native}/region_recorder/*.cc") + glob.glob(f"{native}/region_recorder/gpu/*.cc")
    flags = "-std=gnu++17 -O2 -fPIC -shared -fno-exceptions -fno-rtti -fvisibility=hidden -DNVTX_OWN_CLIENT=1"
    compiler = os.environ.get("CXX", "g++").split()
    run([*compiler, *flags.split(), f"-I{native}", *sources, "-o", library, "-Wl,--as-needed", "-ldl", "-lpthread"])
    return library


# Record types of docs/recording-format.md.
TEXT, KERNEL, STATE, LOSS, DEMANGLED = 1, 65, 71, 72, 73


def read_recording(path):
    """Kernel times by name, and what the recorder says about them, from one .nvtxrec file."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:8] != b"\x89NVTXREC":
        sys.exit(f"{path} is no recording")
    at, = struct.unpack_from("<I", data, 16)
    claimed, = struct.unpack_from("<Q", data, 48)
    texts, demangled = {}, {}
    times, remarks = defaultdict(list), []
    kernels = []
    while at + 32 <= min(claimed, len(data)):
        _, size, stream, _, _, used, _ = struct.unpack_from("<IIIIQII", data, at)
        record, end = at + 32, at + 32 + used
        while record < end:
            head, = struct.unpack_from("<I", data, record)
            kind, flags, words = head & 0xFF, head >> 8 & 0xFF, head >> 16
            fields = struct.unpack_from(f"<{words - 1}I", data, record + 4)
            if kind == TEXT:
                begin = record + 12
                texts[stream, fields[0]] = data[begin : begin + fields[1]].decode(errors="replace")
            elif kind == DEMANGLED:
                demangled[texts[stream, fields[0]]] = texts[stream, fields[1]]
            elif kind == KERNEL:
                start, stop = fields[4] | fields[5] << 32, fields[6] | fields[7] << 32
                kernels.append((texts[stream, fields[8]], stop - start))
            elif kind == STATE:
                failed = f" FAILED: {texts[stream, fields[3]]}" if flags & 64 else ""
                remarks.append(f"CUPTI {fields[0]}, driver {fields[1]}, result {fields[2]}{failed}")
            elif kind == LOSS:
                remarks.append(f"{fields[1]} records lost, reason {fields[0]}")
            record += 4 * words
        at += size
    for name, ns in kernels:
        times[demangled.get(name, name)].append(ns)
    return times, remarks


def with_recorder(command, library, out):
    directory = os.path.join(out, "recorder")
    shutil.rmtree(directory, ignore_errors=True)
    env = {
        "NVTX_INJECTION64_PATH": library,
        "CUDA_INJECTION64_PATH": library,
        "HYDRACONF_RECORDER_DIR": directory,
    }
    _, seconds = run(command, env)
    times = defaultdict(list)
    for path in sorted(glob.glob(f"{directory}/*.nvtxrec")):
        of_process, remarks = read_recording(path)
        for remark in remarks:
            print(f"recorder: {os.path.basename(path)}: {remark}")
        for name, values in of_process.items():
            times[name] += values
    return times, seconds


def find_tool(name, pattern):
    return shutil.which(name) or (sorted(glob.glob(pattern)) or [None])[-1]


def with_nsys(command, out):
    nsys = find_tool("nsys", "/opt/nvidia/nsight-systems/*/bin/nsys")
    if nsys is None:
        return None
    report = os.path.join(out, "nsys")
    run([nsys, "profile", "--trace", "cuda,nvtx", "--sample", "none", "-f", "true", "-o", report, *command])
    run([nsys, "export", "--type", "sqlite", "-f", "true", "-o", f"{report}.sqlite", f"{report}.nsys-rep"])
    times = defaultdict(list)
    query = (
        "SELECT s.value, k.end - k.start FROM CUPTI_ACTIVITY_KIND_KERNEL k "
        "JOIN StringIds s ON s.id = k.demangledName"
    )
    with sqlite3.connect(f"{report}.sqlite") as database:
        for name, ns in database.execute(query):
            times[name].append(ns)
    return times


def with_ncu(command, out):
    ncu = find_tool("ncu", "/opt/nvidia/nsight-compute/*/ncu")
    if ncu is None:
        return None
    report = os.path.join(out, "ncu")
    options = ["--config-file", "off", "-f", "-o", report, "--target-processes", "all"]
    # As the other two see the kernels: at the GPU's own clock, with what the caches hold.
    options += ["--clock-control", "none", "--cache-control", "none", "--metrics", "gpu__time_duration.sum"]
    run([ncu, *options, *command])
    printing = ["--csv", "--page", "raw", "--print-units", "base", "--print-kernel-base", "demangled"]
    table, _ = run([ncu, "--import", f"{report}.ncu-rep", *printing], {"LC_ALL": "C.UTF-8"})
    lines = [line for line in table.stdout.splitlines() if line.startswith('"')]
    rows = list(csv.DictReader(io.StringIO("\n".join(lines))))
    times = defaultdict(list)
    for row in rows:
        if row["ID"]:  # the first row holds the units
            times[row["Kernel Name"]].append(float(row["gpu__time_duration.sum"].replace(",", "")))
    return times


def same_name(name):
    """Tools differ in blanks, and in `void ` and parameters."""
    name = name.replace("(anonymous namespace)", "anonymous").replace("<unnamed>", "anonymous")
    depth, cut = 0, len(name)
    for place, letter in enumerate(name):
        depth += (letter == "<") - (letter == ">")
        if letter == "(" and depth == 0:
            cut = place
            break
    return name[:cut].removeprefix("void ").replace(" ", "")


def by_same_name(times):
    merged = defaultdict(list)
    for name, values in (times or {}).items():
        merged[same_name(name)] += values
    return merged


def mean(values):
    return sum(values) / len(values)


def agree(ours, theirs):
    most = max(MOST_SHARE * theirs, MOST_NS if theirs < SHORT_NS else 0)
    return abs(ours - theirs) <= most


def compare(recorder, others):
    """Lines of a table, and how many of them show a difference."""
    lines, differences = [], 0
    for name in sorted(recorder, key=lambda one: -sum(recorder[one])):
        ours = mean(recorder[name])
        cells = [f"{len(recorder[name]):7} {ours / 1e3:10.2f}"]
        problems = []
        for tool, times in others.items():
            if name not in times:
                cells.append(f"{'-':>7} {'-':>10}")
                problems.append(f"not in {tool}")
                continue
            theirs = mean(times[name])
            cells.append(f"{len(times[name]):7} {theirs / 1e3:10.2f}")
            if not agree(ours, theirs):
                problems.append(f"{100 * (ours / theirs - 1):+.1f} % beside {tool}")
            if tool == "nsys" and len(times[name]) != len(recorder[name]):
                problems.append("counts differ")
        differences += bool(problems)
        verdict = "; ".join(problems) or ("ok" if others else "not compared")
        lines.append(f"{'  '.join(cells)}  {name[:60]:60} {verdict}")
    for tool, times in others.items():
        for name in times.keys() - recorder.keys():
            differences += 1
            lines.append(f"{tool} alone has {name}")
    return lines, differences


def main():
    arguments = sys.argv[1:]
    command = []
    if "--" in arguments:
        at = arguments.index("--")
        arguments, command = arguments[:at], arguments[at + 1 :]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    default_out = os.environ.get("OUT") or os.path.join(ROOT, "tmp", "gpu-check-recorder")
    parser.add_argument("--out", default=default_out)
    parser.add_argument("--program-only", action="store_true", help="do not run nsys and ncu")
    options = parser.parse_args(arguments)
    if not command:
        program = os.path.join(ROOT, "build", "Release", "shallow_resnet")
        command = [program, "--device", "cuda:0", "--program", "regions", "--warmup", "3"]
    os.makedirs(options.out, exist_ok=True)

    _, plain_seconds = run(command)
    recorded, recorded_seconds = with_recorder(command, build_recorder(options.out), options.out)
    recorder = by_same_name(recorded)
    others = {}
    for tool, measure in (("nsys", with_nsys), ("ncu", with_ncu)):
        times = None if options.program_only else measure(command, options.out)
        if times is None:
            print(f"{tool}: {'not asked for' if options.program_only else 'not installed, left out'}")
        else:
            others[tool] = by_same_name(times)

    lines, differences = compare(recorder, others)
    tools = ["recorder", *others]
    head = "  ".join(f"{tool:>18}" for tool in tools)
    lines = [head, "  ".join(["  calls    mean us"] * len(tools)), *lines]
    lines.append(f"the program took {plain_seconds:.2f} s alone, {recorded_seconds:.2f} s under the recorder")
    table = "\n".join(lines)
    print(table)
    with open(os.path.join(options.out, "table.txt"), "w", encoding="utf-8") as file:
        file.write(f"{' '.join(command)}\n\n{table}\n")
    if not recorder:
        sys.exit("the recorder has no kernels")
    if differences:
        sys.exit(f"{differences} kernels differ")


if __name__ == "__main__":
    main()
