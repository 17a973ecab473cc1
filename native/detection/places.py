"""Where headers and libraries are kept on different systems."""

import os
import platform
import re
import sysconfig


def include_dir_with(header, roots):
    of_targets = (os.path.join(target, "include") for target in target_folders())
    below = ("", "include", os.path.join("c", "include"), os.path.join("include", multiarch()), *of_targets)
    return dir_with(header, roots, below)


def library_dir_with(name, roots):
    of_targets = (os.path.join(target, "lib") for target in target_folders())
    below = ("lib64", "lib", os.path.join("lib", multiarch()), *of_targets)
    return dir_with(name, roots, below)


def dir_with(name, roots, below):
    for root in roots:
        for part in below:
            directory = os.path.join(root, part)
            if os.path.isfile(os.path.join(directory, name)):
                return os.path.normpath(directory)
    return None


def multiarch():
    """`x86_64-linux-gnu`: where Debian keeps what depends on the architecture. Other Pythons than Debian's do not tell."""
    return sysconfig.get_config_var("MULTIARCH") or f"{machine()}-linux-gnu"


def machine():
    """`x86_64` or `aarch64`."""
    name = platform.machine().lower()
    return {"amd64": "x86_64", "arm64": "aarch64"}.get(name, name)


def target_folders():
    """Where a CUDA toolkit keeps what is for this machine; Conda's has it nowhere else. Servers, then Jetson."""
    names = {"aarch64": ("sbsa-linux", "aarch64-linux")}.get(machine(), (f"{machine()}-linux",))
    return tuple(os.path.join("targets", name) for name in names)


def defined(path, name):
    """The number that a header defines a name as; None without one."""
    try:
        with open(path, encoding="utf-8", errors="replace") as header:
            match = re.search(rf"^\s*#\s*define\s+{name}\s+(\d+)", header.read(), re.MULTILINE)
    except OSError:
        return None
    return int(match.group(1)) if match else None
