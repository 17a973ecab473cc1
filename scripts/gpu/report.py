"""Checks with a time limit for all of them, and their table, which is written after each."""

import functools
import json
import os
import signal
import sys
import threading
import time

from gpu.together import together


class Failed(Exception):
    """A check found something wrong."""


class Skipped(Exception):
    """A check cannot be made here."""


class Report:
    """`outbox` gets results.json and results.md; no check begins after `seconds`.

    `earlier` are rows of another command on this machine: those of steps that are not made again stand before ours.
    `place` is a folder that gets results.json, too, for the next command.
    """

    def __init__(self, outbox, seconds, machine="", earlier=(), place=None):
        self.outbox = outbox
        self.machine = machine
        self.date = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        self.began = time.monotonic()
        self.deadline = self.began + seconds
        self.rows = []
        self._earlier = list(earlier)
        self._place = place
        self._lock = threading.RLock()

    def left(self):
        return self.deadline - time.monotonic()

    def check(self, step, what, action, least=0):
        """Runs `action`, which returns a detail for the table; `least` seconds must be left for it."""
        begin = time.monotonic()
        try:
            if self.left() <= least:
                raise Skipped("out of time")
            state, detail = "ok", action()
        except Skipped as reason:
            state, detail = "skipped", str(reason)
        except Exception as problem:  # a defect in one check must not hide the others
            state, detail = "FAILED", f"{type(problem).__name__}: {problem}"
        row = {
            "step": step,
            "what": what,
            "state": state,
            "detail": detail,
            "seconds": round(time.monotonic() - begin, 2),
            "at": round(begin - self.began, 1),
        }
        with self._lock:
            self.rows.append(row)
            print(f"{state:8} {step:22} {what:36} {shortened(detail)}", flush=True)
            self.write()
            self.outbox.keep()
        return state == "ok"

    def check_together(self, checks, workers=8):
        """Checks that measure nothing: (step, what, action) of each. Several at a time."""
        together([functools.partial(self.check, *check) for check in checks], workers)

    def counts(self):
        states = [row["state"] for row in self.rows]
        return {state: states.count(state) for state in ("ok", "FAILED", "skipped")}

    def write(self):
        made = {row["step"] for row in self.rows}
        rows = [*(row for row in self._earlier if row["step"] not in made), *self.rows]
        text = json.dumps({"machine": self.machine, "began": self.date, "rows": rows}, indent=1) + "\n"
        self.outbox.write("results.json", text)
        if self._place is not None:
            write_whole(os.path.join(self._place, "results.json"), text)
        lines = ["| | step | check | result | s |", "|---|---|---|---|---|"]
        for row in rows:
            detail = shortened(row["detail"]).replace("|", "\\|")
            lines.append(f"| {row['state']} | {row['step']} | {row['what']} | {detail} | {row['seconds']:.1f} |")
        lines += [f"\nToo large to keep: {name}" for name in self.outbox.left_out]
        self.outbox.write("results.md", "\n".join(lines) + "\n")

    def finish(self):
        """Packs everything and returns the exit code: 1 when a check failed or nothing was checked."""
        self.outbox.keep(now=True)
        self.write()
        self.outbox.close()
        counts = self.counts()
        # Where only the end of what was printed comes back, it has what matters.
        for row in self.rows:
            if row["state"] == "FAILED":
                print(f"FAILED: {row['step']} {row['what']}: {shortened(row['detail'], 100)}", flush=True)
        print(", ".join(f"{count} {state}" for state, count in counts.items()), flush=True)
        return 1 if counts["FAILED"] or not counts["ok"] else 0


def write_whole(path, text):
    """Whole or not at all."""
    unfinished = f"{path}.unfinished"
    with open(unfinished, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(unfinished, path)


def finish_when_stopped(report, end_programs):
    """Turns the signals that end a command into an exit, so that `finish` in a finally block runs.

    What runs at that moment, in whichever thread, is ended and nothing else begins.
    """

    def stop(number, _):
        report.deadline = time.monotonic()
        end_programs()
        sys.exit(128 + number)

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, stop)


def shortened(detail, most=300):
    """The first line for a table: a program's own can be of thousands of characters, which results.json has."""
    line = first_line(detail)
    return line if len(line) <= most else f"{line[: most - 3]}..."


def first_line(detail):
    return str(detail or "").strip().split("\n")[0]
