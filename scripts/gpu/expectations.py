"""What must hold of a run of deep-profile: of its run directory, its output and its exit code.

Each takes the run directory and the Result, returns a detail for the table, and raises Failed.
"""

import glob
import json
import os
import re

from gpu.deep_profile import read_report, require_nested, require_regions
from gpu.report import Failed

# A region's time in two reports: by so much may they differ. Below, a kernel's start and end by the GPU's clock count.
MOST_SHARE = 0.10
MOST_MS_PER_KERNEL = 0.0005


def of(collector, names, kernels=False, metrics=()):
    """Regions in the report of a collector."""
    return lambda directory, _: require_regions(
        read_report(os.path.join(directory, collector)), names, kernels, metrics
    )


def nested(collector, inner, outer):
    """A region that stands inside another one."""
    return lambda directory, _: require_nested(read_report(os.path.join(directory, collector)), inner, outer)


def with_note(words, expect, collector="ncu"):
    """A note of a collector's report beside all else."""

    def check(directory, result):
        detail = expect(directory, result)
        notes = read_report(os.path.join(directory, collector))["notes"]
        if not any(words in note for note in notes):
            raise Failed(f"no note says '{words}': {notes}")
        return detail

    return check


def without_note(words, collector="recorder"):
    def check(directory, _):
        told = [note for note in read_report(os.path.join(directory, collector))["notes"] if words in note]
        if told:
            raise Failed(f"a note says '{words}': {told[0]}")
        return f"no note says '{words}'"

    return check


def ranges_without_kernels(names):
    """Of the recorder: another tool has the GPU."""

    def check(directory, _):
        report = read_report(os.path.join(directory, "recorder"))
        detail = require_regions(report, names)
        counted_here = [
            region["name"]
            for region in report["regions"]
            if any(kernel["kind"] == "gpu_kernel" for kernel in region["kernels"])
        ]
        if counted_here:
            raise Failed(f"kernels in {', '.join(counted_here)}; notes: {report['notes']}")
        return detail

    return check


def own_profile(least=0, most=None):
    """Of tests/manual/gpu/beside_profilers.py: how many kernels are in the profile that it made of itself."""

    def check(directory, _):
        match = printed(directory, r"^kernels in the program's profile: (\d+)$")
        if match is None:
            raise Failed("the program did not say what is in its profile")
        kernels = int(match.group(1))
        if kernels < least or (most is not None and kernels > most):
            wanted = f"{least} or more" if most is None else f"at most {most}"
            raise Failed(f"{kernels} kernels in the program's own profile, not {wanted}")
        return f"{kernels} kernels in the program's own profile"

    return check


def notes(collector):
    """For the table: what the report itself remarks."""

    def detail(directory, _):
        found = read_report(os.path.join(directory, collector))["notes"]
        return "notes: " + (" | ".join(note[:120] for note in found) or "none")

    return detail


def says(words):
    def check(_, result):
        if words not in result.stdout + result.stderr:
            raise Failed(f"nothing says '{words}': {(result.stdout + result.stderr)[-800:]}")
        return words

    return check


def fails_saying(*alternatives):
    """Ends with exit code 1 and one line that has one of these words."""

    def check(_, result):
        text = result.stdout + result.stderr
        lines = [line.strip() for line in text.split("\n") if any(words in line for words in alternatives)]
        if result.returncode != 1:
            raise Failed(f"exit {result.returncode}, not 1: {text[-800:]}")
        if not lines:
            raise Failed(f"nothing says {' or '.join(map(repr, alternatives))}: {text[-800:]}")
        return lines[0]

    return check


def all_of(*expectations):
    return lambda directory, result: "; ".join(each(directory, result) for each in expectations)


def output(_, result):
    """Whatever it says; the transcript is what is wanted."""
    lines = [line for line in result.stdout.strip().split("\n") if line]
    return lines[-1] if lines else "no output"


def counted(may_lose=()):
    """As many kernels in each region as the program says that it launched there.

    In a region of `may_lose`, fewer with a note that says that some are missing: what the program itself cut off.
    """

    def check(directory, _):
        report = read_report(os.path.join(directory, "recorder"))
        found = {region["name"]: region["kernel_count"] for region in report["regions"]}
        remarks = " | ".join(report["notes"])
        details = []
        for name, wanted in announced(directory).items():
            count = found.get(name)
            if count == wanted:
                details.append(f"{name} {count}")
            elif name in may_lose and count is not None and count < wanted and tells_of_loss(remarks):
                details.append(f"{name} {count} of {wanted}, as a note says")
            else:
                raise Failed(f"{name} has {count} kernels of {wanted}; notes: {remarks}")
        return f"kernels: {', '.join(details)}"

    return check


def tells_of_loss(text):
    return re.search(r"had not finished|were dropped|was dropped|no kernel:|could not be written", text) is not None


def announced(directory):
    """What tests/manual/gpu/gpu_cases.cu printed before its case."""
    match = printed(directory, r'^\{"kernels".*\}$')
    if match is None:
        raise Failed("the program did not say what it launches")
    return json.loads(match.group())["kernels"]


def printed(directory, line):
    """The first line that the profiled program printed of this kind."""
    for path in sorted(glob.glob(os.path.join(directory, "recorder", "stdout*"))):
        with open(path, encoding="utf-8", errors="replace") as file:
            match = re.search(line, file.read(), re.MULTILINE)
        if match:
            return match
    return None


def payloads(region, name, total):
    """The sum of a number that the program gave with a region's ranges."""

    def check(directory, _):
        regions = read_report(os.path.join(directory, "recorder"))["regions"]
        numbers = [one for each in regions if each["name"] == region for one in each.get("payloads", [])]
        sums = {one["name"]: one.get("sum") for one in numbers}
        if sums.get(name) != total:
            raise Failed(f"{region}: {name} is {sums.get(name)}, not {total}; there are {sums}")
        return f"{name} {total}"

    return check


def agree(names, collectors):
    """The collectors of one run agree on the GPU time of each region, within a tenth."""

    def check(directory, _):
        times = {
            collector: by_path(read_report(os.path.join(directory, collector))) for collector in collectors
        }
        base = times[collectors[0]]
        paths = [path for path in base if path[-1] in names]
        absent = set(names) - {path[-1] for path in paths}
        if absent:
            raise Failed(f"{collectors[0]} has no {', '.join(sorted(absent))}")
        worst, apart = 0.0, []
        for other in collectors[1:]:
            for path in paths:
                ours, count = base[path]
                theirs, their_count = times[other].get(path, (None, None))
                label = " / ".join(path)
                if theirs is None or not ours:
                    apart.append(f"{label}: {ours} ms, {other} {theirs} ms")
                    continue
                worst = max(worst, abs(ours / theirs - 1))
                if count != their_count:
                    apart.append(f"{label}: {count} kernels, {other} {their_count}")
                elif abs(ours - theirs) > max(MOST_SHARE * theirs, MOST_MS_PER_KERNEL * count):
                    apart.append(f"{label}: {ours:.4f} ms, {other} {theirs:.4f} ms")
        if apart:
            raise Failed("; ".join(apart))
        return f"{len(paths)} regions of {' and '.join(collectors)}, at most {100 * worst:.1f} % apart"

    return check


def by_path(report):
    return {tuple(region["path"]): (region["total_ms"], region["kernel_count"]) for region in report["regions"]}


def labels_without(collector, words):
    """No region is called by a number of its call."""

    def check(directory, _):
        numbered = [
            region["name"]
            for region in read_report(os.path.join(directory, collector))["regions"]
            if words in region["name"]
        ]
        if numbered:
            raise Failed(f"{len(numbered)} regions with '{words}' in their names: {numbered[0]}")
        return f"no '{words}'"

    return check


def refused_or_measured(words, expect):
    """Where ncu is refused: exit code 1 and one line with these words. Where it is not, what it measures."""

    def check(directory, result):
        if result.returncode == 0:
            return f"counters are open to everybody here; {expect(directory, result)}"
        return fails_saying(words)(directory, result)

    return check


def answers(_, result):
    """The answer of `deep-profile query summary --json` about a run with a GPU."""
    try:
        answer = json.loads(result.stdout)["answer"]
    except (ValueError, KeyError) as problem:
        raise Failed(f"no answer: {result.stdout[:300]}") from problem
    kernels = answer["totals"]["kernel_count"]
    if not answer["gpus"] or not answer["device"].startswith("cuda") or not kernels:
        raise Failed(f"device {answer['device']}, GPUs {answer['gpus']}, {kernels} kernels")
    return f"{answer['headline']} ({kernels} kernels)"
