"""What tools say about themselves, and what the environment promised and does not hold."""

import re
import subprocess


class Missing(Exception):
    """What the environment promises is not there."""


def run(command):
    """A tool's answer; None where it does not run."""
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None


def first_match(command, pattern):
    """First group of `pattern` in what a tool prints about itself; None where it does not run."""
    result = run(command)
    match = re.search(pattern, result.stdout + result.stderr) if result else None
    return match.group(1) if match else None
