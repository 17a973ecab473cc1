import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, expect, it } from "vitest";
import { listFiles } from "./files.ts";

const script = fileURLToPath(new URL("../../scripts/gpu-check.py", import.meta.url));
const root = mkdtempSync(join(tmpdir(), "hydraconf-gpu-check-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

it("gpu-check.py leaves a few archives, and says what it cannot check and keep", async () => {
  const out = join(root, "out");
  const bin = join(root, "bin");
  mkdirSync(out);
  mkdirSync(bin);
  // A tool that leaves files and fails.
  const lines = [
    "#!/bin/sh",
    `cd '${out}' && mkdir -p deep && echo a > a.ncu-rep && echo c > deep/c.nvtxrec`,
    "head -c 16777216 /dev/zero > deep/b.sqlite",
    "exit 1",
  ];
  writeFileSync(join(bin, "ncu"), `${lines.join("\n")}\n`);
  chmodSync(join(bin, "ncu"), 0o755);
  writeFileSync(join(out, "mine.ncu-rep"), "was there before");
  const args = [script, "--program", "/bin/true", "--only", "fixtures", "--pack", "--out", out];
  const run = promisify(execFile)("python3", args, {
    env: { ...process.env, PATH: `${bin}:${process.env["PATH"]}` },
  });
  await expect(run).rejects.toMatchObject({ code: 1 });
  const names = listFiles(out, "").map((file) => file.slice(out.length + 1));
  expect(names.sort()).toEqual([
    "mine.ncu-rep",
    "ncu-reports.tar.gz",
    "ncu-tables.tar.gz",
    "recordings.tar.gz",
    "results.json",
    "results.md",
  ]);
  const text = readFileSync(join(out, "results.md"), "utf8");
  expect(text).toContain("| FAILED | fixtures | cuda range |");
  expect(text).toContain("Too large to keep: deep/b.sqlite");
});
