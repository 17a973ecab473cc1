"""What was seen on GPUs: the results of commands, collected over visits and written as tables for readers."""

import json
import os
import subprocess

from gpu.build import ROOT, read_text
from gpu.report import shortened
from gpu.steps import PLAN

RECORDED = os.path.join(ROOT, "tests", "manual", "gpu", "results.json")


def read_rows(path):
    """Of a command's results.json, or of RECORDED; none where there is no such file."""
    text = read_text(path)
    return [] if text is None else json.loads(text)["rows"]


def seen_in(path):
    """Names of the steps of which every check was ok."""
    by_step = {}
    for row in read_rows(path):
        by_step.setdefault(row["step"], []).append(row["state"])
    return {step for step, states in by_step.items() if set(states) == {"ok"}}


def record(folder, recorded=RECORDED):
    """Adds a command's results, step by step: the newer ones count, unless nothing of a step could be checked."""
    path = os.path.join(folder, "results.json")
    text = read_text(path)
    if text is None:
        raise SystemExit(f"there is no {path}: DIR is the folder that gpu-check.py wrote (--out)")
    new = json.loads(text)
    origin = {"machine": new["machine"], "date": new["began"][:10], "commit": commit()}
    rows = [{**row, **origin} for row in new["rows"] if row["step"] in planned()]
    checked = {row["step"] for row in rows if row["state"] != "skipped"}
    before = read_rows(recorded)
    known = {row["step"] for row in before}
    kept = [row for row in before if row["step"] not in checked]
    added = [row for row in rows if row["step"] in checked or row["step"] not in known]
    places = {step: place for place, step in enumerate(planned())}
    every = sorted([*kept, *added], key=lambda row: places.get(row["step"], len(places)))
    with open(recorded, "w", encoding="utf-8") as file:
        file.write(json.dumps({"rows": every}, indent=1) + "\n")
    tables = os.path.join(os.path.dirname(recorded), "results.md")
    with open(tables, "w", encoding="utf-8") as file:
        file.write(as_tables(every))
    ok = len(seen_in(recorded))
    return f"{len(checked)} steps of {path} recorded; {ok} of {len(planned())} steps are ok now: {tables}"


def planned():
    return [step.name for steps in PLAN.values() for step in steps]


def as_tables(rows):
    lines = ["# Seen on a GPU", "", "Written by `python3 scripts/gpu-check.py --record DIR`."]
    for question, steps in PLAN.items():
        lines += ["", f"## {question[0].upper()}{question[1:]}", ""]
        lines += ["| step | check | | result | s | machine | date | commit |", "|---|---|---|---|---|---|---|---|"]
        for step in steps:
            found = [row for row in rows if row["step"] == step.name]
            lines += [as_line(row) for row in found] or [f"| {step.name} | | not seen | | | | | |"]
    return "\n".join(lines) + "\n"


def as_line(row):
    detail = shortened(row["detail"]).replace("|", "\\|")
    cells = [row["step"], row["what"], row["state"], detail, f"{row['seconds']:.1f}"]
    return f"| {' | '.join([*cells, row['machine'], row['date'], row['commit']])} |"


def commit():
    """Of this checkout: --record is run in the one that was sent."""
    asked = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    return asked.stdout.strip() if asked.returncode == 0 else "unknown"
