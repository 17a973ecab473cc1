"""The C++ compiler."""

import os
import shlex
import shutil

from .asking import Missing, first_match


def find_compiler():
    # make splits CXX at blanks as well ("ccache g++").
    asked = (os.environ.get("CXX") or "").strip()
    try:
        command = shlex.split(asked or "g++")
    except ValueError as problem:
        raise Missing(f"CXX={asked}: {problem}") from None
    if shutil.which(command[0]) is None:
        if asked:
            raise Missing(f"CXX={asked}: no such program")
        return None
    banner = first_match([*command, "--version"], r"^(.+)")
    version = first_match([*command, "-dumpfullversion", "-dumpversion"], r"(\d[\d.]*)")
    return {"command": " ".join(command), "version": version, "banner": banner}
