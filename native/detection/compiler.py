"""The C++ compiler."""

import os
import shlex
import shutil

from .asking import Missing, first_match


def find_compiler():
    # make splits CXX at blanks as well ("ccache g++").
    command = shlex.split(os.environ.get("CXX") or "g++")
    path = shutil.which(command[0])
    if path is None:
        if os.environ.get("CXX"):
            raise Missing(f"CXX={os.environ['CXX']}: no such program")
        return None
    banner = first_match([*command, "--version"], r"^(.+)")
    version = first_match([*command, "-dumpfullversion", "-dumpversion"], r"(\d[\d.]*)")
    return {"command": " ".join(command), "version": version, "banner": banner}
