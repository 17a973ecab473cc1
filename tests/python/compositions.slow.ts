// Compositions that share what is the same: beside those of an interpreter for each job, of Python's own Hydra.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { commandPath } from "../e2e/command.ts";

const DEBIAN = "/usr/bin/python3";
/** Where the real Hydra and OmegaConf are, if Python does not find them anyway. */
const env = {
  PATH: process.env["PATH"],
  PYTHONPATH: process.env["HYDRACONF_HYDRA"] ?? process.env["PYTHONPATH"] ?? "",
  PYTHONDONTWRITEBYTECODE: "1",
};
const hasHydra =
  spawnSync(DEBIAN, ["-c", "import hydra._internal.config_loader_impl"], { env }).status === 0;
if (!hasHydra)
  console.warn("SKIPPED shared compositions: no Hydra here; HYDRACONF_HYDRA may name its folder");

const FILES = {
  // Each file that Hydra reads adds a line to `reads`.
  "train.py": `import os
from dataclasses import dataclass, field
import hydra
from hydra import compose
from hydra.core.config_store import ConfigStore
from omegaconf import MISSING, OmegaConf

load = OmegaConf.load
def noted(file):
    name = getattr(file, "name", str(file))
    if "conf/" in name:
        with open("reads", "a") as reads:
            reads.write("%s %s\\n" % (os.environ.get("HYDRACONF_CHECK") is not None, os.path.basename(name)))
    return load(file)
OmegaConf.load = noted

@dataclass
class Net:
    depth: int = 1
    name: str = MISSING
    sizes: list = field(default_factory=lambda: [1, 2])

ConfigStore.instance().store(group="net", name="base", node=Net)

@hydra.main(version_base="1.3", config_path="conf", config_name="train")
def main(cfg):
    if cfg.get("edit"):
        with open("conf/db/pg.yaml", "a") as file:
            file.write("edited: \${x}\\n")
    if cfg.get("again"):
        ConfigStore.instance().store(group="net", name="base", node={"depth": 9, "name": "new"})
        again = compose("train", overrides=["x=5"])
        return again.net.depth
    return OmegaConf.to_container(cfg, resolve=True)

if __name__ == "__main__":
    main()
`,
  "conf/train.yaml": `defaults:
  - db: mysql
  - net: base
  - optional tuned: \${db}
  - _self_
x: 1
edit: null
again: null
twice: \${x}\${x}
net: {name: n}
hydra: {sweep: {dir: s}}
`,
  "conf/db/mysql.yaml": "host: a\nport: 1\n",
  "conf/db/pg.yaml": "host: b\nport: 2\n",
  "conf/tuned/pg.yaml": "# @package _global_\nx: 5\ntuned: true\n",
  // Which shard it has depends on the job.
  "conf/db/sharded.yaml":
    "defaults: [{/shard@_global_.shard: 's${oc.env:HYDRACONF_JOB_NUMBER,0}'}]\nhost: c\n",
  ...Object.fromEntries(
    Array.from({ length: 6 }, (_, n) => [`conf/shard/s${n}.yaml`, `n: ${n}\n`]),
  ),
  "conf/experiment/big.yaml":
    "# @package _global_\ndefaults: [{override /db: pg}, {override /hydra/launcher: local}]\nhydra: {launcher: {n_jobs: 1}}\nx: 7\n",
};

/** @returns what its jobs saved and returned, by job, and the files that were read for jobs */
function swept(overrides: readonly string[]) {
  const cwd = mkdtempSync(join(tmpdir(), "hydraconf-compositions-"));
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true });
    writeFileSync(join(cwd, name), text);
  }
  const hydraconf = (argv: readonly string[]) =>
    spawnSync(process.execPath, [commandPath("hydraconf"), ...argv], {
      cwd,
      encoding: "utf8",
      env,
    });
  hydraconf(["python", "sync", "--python", DEBIAN, "train.py"]);
  const { status, stderr } = hydraconf(["run", "-m", ...overrides, "--", DEBIAN, "train.py"]);
  expect([status, stderr]).toEqual([0, expect.stringMatching(/(\d+) of \1 jobs completed/)]);
  const { jobs } = JSON.parse(readFileSync(join(cwd, "s/sweep.json"), "utf8"));
  const saved = readdirSync(join(cwd, "s"))
    .filter((name) => /^\d+$/.test(name))
    .map((name) =>
      ["config", "hydra", "overrides"].map((one) =>
        readFileSync(join(cwd, "s", name, `.hydra/${one}.yaml`), "utf8")
          .replaceAll(cwd, "HERE")
          .replaceAll(/hydraconf-python-\w+/g, "FOLDER")
          .replaceAll(/^ *(- hydra\.launcher\.)?warm[:=].*\n/gm, ""),
      ),
    );
  const reads = readFileSync(join(cwd, "reads"), "utf8").trim().split("\n");
  return {
    results: jobs.map(({ result }: { readonly result: unknown }) => result),
    saved,
    // Hydra reads the primary config itself in each job, for its search path.
    reads: reads.filter((line) => /^False (mysql|pg)\.yaml/.test(line)).length,
  };
}

describe.skipIf(!hasHydra)("jobs that share an import compose what those of their own do", () => {
  // Of pg two files; where not all choose the same, the first and the second job of other choices read theirs.
  test.each([
    [["x=1,2,3"], 1],
    [["x=1,2", "db=mysql,pg"], 1 + 2 * 2],
    [["db=pg,mysql", "x=1,2"], 2 + 2 * 1],
    [["+experiment=big", "+y=1,2"], undefined],
    [["+net@other=base", "other.name=a,b", "~twice"], undefined],
    [["net.depth=1,2", "hydra.job.config.override_dirname.exclude_keys=[x]"], 1],
    [["db=mysql,sharded", "x=1,2,3"], undefined],
    // The composition of the first job is not shared, those of others are.
    [["db=sharded,pg", "x=1,2,3"], 2 * 2],
    [["x=1,2", "net.sizes=[1],[2,3]", "+net.more=1", "+hydra.job.env_set={A:b}"], undefined],
  ] as const)("%j", (overrides, reads) => {
    const warm = swept(overrides);
    const own = swept([...overrides, "hydra.launcher.warm=false"]);
    expect(warm.results).toEqual(own.results);
    expect(warm.saved).toEqual(own.saved);
    if (reads !== undefined) expect(warm.reads).toBe(reads);
  });

  test("a task that composes again finds the ConfigStore as it has changed it", () => {
    expect(swept(["again=true", "x=1,2"]).results).toEqual([9, 9]);
  });

  test("also of files that have changed meanwhile", () => {
    const { results } = swept(["db=pg", "edit=true,false,false", "x=3"]);
    expect(results.map(({ db }: { readonly db: object }) => "edited" in db)).toEqual([
      false,
      true,
      true,
    ]);
  });
});
