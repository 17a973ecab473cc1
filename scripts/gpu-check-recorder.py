#!/usr/bin/env python3
"""Checks the recorder's kernel times on a machine with a GPU, beside those of nsys and ncu. Needs no Node.js.

    python3 scripts/gpu-check-recorder.py [--out DIR] [--library FILE] [--program-only] [-- PROGRAM ARGUMENT...]

Compiles native/region_recorder (or takes the library given), runs the program (default:
build/Release/shallow_resnet on cuda:0) without a tool, under the recorder, under nsys and under ncu,
and compares the median time of each kernel: the three must agree within 10 %, and the recorder and nsys
on how often each ran. Kernels under 5 microseconds may differ by half a microsecond. Kernels must begin
after their launches. Prints a table, and what the recorder costs the program; writes recordings, exports
and the table to DIR (default: $OUT, else tmp/gpu-check-recorder). Exit code 1 when times differ or nothing
was recorded; a tool that is absent or fails is named and left out.
"""

import argparse
import csv
import glob
import io
import os
import re
import shutil
import sqlite3
import statistics
import struct
import sys
from collections import defaultdict

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "scripts"))

from gpu.nsys import keep_for_tests, record as record_with_nsys  # noqa: E402
from gpu.recorder import build_recorder  # noqa: E402
from gpu.report import Failed, first_line  # noqa: E402
from gpu.run import find_ncu, knows_option, run as run_program  # noqa: E402

MOST_SHARE = 0.10
MOST_NS = 500  # what clocks of a microsecond's grain may make of a short kernel
SHORT_NS = 5000


def run(command, env=None, seconds=60, log=None):
    """Raises Failed, with the program's own words."""
    return run_program(command, seconds, env=env, log=log)


# Record types of docs/recording-format.md.
TEXT, TIME, LAUNCH, KERNEL, CLOCK, STATE, LOSS, DEMANGLED = 1, 4, 64, 65, 70, 71, 72, 73

# A kernel begins after the call that launches it: by so much may clocks be apart, and so long may it wait. Clocks
# that are not lined up at all are decades apart.
MOST_EARLY_NS = 1_000_000
MOST_LATE_NS = 60_000_000_000


def read_recording(path):
    """Kernel times by name, what the recorder says about them, and how long after their launches they began."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:8] != b"\x89NVTXREC":
        sys.exit(f"{path} is no recording")
    at, = struct.unpack_from("<I", data, 16)
    claimed, = struct.unpack_from("<Q", data, 48)
    unwritten, = struct.unpack_from("<Q", data, 88)
    texts, demangled = {}, {}
    times, remarks = defaultdict(list), []
    kernels, launches, starts, clock = [], {}, [], None
    while at + 32 <= min(claimed, len(data)):
        _, size, stream, _, base, used, _ = struct.unpack_from("<IIIIQII", data, at)
        record, end = at + 32, at + 32 + used
        while record < end:
            head, = struct.unpack_from("<I", data, record)
            kind, flags, words = head & 0xFF, head >> 8 & 0xFF, head >> 16
            fields = struct.unpack_from(f"<{words - 1}I", data, record + 4)
            if kind == TEXT:
                begin = record + 12
                texts[stream, fields[0]] = data[begin : begin + fields[1]].decode(errors="replace")
            elif kind == TIME:
                base = fields[0] | fields[1] << 32
            elif kind == LAUNCH:
                launches[fields[1]] = base + fields[0]
            elif kind == CLOCK and clock is None:
                clock = (fields[2] | fields[3] << 32) - (fields[0] | fields[1] << 32)
            elif kind == DEMANGLED:
                demangled[texts[stream, fields[0]]] = texts[stream, fields[1]]
            elif kind == KERNEL:
                start, stop = fields[4] | fields[5] << 32, fields[6] | fields[7] << 32
                kernels.append((texts[stream, fields[8]], stop - start))
                starts.append((fields[0], start))
            elif kind == STATE:
                failed = f" FAILED: {texts[stream, fields[3]]}" if flags & 64 else ""
                remarks.append(f"CUPTI {fields[0]}, driver {fields[1]}, result {fields[2]}{failed}")
            elif kind == LOSS:
                remarks.append(f"{fields[1]} records lost, reason {fields[0]}")
            record += 4 * words
        at += size
    if unwritten > 0:
        remarks.append(f"{unwritten} records lost, no room")
    for name, ns in kernels:
        times[demangled.get(name, name)].append(ns)
    # Without samples of it, the GPU's clock is ours.
    waits = [start + (clock or 0) - launches[call] for call, start in starts if call in launches]
    return times, remarks, waits


def with_recorder(command, library, out):
    directory = os.path.join(out, "recorder")
    shutil.rmtree(directory, ignore_errors=True)
    env = {
        "NVTX_INJECTION64_PATH": library,
        "CUDA_INJECTION64_PATH": library,
        "HYDRACONF_RECORDER_DIR": directory,
    }
    seconds = run(command, env).seconds
    times = defaultdict(list)
    waits = []
    for path in sorted(glob.glob(f"{directory}/*.nvtxrec")):
        of_process, remarks, waited = read_recording(path)
        waits += waited
        for remark in remarks:
            print(f"recorder: {os.path.basename(path)}: {remark}")
        for name, values in of_process.items():
            times[name] += values
    if not waits:
        return times, seconds, True
    first, middle = min(waits), statistics.median(waits)
    print(f"recorder: kernels begin {middle / 1e3:.1f} us after their launch, the first {first / 1e3:.1f} us")
    return times, seconds, first >= -MOST_EARLY_NS and middle <= MOST_LATE_NS


def with_nsys(command, out):
    export = record_with_nsys(command, os.path.join(out, "nsys"))
    keep_for_tests(export)
    times = defaultdict(list)
    query = (
        "SELECT s.value, k.end - k.start FROM CUPTI_ACTIVITY_KIND_KERNEL k "
        "JOIN StringIds s ON s.id = k.demangledName"
    )
    with sqlite3.connect(export) as database:
        for name, ns in database.execute(query):
            times[name].append(ns)
    return times


def with_ncu(command, out):
    ncu = find_ncu()
    if ncu is None:
        raise Failed("not installed")
    report = os.path.join(out, "ncu")
    options = ["--config-file", "off", "-f", "-o", report, "--target-processes", "all"]
    # As the other two see the kernels: at the GPU's own clock, with what the caches hold.
    options += ["--clock-control", "none", "--cache-control", "none", "--metrics", "gpu__time_duration.sum"]
    # Of libraries that it knows, a newer one shortens names.
    if knows_option(ncu, "--rename-kernels"):
        options += ["--rename-kernels", "off"]
    run([ncu, *options, *command], seconds=100, log=f"{report}.log")
    printing = ["--csv", "--page", "raw", "--print-units", "base", "--print-kernel-base", "demangled"]
    table = run([ncu, "--import", f"{report}.ncu-rep", *printing], {"LC_ALL": "C.UTF-8"})
    lines = [line for line in table.stdout.splitlines() if line.startswith('"')]
    rows = list(csv.DictReader(io.StringIO("\n".join(lines))))
    times = defaultdict(list)
    for row in rows:
        if row["ID"]:  # the first row holds the units
            times[row["Kernel Name"]].append(float(row["gpu__time_duration.sum"].replace(",", "")))
    return times


def same_name(name):
    """What all tools' demanglers agree on, as src/report/selection/kernel-pattern.ts has it."""
    name = name.replace("(anonymous namespace)", "{anonymous}").replace("<unnamed>", "{anonymous}")
    name = name.replace("{lambda", "[lambda")
    name = re.sub(r"#(\d+)\}", r"#\1]", name)
    name = re.sub(r" \(instance (\d+)\)\]", r"#\1]", name)
    name = re.sub(r"\([A-Za-z_][\w: ]*\)(?=-?\d)", "", name)
    name = re.sub(r"\b(\d+)(?:ull|ul|u|ll|l)\b", r"\1", name)
    name = re.sub(r"\bconst\b", "", re.sub(r"\bfalse\b", "0", re.sub(r"\btrue\b", "1", name)))
    depth, left = 0, ""
    for letter in name:
        depth = max(0, depth + (letter == "(") - (letter == ")"))
        left += letter if depth == 0 and letter != ")" else ""
    left = re.sub(r"^(?:[\w:]+ )+(?=\S)", "", re.sub(r"\bvoid (?=[\w{:])", "", left))
    return re.sub(r"\s+", "", left)


def by_same_name(times):
    merged = defaultdict(list)
    for name, values in (times or {}).items():
        merged[same_name(name)] += values
    return merged


def agree(ours, theirs):
    most = max(MOST_SHARE * theirs, MOST_NS if theirs < SHORT_NS else 0)
    return abs(ours - theirs) <= most


def compare(recorder, others):
    """Lines of a table, and how many of them show a difference."""
    lines, differences = [], 0
    for name in sorted(recorder, key=lambda one: -sum(recorder[one])):
        ours = statistics.median(recorder[name])
        cells = [f"{len(recorder[name]):7} {ours / 1e3:10.2f}"]
        problems = []
        for tool, times in others.items():
            if name not in times:
                cells.append(f"{'-':>7} {'-':>10}")
                problems.append(f"not in {tool}")
                continue
            theirs = statistics.median(times[name])
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
    parser.add_argument("--library", help="a recorder that is built already")
    parser.add_argument("--program-only", action="store_true", help="do not run nsys and ncu")
    options = parser.parse_args(arguments)
    if not command:
        program = os.path.join(ROOT, "build", "Release", "shallow_resnet")
        command = [program, "--device", "cuda:0", "--program", "regions", "--warmup", "3"]
    os.makedirs(options.out, exist_ok=True)
    try:
        return check(options, command)
    except Failed as problem:
        sys.exit(str(problem))


def check(options, command):
    library = options.library
    if library is None:
        library = os.path.join(options.out, "region_recorder.so")
        build_recorder(library)
    plain_seconds = run(command).seconds
    recorded, recorded_seconds, lined_up = with_recorder(command, library, options.out)
    recorder = by_same_name(recorded)
    others = measure_with_tools(options, command)

    lines, differences = compare(recorder, others)
    tools = ["recorder", *others]
    head = "  ".join(f"{tool:>18}" for tool in tools)
    lines = [head, "  ".join(["  calls  median us"] * len(tools)), *lines]
    lines.append(
        f"{len(recorder)} kernels, {differences} differ; "
        f"the program took {plain_seconds:.2f} s alone, {recorded_seconds:.2f} s under the recorder"
    )
    table = "\n".join(lines)
    print(table)
    with open(os.path.join(options.out, "table.txt"), "w", encoding="utf-8") as file:
        file.write(f"{' '.join(command)}\n\n{table}\n")
    if not recorder:
        raise Failed("the recorder has no kernels")
    if not lined_up:
        raise Failed("the GPU's clock is not lined up with ours")
    if differences:
        raise Failed(f"{differences} kernels differ")


def measure_with_tools(options, command):
    """Times by tool, of those that work here."""
    others = {}
    for tool, measure in (("ncu", with_ncu), ("nsys", with_nsys)):
        if options.program_only:
            print(f"{tool}: not asked for, left out")
            continue
        try:
            others[tool] = by_same_name(measure(command, options.out))
        except (Failed, OSError, sqlite3.Error) as problem:
            print(f"{tool}: {first_line(problem)}, left out")
    return others


if __name__ == "__main__":
    main()
