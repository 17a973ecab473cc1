"""deep-profile as it was carried here, and what its reports say."""

import json
import os

from gpu.report import Failed
from gpu.run import run


class Installation:
    """`place` holds node/, package/ and perhaps tools/, or they are named; runs and transcripts go below `work`."""

    def __init__(self, place, work, node=None, package=None):
        self.place = place
        self.node = node or os.path.join(place, "node", "bin", "node")
        self.command = os.path.join(package or os.path.join(place, "package"), "dist", "bin", "deep-profile.js")
        self.runs = os.path.join(work, "runs")
        self.logs = os.path.join(work, "logs")
        for folder in (self.runs, self.logs):
            os.makedirs(folder, exist_ok=True)
        # What the machine has comes before what was carried, Node.js apart.
        self.path = os.pathsep.join(
            [os.path.dirname(self.node), os.environ.get("PATH", ""), os.path.join(place, "tools")]
        )

    def directory(self, name):
        return os.path.join(self.runs, name)

    def profile(self, name, arguments, seconds, places=None, env=None, **options):
        """Runs the command; its transcript is logs/NAME.txt.

        {runs} stands for the runs' folder, {place} for that of the installation; `places` has others.
        """
        where = {"runs": self.runs, "place": self.place, **(places or {})}
        own = {name: with_places(value, where) for name, value in (env or {}).items()}
        return run(
            [self.node, self.command, *(with_places(word, where) for word in arguments)],
            seconds,
            env={"PATH": self.path, "NO_COLOR": "1", "COLUMNS": "120", **own},
            cwd=self.runs,
            log=os.path.join(self.logs, f"{name}.txt"),
            **options,
        )


def with_places(word, where):
    for name, path in where.items():
        word = word.replace(f"{{{name}}}", path)
    return word


def read_report(folder):
    """The report over all processes and devices below a folder of regions."""
    path = os.path.join(folder, "regions", "report.json")
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)["reports"][0]
    except FileNotFoundError as missing:
        raise Failed(f"there is no {path}") from missing


def require_regions(report, names, kernels=False, metrics=()):
    """Fails where a region is not there, has no kernels of the GPU though it should, or lacks a metric."""
    regions = {}
    for region in report["regions"]:
        # Of several with one name the outermost, which comes first.
        regions.setdefault(region["name"], region)
    absent = [name for name in names if name not in regions]
    if absent:
        raise Failed(f"no region {', '.join(absent)}; there are {', '.join(regions) or 'none'}")
    for name in names:
        region = regions[name]
        if kernels and not any(kernel["kind"] == "gpu_kernel" for kernel in region["kernels"]):
            raise Failed(f"{name} has no kernels of the GPU; notes: {report['notes']}")
        lacking = [metric for metric in metrics if metric not in region["metrics"]]
        if lacking:
            raise Failed(f"{name} lacks {', '.join(lacking)}; notes: {report['notes']}")
    return ", ".join(f"{name} {milliseconds(regions[name])}" for name in names)


def require_nested(report, inner, outer):
    paths = [region["path"] for region in report["regions"]]
    if [outer, inner] not in paths:
        raise Failed(f"no {inner} inside {outer}; there are {[' / '.join(path) for path in paths]}")
    return f"{inner} inside {outer}"


def milliseconds(region):
    total = region["total_ms"]
    return "no GPU time" if total is None else f"{total:.3f} ms"
