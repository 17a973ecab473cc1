"""What tools say about themselves, and what the environment promised and does not hold."""

import re
import subprocess
import sys


class Missing(Exception):
    """What the environment promises is not there."""


def run(command):
    """A tool's answer, as the names of files are read: it holds some; None where it does not run."""
    names = {"encoding": sys.getfilesystemencoding(), "errors": sys.getfilesystemencodeerrors()}
    try:
        return subprocess.run(command, capture_output=True, timeout=30, check=False, **names)
    except (OSError, subprocess.TimeoutExpired):
        return None


def first_match(command, pattern):
    """First group of `pattern` in what a tool prints about itself; None where it does not run."""
    result = run(command)
    match = re.search(pattern, result.stdout + result.stderr) if result else None
    return match.group(1) if match else None
