"""A training step of PyTorch under NVTX ranges: `step` with `forward`, `backward` and `optimizer` in it.

Autograd launches the kernels of `backward` on a thread of its own, which has no ranges.
"""

import torch
from torch.cuda import nvtx

model = torch.nn.Sequential(
    torch.nn.Conv2d(3, 32, 3, padding=1),
    torch.nn.BatchNorm2d(32),
    torch.nn.ReLU(),
    torch.nn.AdaptiveAvgPool2d(1),
    torch.nn.Flatten(),
    torch.nn.Linear(32, 10),
).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
images = torch.randn(8, 3, 64, 64, device="cuda")
labels = torch.randint(10, (8,), device="cuda")


def step():
    nvtx.range_push("forward")
    loss = torch.nn.functional.cross_entropy(model(images), labels)
    nvtx.range_pop()
    nvtx.range_push("backward")
    loss.backward()
    nvtx.range_pop()
    nvtx.range_push("optimizer")
    optimizer.step()
    optimizer.zero_grad()
    nvtx.range_pop()
    return loss


step()
torch.cuda.synchronize()
nvtx.range_push("step")
loss = step()
torch.cuda.synchronize()
nvtx.range_pop()
print(f"loss {loss.item():.4f}")
