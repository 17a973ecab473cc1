"""Where the recorder finds no CUPTI: what it found is that step's result, and the others go on with one from here."""

import glob
import os

from gpu.build import site_packages

VARIABLE = "HYDRACONF_CUPTI_PATH"
# Of the recorder's own message (native/region_recorder/gpu/libraries.cc).
NONE_FOUND = "no libcupti for a driver"
PLACES = (
    "/usr/local/cuda*/extras/CUPTI/lib64",
    "/usr/local/cuda*/**/lib*",
    "/opt/*/.venv/lib/python3*/site-packages/nvidia/*/lib",
)


def name_cupti_where_missed(text):
    """Sets the variable for all that follows, where `text` says that none was found; its value then."""
    if NONE_FOUND not in text or os.environ.get(VARIABLE):
        return None
    patterns = [os.path.join(place, "nvidia", "*", "lib") for place in site_packages()]
    for pattern in [*patterns, *PLACES]:
        found = sorted(glob.glob(os.path.join(pattern, "libcupti.so.1[0-9]"), recursive=True))
        if found:
            os.environ[VARIABLE] = found[-1]
            return found[-1]
    return None
