/** `hydraconf gc DIR`: what counts as old output, and that nothing else is removed. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { runGc } from "../../../src/app/cli/gc-command.ts";
import { completeInvocation } from "../../../src/app/job/process/invocation.ts";
import { claimSweep } from "../../../src/app/record/launcher-claim.ts";
import { isConfigError } from "../../../src/engine/values/errors.ts";
import { capturedConsole } from "../../captured-console.ts";

// By the clock that dates what a claim writes here; directories are looked at a minute later.
const NOW = new Date();
const LATER = new Date(NOW.getTime() + 60_000);
const daysAgo = (days: number): Date => new Date(NOW.getTime() - days * 86_400_000);

/** Files with their ages in days. */
function tree(files: Readonly<Record<string, number>>): string {
  const root = mkdtempSync(join(tmpdir(), "hydraconf-gc-"));
  for (const name of Object.keys(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), "x".repeat(100));
  }
  // From the inside out: writing a file changes its directory.
  for (const [name, days] of Object.entries(files))
    for (let path = join(root, name); path !== root; path = dirname(path))
      utimesSync(path, daysAgo(days), daysAgo(days));
  return root;
}

const gc = (root: string, args: readonly string[] = []) => {
  const { console, out } = capturedConsole();
  const exitCode = runGc([".", ...args], {
    ...completeInvocation({ console, cwd: root }),
    now: LATER,
  });
  return { exitCode, lines: out.stdout.trimEnd().split("\n") };
};

const FILES = {
  "outputs/2026-09-01/10-00-00/.hydra/config.yaml": 80,
  "outputs/2026-09-01/10-00-00/train.log": 80,
  "outputs/2026-11-20/10-00-00/.hydra/config.yaml": 9,
  "outputs/2026-08-01/09-00-00/.hydra/config.yaml": 100,
  "outputs/2026-08-01/09-00-00/checkpoints/late.pt": 2,
  "multirun/old/multirun.yaml": 60,
  "multirun/old/0/.hydra/config.yaml": 60,
  "data/model.pt": 400,
};

describe("hydraconf gc", () => {
  test("lists what nothing was written to for 30 days, and changes nothing", () => {
    const root = tree(FILES);
    expect(gc(root)).toEqual({
      exitCode: 0,
      lines: [
        "sweep  multirun/old  60 days",
        "run    outputs/2026-09-01/10-00-00  80 days",
        "Below .: 3 runs and 1 sweep; old is what nothing was written to for 30d",
        "2 directories, 0.0 MB; --delete removes them",
      ],
    });
    for (const name of Object.keys(FILES)) expect(existsSync(join(root, name))).toBe(true);
  });

  test("says what it looked at where nothing is old, and where there is nothing", () => {
    expect(gc(tree(FILES), ["--older-than", "52w", "--keep", "1"]).lines).toEqual([
      "Below .: 3 runs and 1 sweep; old is what nothing was written to for 52w, and is not among the 1 newest",
      "0 directories, 0.0 MB",
    ]);
    expect(gc(tree({ "data/model.pt": 400 })).lines[0]).toBe(
      "Below . is no output directory: one of a run has .hydra/config.yaml, one of a sweep multirun.yaml or .sweep",
    );
  });

  test("--delete removes them, with the directories that are then empty", () => {
    const root = tree(FILES);
    expect(gc(root, ["--delete"]).lines.at(-1)).toBe("removed 2 directories, 0.0 MB");
    expect(Object.keys(FILES).filter((name) => existsSync(join(root, name)))).toEqual([
      "outputs/2026-11-20/10-00-00/.hydra/config.yaml",
      "outputs/2026-08-01/09-00-00/.hydra/config.yaml",
      "outputs/2026-08-01/09-00-00/checkpoints/late.pt",
      "data/model.pt",
    ]);
    expect(existsSync(join(root, "outputs/2026-09-01"))).toBe(false);
    expect(existsSync(join(root, "multirun"))).toBe(false);
    expect(gc(root).lines.at(-1)).toBe("0 directories, 0.0 MB");
  });

  test("--older-than and --keep", () => {
    const root = tree(FILES);
    expect(gc(root, ["--older-than", "1w"]).lines).toHaveLength(5);
    expect(gc(root, ["--older-than=24h", "--keep", "2"]).lines.slice(0, -2)).toEqual([
      "sweep  multirun/old  60 days",
      "run    outputs/2026-09-01/10-00-00  80 days",
    ]);
    for (const wrong of ["30", "-1d", "1y"])
      expect(() => gc(root, [`--older-than=${wrong}`])).toThrow(/is no age/);
  });

  test("keeps a program's own directory, DIR itself, links and sweeps that are running", () => {
    const root = tree({
      ".hydra/config.yaml": 90,
      "project/.hydra/config.yaml": 90,
      "project/train.py": 90,
      "project/outputs/a/.hydra/config.yaml": 90,
      "running/.sweep/manifest.json": 90,
      "linked/run/.hydra/config.yaml": 1,
    });
    const elsewhere = tree({ "run/.hydra/config.yaml": 90 });
    symlinkSync(elsewhere, join(root, "link"));
    const claim = claimSweep(join(root, "running/.sweep"));
    try {
      // What is listed is what --delete removes.
      const { lines } = gc(root, ["--older-than", "0d"]);
      expect(lines).not.toContainEqual(expect.stringContaining("running"));
      expect(lines.at(-2)).toContain("; 1 sweep may still run, and stay");
      expect(gc(root, ["--delete", "--older-than", "10d"]).lines).toEqual([
        "run    project/outputs/a  90 days",
        expect.stringContaining("Below .: 2 runs and 1 sweep"),
        "removed 1 directory, 0.0 MB",
      ]);
    } finally {
      claim.release();
    }
    expect(existsSync(join(elsewhere, "run/.hydra/config.yaml"))).toBe(true);
    expect(existsSync(join(root, "project/train.py"))).toBe(true);
  });

  test("--json has the same; a directory that is not there is a wrong command line", () => {
    const root = tree(FILES);
    const { lines } = gc(root, ["--json"]);
    const told = JSON.parse(lines.join("\n"));
    expect(told).toMatchObject({
      version: 1,
      deleted: false,
      bytes: 400,
      seen: { runs: 3, sweeps: 1, running: 0 },
    });
    expect(told.outputs.map(({ kind }: { readonly kind: string }) => kind)).toEqual([
      "sweep",
      "run",
    ]);
    for (const wrong of ["nope", "data/model.pt"])
      try {
        runGc([wrong], completeInvocation({ console: capturedConsole().console, cwd: root }));
        expect.unreachable();
      } catch (error) {
        expect(isConfigError(error) && error.code, wrong).toBe("app.usage");
      }
  });
});
