"""What scripts/gpu-carry.mjs packed, unpacked here."""

import os
import tarfile

from gpu.report import Failed, Skipped
from gpu.run import run


def unpack(archive, folder):
    if not os.path.exists(archive):
        raise Failed(f"{archive} is not here: node scripts/gpu-carry.mjs makes it, and `carry` names it")
    with tarfile.open(archive) as tar:
        tar.extractall(folder)
    return f"{os.path.getsize(archive) / 2**20:.0f} MiB"


def use_nsys(archive, folder):
    """Puts the carried nsys before the machine's own, which may make no reports of what it records."""
    if not os.path.exists(archive):
        raise Skipped("node scripts/gpu-carry.mjs --nsys makes it, and `carry` names it")
    unpack(archive, folder)
    place = os.path.join(folder, "nsys", "target-linux-x64")
    version = run([os.path.join(place, "nsys"), "--version"], 30).stdout.strip()
    os.environ["PATH"] = os.pathsep.join([place, os.environ.get("PATH", "")])
    return version
