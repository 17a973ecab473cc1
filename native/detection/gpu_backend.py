"""Whether the GPU backend is built, and for which GPUs.

HYDRACONF_CUDA says so:
    auto (or not set)   where nvcc and a GPU are found, for the GPUs of this machine
    1, on               for every GPU generation in TARGETS that nvcc knows; nvcc must be there
    80,90               for these
    0, off              not at all
"""

import os
import re

from .asking import Missing, run
from .toolkit import known_architectures

# GPU generations by compute capability: Turing, Ampere (A100, then the others), Ada, Hopper, Blackwell
# (data centre, then the others). Code for one also runs on later minor versions of the same major. 11.0 (Thor), a
# robot's computer that nobody builds for on another machine, is left to auto and to its number.
TARGETS = (75, 80, 86, 89, 90, 100, 120)


class NotBuilt(Exception):
    """Why there is no GPU backend."""


def plan_gpu_backend(toolkit, elsewhere=()):
    """Whether and how it is built: {"build", "required", "reason", "gpus"} and what nvcc needs.

    elsewhere: GPUs of other machines that use this build, by compute capability. "gpus": all that it was made for;
    None where that was not left to what is there.
    """
    asked = (os.environ.get("HYDRACONF_CUDA") or "").strip().lower() or "auto"
    required = asked not in ("auto", "0", "off")
    served = sorted({*gpus(), *elsewhere}) if asked == "auto" else None
    try:
        targets, intermediate = targets_of(asked, toolkit, served)
    except NotBuilt as reason:
        if required:
            raise Missing(f"HYDRACONF_CUDA={asked}: {reason}") from None
        return {"build": False, "required": False, "reason": str(reason), "gpus": served}
    codes = [(number, f"sm_{number}") for number in targets]
    codes += [(number, f"compute_{number}") for number in sorted({*intermediate, targets[-1]})]
    return {
        "build": True,
        "required": required,
        "reason": None,
        "gpus": served,
        "gencode": [f"-gencode=arch=compute_{number},code={code}" for number, code in codes],
        "targets": "+".join(code for _, code in codes),
    }


def targets_of(asked, toolkit, served):
    """The GPUs to build for, at least one, and those whose code is wanted as intermediate code beside the newest's."""
    if not re.fullmatch(r"auto|0|1|on|off|\d{2,3}([, ]+\d{2,3})*", asked):
        raise NotBuilt("not auto, on, off, or numbers such as 80,90")
    if asked in ("0", "off"):
        raise NotBuilt("HYDRACONF_CUDA switches it off")
    if toolkit is None:
        raise NotBuilt("no nvcc")
    if toolkit["include"] is None or toolkit["library"] is None:
        raise NotBuilt("the CUDA toolkit lacks its headers or libcudart_static.a")
    known = known_architectures(toolkit)
    if asked == "auto":
        return targets_for(served, known, toolkit)
    if asked in ("1", "on"):
        targets = [number for number in TARGETS if number in known]
    else:
        targets = sorted({int(number) for number in re.findall(r"\d+", asked)})
        unknown = [str(number) for number in targets if number not in known]
        if unknown:
            raise NotBuilt(f"nvcc {toolkit['version']} does not know {', '.join(unknown)}")
    if not targets:
        raise NotBuilt(f"nvcc {toolkit['version']} knows none of the supported GPUs")
    return targets, set()


def targets_for(served, known, toolkit):
    """For the GPUs that are there: one that nvcc does not know runs the newest code before its own, as intermediate code."""
    if not served:
        raise NotBuilt("no GPU answers here; HYDRACONF_CUDA=1 builds it all the same")
    newest = {number: max((one for one in known if one <= number), default=None) for number in served}
    targets = sorted({one for one in newest.values() if one is not None})
    if not targets:
        raise NotBuilt(f"nvcc {toolkit['version']} does not compile for this machine's GPU")
    return targets, {one for number, one in newest.items() if one not in (None, number)}


def gpus():
    """Compute capabilities of this machine's GPUs: [90]. Empty without a driver."""
    result = run(["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"])
    if result is None or result.returncode != 0:
        return []
    found = re.findall(r"^\s*(\d+)\.(\d)\s*$", result.stdout, re.MULTILINE)
    return sorted({int(major) * 10 + int(minor) for major, minor in found})
