"""What the GPU computes: beside PyTorch's golden data, the CPU backend, and the PyTorch of this machine."""

import json
import os
import time

from gpu.build import ROOT
from gpu.program import ODD, SPEED, TOLERANCE, sizes_flags, sizes_text, variants
from gpu.report import Failed, Skipped
from gpu.run import run
from gpu.tensors import relative_error, strict_error, within

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
                yield "golden", what, lambda a=arguments: check_golden(program, *a)


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
        yield "odd", what, lambda s=sizes, m=mode: check_odd(program, s, m)


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
        *("failures", f"{name}: no such GPU"),
        lambda: check_failure(program, ["--device", "cuda:99"], "there is no such GPU"),
    )
    # 4 x 256 GiB of activations, which no GPU has, with an input that the host has.
    huge = [*sizes_flags(512, 1, 1024, 1, 360), "--seed", 1]
    yield (
        *("failures", f"{name}: out of memory"),
        lambda: check_failure(program, huge, "not enough free memory"),
    )


def check_failure(program, args, words):
    result = run([program.path, *program.gpu, *args], check=False, log=program.log)
    lines = result.stderr.strip().split("\n")
    if result.returncode != 1 or len(lines) != 1 or words not in lines[0]:
        raise Failed(f"exit {result.returncode}: {result.stderr[-600:]}")
    return lines[0]


def torch_checks(program):
    for sizes in SPEED:
        what = f"{program.library} {sizes_text(sizes)}"
        yield "torch", what, lambda s=sizes: check_torch(program, s)


def torch_network(torch, tensors, blocks):
    functional = torch.nn.functional

    def norm(x, name):
        return functional.batch_norm(
            x,
            tensors[f"{name}.running_mean"],
            tensors[f"{name}.running_var"],
            tensors[f"{name}.weight"],
            tensors[f"{name}.bias"],
        )

    def conv(x, name):
        return functional.conv2d(x, tensors[f"{name}.weight"], tensors[f"{name}.bias"], padding=1)

    def forward(x):
        x = norm(conv(x, "stem.0"), "stem.1").relu()
        for i in range(blocks):
            y = norm(conv(x, f"blocks.{i}.conv1"), f"blocks.{i}.bn1").relu()
            y = norm(conv(y, f"blocks.{i}.conv2"), f"blocks.{i}.bn2")
            x = (x + y).relu()
        return functional.linear(x.mean((2, 3)), tensors["head.2.weight"], tensors["head.2.bias"])

    return forward


def check_torch(program, sizes):
    try:
        import torch
        from safetensors.torch import load_file, save_file
    except ImportError as missing:
        raise Skipped(str(missing)) from missing
    if not torch.cuda.is_available():
        raise Skipped("torch sees no GPU")
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    batch, inputs, _, blocks, image = sizes
    weights = os.path.join(program.folder, "torch-weights.safetensors")
    source = os.path.join(program.folder, "torch-input.safetensors")
    flags = [*sizes_flags(*sizes), "--warmup", 5, "--iterations", 20]
    torch.manual_seed(1)
    x = torch.randn(batch, inputs, image, image)
    save_file({"x": x}, source)
    program.document([*flags, *program.gpu, "--save-weights", weights])
    forward = torch_network(torch, {name: value.cuda() for name, value in load_file(weights).items()}, blocks)
    on_gpu = x.cuda()
    with torch.inference_mode():
        for _ in range(5):
            wanted = forward(on_gpu)
        torch.cuda.synchronize()
        times = []
        for _ in range(20):
            begin = time.perf_counter()
            forward(on_gpu)
            torch.cuda.synchronize()
            times.append((time.perf_counter() - begin) * 1e3)
    actual, document = program.tensors(
        [*flags, *program.gpu, "--weights", weights, "--input", source], activations=False
    )
    error = within(relative_error(actual["logits"], wanted.flatten().tolist()), 1e-4)
    return f"{error}; {document['timings_ms']['median']:.3f} ms, torch {sorted(times)[10]:.3f} ms"
