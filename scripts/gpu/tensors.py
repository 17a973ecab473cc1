"""safetensors files of float32, and how far two tensors are apart. numpy where there is one, for speed."""

import array
import json
import struct
import sys

from gpu.report import Failed

try:
    import numpy
except ImportError:
    numpy = None


def read_tensors(path):
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
        data = file.read()
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        tensors[name] = floats(data[begin:end])
    return tensors


def floats(data):
    if numpy is not None:
        return numpy.frombuffer(data, dtype="<f4")
    values = array.array("f", data)
    if sys.byteorder == "big":
        values.byteswap()
    return values


def strict_error(actual, wanted):
    """The project's bar for float32: at most 1e-4 of max(0.01, |wanted|), for every value."""
    return worst_error(actual, wanted, lambda value: max(0.01, abs(value)))


def relative_error(actual, wanted):
    """Of the largest value."""
    scale = max(abs(float(value)) for value in wanted) if numpy is None else float(numpy.abs(wanted).max())
    return worst_error(actual, wanted, lambda _: scale, scale)


def worst_error(actual, wanted, scale_of, scale=None):
    """NaN where a value is one: it is within no limit."""
    if len(actual) != len(wanted):
        raise Failed(f"{len(actual)} values for {len(wanted)}")
    if numpy is not None:
        a = numpy.asarray(actual, dtype="f8")
        b = numpy.asarray(wanted, dtype="f8")
        by = numpy.maximum(0.01, numpy.abs(b)) if scale is None else scale
        return float((numpy.abs(a - b) / by).max())
    worst = 0.0
    for a, b in zip(actual, wanted):
        error = abs(a - b) / scale_of(b)
        if not error <= worst:
            worst = error
        if worst != worst:
            return worst
    return worst


def within(error, limit):
    if not error <= limit:
        raise Failed(f"error {error:.3g} is more than {limit:g}")
    return f"error {error:.2g}"
