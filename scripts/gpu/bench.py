"""What checks are made with, compiled where asked for: programs of each library, the recorder, gpu_cases, deep-profile."""

import os
import shutil

from gpu import correctness
from gpu.build import ROOT, build
from gpu.carried import unpack_once, use_nsys
from gpu.cases import build_cases, cases_in
from gpu.deep_profile import Installation
from gpu.program import Program
from gpu.recorder import build_recorder
from gpu.report import Skipped
from gpu.together import together


CARRIED = os.path.join(ROOT, ".carry", "hydraconf.tar.xz")
BUILT = os.path.join(ROOT, "dist", "bin", "deep-profile.js")


class Bench:
    """`scratch` is where it is built; `options` are gpu-check.py's."""

    def __init__(self, report, options, scratch):
        self.report = report
        self.out = report.outbox.work
        self.scratch = scratch
        self.recorder = os.path.join(scratch, "region_recorder.so")
        self.programs = []
        self._options = options
        self._installation = None
        # By step of deep-profile: whether it worked; and what was too much for ncu.
        self.done = {}
        self.hung = set()

    def prepare(self, uses, first_steps, describe):
        """Compiles what is used, all at once, beside the first steps of deep-profile: nothing is measured yet."""
        if "nsys" in uses:
            self.report.check("machine", "nsys as carried", lambda: use_nsys(self._options.nsys, self.scratch))
        built = {}
        log = os.path.join(self.out, "build.log")
        checks = [*describe]
        if "programs" in uses:
            names = ["cuda"] if self._options.program else ["cuda", "cudnn"]
            checks += [("compile", name, lambda name=name: self._build(name, built, log)) for name in names]
        if "recorder" in uses:
            checks.append(("compile", "recorder", lambda: build_recorder(self.recorder, log)))
        if "cases" in uses and not self._options.cases:
            checks.append(("compile", "cases", lambda: build_cases(self.scratch, log)))
        actions = [lambda check=check: self.report.check(*check) for check in checks]
        together([*actions, *([first_steps] if first_steps else [])], 8)
        for name in ("cuda", "cudnn"):
            if name in built and self._runs(built[name]):
                self.programs.append(built[name])

    def cases(self):
        """Where tests/manual/gpu/gpu_cases.cu was compiled; Skipped where it was not."""
        return os.path.abspath(self._options.cases) if self._options.cases else cases_in(self.scratch)

    def installation(self):
        """deep-profile: as it was carried here, or this checkout where it is built and has a Node.js."""
        if self._installation is None:
            self._installation = self._find_installation()
        return self._installation

    def _find_installation(self):
        options = self._options
        if options.installed:
            return Installation(options.installed, self.out)
        carried = options.carried or CARRIED
        node = shutil.which("node")
        if not options.carried and not os.path.exists(carried) and node and os.path.exists(BUILT):
            return Installation(self.scratch, self.out, node=node, package=ROOT)
        place = os.path.join(self.scratch, "installed")
        os.makedirs(place, exist_ok=True)
        if not self.report.check("unpack", os.path.basename(carried), lambda: unpack_once(carried, place)):
            raise Skipped("deep-profile was not unpacked")
        return Installation(place, self.out)

    def _build(self, name, built, log):
        folder = os.path.join(self.scratch, name)
        os.makedirs(folder, exist_ok=True)
        if self._options.program:
            path, detail = os.path.abspath(self._options.program), "built before"
        else:
            path, detail = build(name, folder, log)
        built[name] = Program(path, name, folder, os.path.join(self.out, f"{name}-runs.log"))
        return detail

    def _runs(self, program):
        return self.report.check("compile", f"{program.library} runs", lambda: correctness.check_runs(program))
