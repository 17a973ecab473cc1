"""Programs, each in a process group of its own: ncu's and nsys's helpers end with them."""

import functools
import glob
import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import time

from gpu.report import Failed

# Between asking a program to end and ending it.
PATIENCE_SECONDS = 5

_deadline = None
_running = set()
_stopping = False


class TookTooLong(Failed):
    """A program did not end within its time limit."""


def end_all_at(deadline):
    """No program runs beyond this moment of time.monotonic()."""
    global _deadline
    _deadline = deadline


def end_all_now():
    """Ends every program at once, those of other threads too, and each that they begin."""
    global _stopping
    _stopping = True
    for child in list(_running):
        signal_group(child, signal.SIGKILL)


def time_limit(seconds):
    return seconds if _deadline is None else max(1, min(seconds, _deadline - time.monotonic()))


class Result:
    def __init__(self, argv, code, stdout, stderr, seconds):
        self.argv = argv
        self.returncode = code
        self.stdout = stdout
        self.stderr = stderr
        self.seconds = seconds

    def transcript(self):
        """What was run and what came of it, for a file."""
        command = " ".join(map(shlex.quote, self.argv))
        return f"$ {command}\n{self.stdout}{self.stderr}\nexit code {self.returncode}, {self.seconds:.1f} s\n"


def run(argv, seconds=120, env=None, check=True, cwd=None, log=None, **options):
    """Runs to the end or to the time limit, which is a failure; `log` is a file for the transcript.

    Output goes through files: a pipe that a grandchild keeps open would hold us up for ever.
    """
    argv = [str(word) for word in argv]
    variables = {**os.environ, **(env or {})}
    variables = {name: value for name, value in variables.items() if value is not None}
    began = time.monotonic()
    seconds = time_limit(seconds)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            env=variables,
            cwd=cwd,
            start_new_session=True,
            **options,
        )
        late = False
        _running.add(child)
        # Only now: one that began while the others were ended was not among them.
        if _stopping:
            signal_group(child, signal.SIGKILL)
        try:
            child.wait(seconds)
        except subprocess.TimeoutExpired:
            late = True
        finally:
            end_group(child)
            _running.discard(child)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
    result = Result(argv, child.returncode, *texts, time.monotonic() - began)
    if log is not None:
        with open(log, "a", encoding="utf-8") as file:
            file.write(result.transcript())
    if late:
        tail = (result.stderr + result.stdout)[-1000:]
        raise TookTooLong(f"{os.path.basename(argv[0])} took more than {seconds:.0f} s\n{tail}")
    if check and result.returncode != 0:
        raise Failed(
            f"exit {result.returncode}: {complaint(result)}\n{' '.join(argv)}\n"
            f"{result.stderr[-3000:]}{result.stdout[-1000:]}"
        )
    return result


def complaint(result):
    """The line that most likely says what went wrong."""
    printed = [line for line in f"{result.stderr}\n{result.stdout}".split("\n") if line.strip()]
    lines = [line.strip() for line in printed]
    # deep-profile's own errors have hints below them, indented; its notes say what is not so, and are none.
    above = [
        next((other.strip() for other in reversed(printed[:place]) if not other[0].isspace()), line)
        for place, line in enumerate(lines)
        if line.startswith("Hint:")
    ]
    others = [line for line in lines if not line.startswith("note:")]
    telling = (
        [line for line in lines if re.search(r"\[ERROR\]|==ERROR==|\bfatal\b|error:", line, re.IGNORECASE)]
        or above
        or [line for line in others if re.search(r"error|failed|cannot|not ", line, re.IGNORECASE)]
    )
    line = (telling or lines or ["no output"])[0]
    # deep-profile: the end of the program's own words stands below.
    below = lines[lines.index(line) + 1 :] if line.endswith(":") else []
    return " ".join([line, *below[:1]])


def end_group(child):
    """Ends what the child has left, and the child: by request first, ncu keeps what it measured then."""
    if child.poll() is None:
        signal_group(child, signal.SIGTERM)
        try:
            child.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            pass
    signal_group(child, signal.SIGKILL)
    child.wait()


def signal_group(child, number):
    try:
        os.killpg(child.pid, number)
    except (ProcessLookupError, PermissionError):
        pass


def find_tool(name, pattern):
    places = sorted(filter(os.path.isfile, glob.glob(pattern)))
    return shutil.which(name) or (places[-1] if places else None)


def find_ncu():
    return find_tool("ncu", "/opt/nvidia/nsight-compute/*/ncu")


@functools.cache
def knows_option(tool, option):
    """Whether its --help has it."""
    try:
        return option in run([tool, "--help"], 30, check=False).stdout
    except (OSError, Failed):
        return False


def find_nsys():
    return find_tool("nsys", "/opt/nvidia/nsight-systems*/*/bin/nsys") or find_tool(
        "nsys", "/opt/nvidia/nsight-compute/*/host/target-linux-x64/nsys"
    )


LOOKS_FOR_TORCH = "import importlib.util as u, sys; sys.exit(u.find_spec('torch') is None)"


@functools.cache
def find_torch():
    """PyTorch for the Python that a command line's `python3` is; None where that has none."""
    if shutil.which("python3") is None:
        return None
    found = run(["python3", "-c", LOOKS_FOR_TORCH], 60, check=False)
    return "torch" if found.returncode == 0 else None
