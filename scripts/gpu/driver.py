"""A libcuda.so.1 that says that it is older than any toolkit that builds this project, and can do nothing else."""

import os

from gpu.run import run

SOURCE = "int cuDriverGetVersion(int *version) { *version = 10010; return 0; }\n"
FOLDER = "old-driver"


def make_old_driver(place, log=None):
    """Makes PLACE/old-driver, for LD_LIBRARY_PATH."""
    folder = os.path.join(place, FOLDER)
    os.makedirs(folder, exist_ok=True)
    source = os.path.join(folder, "driver.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write(SOURCE)
    library = os.path.join(folder, "libcuda.so.1")
    run(["g++", "-x", "c", "-shared", "-fPIC", source, "-Wl,-soname,libcuda.so.1", "-o", library], 60, log=log)
    return folder
