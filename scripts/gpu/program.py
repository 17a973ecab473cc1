"""shallow_resnet on the GPU with one library, and the sizes and variants that it is run with."""

import json
import os
import tempfile

from gpu.run import run
from gpu.tensors import read_tensors

# Largest error of a logit, relative to the largest logit; float32 by the project's own bar instead.
TOLERANCE = {"float32": 1e-4, "tf32": 5e-3, "float16": 1e-2, "bfloat16": 5e-2}

# batch, input channels, base channels, blocks, image
ODD = [
    (1, 1, 1, 1, 1),
    (3, 5, 17, 2, 7),
    (2, 20, 33, 1, 2),
    (1, 16, 15, 4, 23),
    (2, 3, 8, 1, 37),
    (1, 33, 130, 1, 17),
    (65536, 1, 2, 1, 1),
    (2, 3, 64, 2, 224),
]
SPEED = [
    (4, 3, 16, 3, 64),
    (32, 3, 64, 3, 56),
    (64, 3, 128, 3, 28),
    (64, 3, 256, 3, 14),
    (16, 3, 64, 3, 224),
]


def warm_up_passes(sizes):
    """For some tenths of a second: until then an idle GPU's clock rises."""
    return 1000 if sizes == SPEED[0] else 100


class Program:
    """One executable with one library; `log` gets the transcript of every run."""

    def __init__(self, path, library, folder, log):
        self.path = path
        self.library = library
        self.folder = folder
        self.log = log
        self.gpu = ["--device", "cuda:0", "--gpu-library", library]

    def document(self, args, seconds=60, env=None, under=()):
        """`under`: a tool that runs it, which may say something of its own before and after."""
        text = run([*under, self.path, *args], seconds, env=env, log=self.log).stdout
        if under:
            text = text[text.find("{") : text.rfind("}") + 1]
        return json.loads(text)

    def tensors(self, args, seconds=60, activations=True):
        """What a run computed, and its document."""
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            output = os.path.join(folder, "output.safetensors")
            saving = ["--output", output, *(["--save-activations"] if activations else [])]
            document = self.document([*args, *saving], seconds)
            return read_tensors(output), document


def variants(library):
    """(name, flags, tolerance) of everything that has its own arithmetic."""
    found = [("float32", [], "float32"), ("float16", ["--dtype", "float16"], "float16")]
    found.append(("bfloat16", ["--dtype", "bfloat16"], "bfloat16"))
    if library == "cudnn":
        found.append(("tf32", ["--tf32"], "tf32"))
    return found


def sizes_flags(batch, inputs, base, blocks, image):
    return [
        *["--batch-size", batch, "--in-channels", inputs, "--base-channels", base],
        *["--num-blocks", blocks, "--image-size", image, "--warmup", 0, "--iterations", 1],
    ]


def sizes_text(sizes):
    return "x".join(map(str, sizes))
