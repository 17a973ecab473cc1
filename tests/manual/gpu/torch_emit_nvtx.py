"""A training step of PyTorch under `emit_nvtx`, whose ranges are numbered call by call, inside a range `train_step`.

With a first argument, that of so many steps.
"""

import sys

import torch
from torch.cuda import nvtx

torch.manual_seed(0)
model = torch.nn.Sequential(
    torch.nn.Conv2d(3, 32, 3, padding=1),
    torch.nn.BatchNorm2d(32),
    torch.nn.ReLU(),
    torch.nn.AdaptiveAvgPool2d(1),
    torch.nn.Flatten(),
    torch.nn.Linear(32, 10),
).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
images = torch.randn(16, 3, 64, 64, device="cuda")
labels = torch.randint(10, (16,), device="cuda")


def step():
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
    return loss


for _ in range(2):  # libraries load, cuDNN chooses
    step()
torch.cuda.synchronize()
with torch.autograd.profiler.emit_nvtx(record_shapes=True):
    for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 1):
        nvtx.range_push("train_step")
        loss = step()
        torch.cuda.synchronize()
        nvtx.range_pop()
print(f"loss {loss.item():.4f}")
