"""The network by PyTorch, without TF32: a program of its own, since nobody knows how long it takes to start.

    python3 torch_reference.py BATCH INPUTS BASE BLOCKS IMAGE WEIGHTS INPUT RESULT

Reads WEIGHTS, writes INPUT (safetensors, both) and RESULT (JSON: logits, and the median time of a pass in ms,
the best of three).
"""

import json
import sys
import time

# Exit code where there is no PyTorch, or it sees no GPU.
NO_TORCH = 77
# Until then an idle GPU's clock rises.
WARM_UP_SECONDS = 0.5


def network(functional, tensors, blocks):
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


def main(arguments):
    batch, inputs, _, blocks, image = map(int, arguments[:5])
    weights, source, target = arguments[5:]
    try:
        import torch
        from safetensors.torch import load_file, save_file
    except ImportError as missing:
        return no_torch(str(missing))
    if not torch.cuda.is_available():
        return no_torch("torch sees no GPU")
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.manual_seed(1)
    x = torch.randn(batch, inputs, image, image)
    save_file({"x": x}, source)
    tensors = {name: value.cuda() for name, value in load_file(weights).items()}
    forward = network(torch.nn.functional, tensors, blocks)
    on_gpu = x.cuda()
    with torch.inference_mode():
        logits = forward(on_gpu)
        torch.cuda.synchronize()
        begin = time.perf_counter()
        while time.perf_counter() - begin < WARM_UP_SECONDS:
            forward(on_gpu)
            torch.cuda.synchronize()
        medians = [median_ms(lambda: forward(on_gpu), torch.cuda.synchronize) for _ in range(3)]
    with open(target, "w", encoding="utf-8") as file:
        json.dump({"logits": logits.flatten().tolist(), "ms": min(medians)}, file)
    return 0


def median_ms(forward, synchronize):
    times = []
    for _ in range(20):
        begin = time.perf_counter()
        forward()
        synchronize()
        times.append((time.perf_counter() - begin) * 1e3)
    return sorted(times)[10]


def no_torch(why):
    print(why, file=sys.stderr)
    return NO_TORCH


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
