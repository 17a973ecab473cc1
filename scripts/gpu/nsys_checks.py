"""What nsys records of programs that number their ranges, and of CUDA graphs; its exports are for tests to keep."""

import os

from gpu.build import ROOT
from gpu.cases import EMIT_NVTX_PROGRAM, GRAPH_KERNELS
from gpu.nsys import KERNELS, all_nsys, count, keep_for_tests, ranges_named, record
from gpu.report import Failed, Skipped
from gpu.run import find_torch


def nsys_checks(bench):
    yield "emit_nvtx of PyTorch", lambda: check_emit_nvtx(bench.out)
    yield "replays of a CUDA graph", lambda: check_graphs(bench.cases(), bench.out)


def check_emit_nvtx(out):
    """`deep-profile import --labels pytorch` of the export then shows the regions."""
    if not all_nsys():
        raise Skipped("no nsys")
    if find_torch() is None:
        raise Skipped("no torch")
    export = record(["python3", EMIT_NVTX_PROGRAM], os.path.join(out, "nsys-emit-nvtx"), seconds=90, cwd=ROOT)
    kernels = count(export, f"SELECT count(*) FROM {KERNELS}")
    numbered, steps = ranges_named(export, "%, seq = %"), ranges_named(export, "train_step")
    keep_for_tests(export)
    if not numbered or not steps:
        raise Failed(f"{kernels} kernels, {numbered} numbered ranges, {steps} steps")
    return f"{kernels} kernels, {numbered} numbered ranges"


def check_graphs(cases, out):
    """Each kernel of a graph that is launched, not the graph as a whole."""
    if not all_nsys():
        raise Skipped("no nsys")
    report = os.path.join(out, "nsys-graph")
    export = record([cases, "graph"], report, ("--cuda-graph-trace", "node"))
    keep_for_tests(export)
    kernels = count(export, f"SELECT count(*) FROM {KERNELS}")
    if kernels != GRAPH_KERNELS:
        raise Failed(f"{kernels} kernels of {GRAPH_KERNELS}")
    return f"{kernels} kernels"
