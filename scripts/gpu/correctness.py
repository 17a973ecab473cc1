"""What the GPU computes: beside PyTorch's golden data, the CPU backend, and the PyTorch of this machine."""

import json
import os
import sys

from gpu.build import ROOT
from gpu.driver import make_old_driver
from gpu.program import ODD, SPEED, TOLERANCE, sizes_flags, sizes_text, variants, warm_up_passes
from gpu.report import Failed, Skipped, first_line
from gpu.recorder import longest_kernels
from gpu.run import TookTooLong, complaint, run
from gpu.tensors import relative_error, strict_error, within
from gpu.torch_reference import NO_TORCH

GOLDEN = os.path.join(ROOT, "tests", "fixtures", "golden", "shallow_resnet")


def check_runs(program):
    """Whether it runs at all: where it does not, or hangs, no other check is worth its time."""
    sizes = sizes_flags(1, 1, 1, 1, 8)
    result = run([program.path, *program.gpu, *sizes], 60, log=program.log)
    return f"{result.seconds:.1f} s, most of it CUDA's and the library's start"


def golden_checks(program):
    for variant, flags, tolerance in variants(program.library):
        for mode in ("running", "batch"):
            for graph in ([], ["--cuda-graph"]):
                what = f"{program.library} {variant} {mode}{' graph' if graph else ''}"
                arguments = ([*flags, *graph], mode, tolerance)
                yield what, lambda a=arguments: check_golden(program, *a)


def check_golden(program, flags, mode, tolerance):
    with open(os.path.join(GOLDEN, "expected.json"), encoding="utf-8") as file:
        expected = json.load(file)["batch_norm"][mode]
    tensors, document = program.tensors(
        [
            *[*program.gpu, *flags, "--batch-norm", mode, "--warmup", 1, "--iterations", 3],
            *["--weights", os.path.join(GOLDEN, "weights.safetensors")],
            *["--input", os.path.join(GOLDEN, "input.safetensors")],
        ],
    )
    wanted = [value for row in expected["logits"] for value in row]
    if not document["backend"]["library"].startswith(program.library):
        raise Failed(f"ran with {document['backend']['library']}")
    if tolerance != "float32":
        return within(relative_error(tensors["logits"], wanted), TOLERANCE[tolerance])
    errors = [strict_error(tensors["logits"], wanted)]
    for stage in ("stem", "residual"):
        errors.append(strict_error(tensors[stage][:16], expected[stage]["first"]))
    # max() would lose a NaN that does not come first.
    worst = [within(error, TOLERANCE["float32"]) for error in errors]
    return f"{worst[0]}, {document['timings_ms']['median']:.3f} ms"


def odd_checks(program):
    for sizes in ODD:
        mode = "running" if sizes[4] == 1 else "batch"
        what = f"{program.library} {sizes_text(sizes)} {mode}"
        yield what, lambda s=sizes, m=mode: check_odd(program, s, m)


def check_odd(program, sizes, mode):
    common = [*sizes_flags(*sizes), "--batch-norm", mode, "--seed", 7]
    wanted, _ = program.tensors(common)
    actual, _ = program.tensors([*common, *program.gpu])
    # Against float32 of another order of sums, not against exact values: relative to the scale.
    return "; ".join(
        f"{name}: {within(relative_error(actual[name], wanted[name]), 1e-4)}" for name in sorted(wanted)
    )


def failure_checks(program):
    name = program.library
    yield (
        f"{name}: no such GPU",
        lambda: check_failure(program, ["--device", "cuda:99"], "there is no such GPU"),
    )
    yield (
        f"{name}: driver older than the toolkit",
        lambda: check_failure(program, [], "the NVIDIA driver is too old", {"LD_LIBRARY_PATH": old_driver(program)}),
    )
    # 4 x 256 GiB of activations, which no GPU has, with an input that the host has.
    huge = [*sizes_flags(512, 1, 1024, 1, 360), "--seed", 1]
    yield (
        f"{name}: out of memory",
        lambda: check_failure(program, huge, "not enough free memory"),
    )


def old_driver(program):
    """Before whatever is there: that may be where the libraries are."""
    others = os.environ.get("LD_LIBRARY_PATH")
    folder = make_old_driver(program.folder)
    return f"{folder}:{others}" if others else folder


def check_failure(program, args, words, env=None):
    result = run([program.path, *program.gpu, *args], check=False, env=env, log=program.log)
    lines = result.stderr.strip().split("\n")
    if result.returncode != 1 or len(lines) != 1 or words not in lines[0]:
        raise Failed(f"exit {result.returncode}: {result.stderr[-600:]}")
    return lines[0]


def torch_checks(program, library, out):
    for sizes in SPEED:
        what = f"{program.library} {sizes_text(sizes)}"
        yield what, lambda s=sizes: check_torch(program, s, library, out)


TORCH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch_reference.py")
TORCH_SECONDS = 60
# By sizes: what torch computed, from files that every library's program is given.
_references = {}
_torch_problem = None


# The bar for cuDNN: no slower than PyTorch, which calls it, too.
MOST_OF_TORCH = 1.0


def check_torch(program, sizes, library, out):
    reference = torch_reference(program, sizes)
    flags = [*sizes_flags(*sizes), "--warmup", warm_up_passes(sizes), "--iterations", 60]
    files = ["--weights", reference["weights"], "--input", reference["input"]]
    args = [*flags, *program.gpu, *files]
    actual, document = program.tensors(args, activations=False)
    error = within(relative_error(actual["logits"], reference["logits"]), 1e-4)
    ms = document["timings_ms"]["median"]
    is_judged = program.library == "cudnn"
    if is_judged and ms > MOST_OF_TORCH * reference["ms"]:
        ms = min(ms, program.document(args)["timings_ms"]["median"])
    share = ms / reference["ms"]
    detail = f"{error}; {ms:.3f} ms, torch {reference['ms']:.3f} ms: {share:.2f} of it"
    if not is_judged or share <= MOST_OF_TORCH:
        return detail
    kernels = []
    for name, command in {"ours": [program.path, *args], "torch": reference["command"]}.items():
        folder = os.path.join(out, f"torch-{sizes_text(sizes)}", name)
        kernels.append(f"{name}: {longest_kernels(command, library, folder)}")
    raise Failed("\n".join([detail, *kernels]))


def torch_reference(program, sizes):
    """Computed once, in a process of its own: it can hang. Not asked again where it did, or where there is none."""
    global _torch_problem
    if sizes in _references:
        return _references[sizes]
    if _torch_problem is not None:
        raise Skipped(_torch_problem)
    path = os.path.join(program.folder, f"torch-{sizes_text(sizes)}")
    reference = {"weights": f"{path}-weights.safetensors", "input": f"{path}-input.safetensors"}
    program.document([*sizes_flags(*sizes), *program.gpu, "--save-weights", reference["weights"]])
    command = [sys.executable, TORCH, *sizes, reference["weights"], reference["input"], f"{path}.json"]
    reference["command"] = command
    try:
        # None of the modules beside it may be taken for one that torch imports.
        result = run(command, TORCH_SECONDS, {"PYTHONSAFEPATH": "1"}, check=False, log=program.log)
    except TookTooLong as problem:
        _torch_problem = first_line(problem)
        raise
    if result.returncode == NO_TORCH:
        _torch_problem = complaint(result)
        raise Skipped(_torch_problem)
    if result.returncode != 0:
        raise Failed(f"exit {result.returncode}: {complaint(result)}\n{result.stderr[-3000:]}")
    with open(f"{path}.json", encoding="utf-8") as file:
        reference.update(json.load(file))
    _references[sizes] = reference
    return reference
