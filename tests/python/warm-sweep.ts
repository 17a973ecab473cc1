/** Sweeps of programs of Python's Hydra, for which the stand-in stands. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { commandPath } from "../e2e/command.ts";

const HYDRA = fileURLToPath(new URL("../fixtures/python-hydra", import.meta.url));
export const STAND_IN_ENV = {
  PATH: process.env["PATH"],
  PYTHONPATH: HYDRA,
  PYTHONDONTWRITEBYTECODE: "1",
};

/** A program whose jobs return what `task` says; each import of it adds a line to the file `imports`. */
export const program = (head: string, task: string): string => `import os, random, sys, time
import hydra
with open("imports", "a") as file:
    file.write("imported\\n")
${head}

@hydra.main(version_base="1.3", config_path="conf", config_name="train")
def main(cfg):
${task.replaceAll(/^/gm, "    ")}

if __name__ == "__main__":
    main()
`;

/** A folder with the program as `train.py`. */
export function project(source: string): string {
  const cwd = mkdtempSync(join(tmpdir(), "hydraconf-warm-"));
  mkdirSync(join(cwd, "conf"));
  writeFileSync(join(cwd, "conf/train.yaml"), "x: 0\nminutes: 60\n");
  writeFileSync(join(cwd, "train.py"), source);
  return cwd;
}

export function sweep(
  source: string,
  overrides: readonly string[],
  command = ["python3", "train.py"],
) {
  const cwd = project(source);
  const { status, stderr, stdout } = spawnSync(
    process.execPath,
    [commandPath("hydraconf"), "run", "-m", ...overrides, "hydra.sweep.dir=s", "--", ...command],
    { cwd, encoding: "utf8", env: STAND_IN_ENV },
  );
  const table = join(cwd, "s/sweep.json");
  const jobs: readonly {
    readonly status: string;
    readonly result: unknown;
    readonly error: unknown;
  }[] = existsSync(table) ? JSON.parse(readFileSync(table, "utf8")).jobs : [];
  const imports = readFileSync(join(cwd, "imports"), "utf8").trim().split("\n").length;
  return { cwd, imports, jobs, status, stderr, stdout };
}
