import { spawnSync } from "node:child_process";
import { closeSync, existsSync, openSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** A program that tolerates closed pipes, as often as a program that calls `hydraMain` again and again. */
function run(code: string, stdout: "pipe" | number) {
  const text = `
    import { tolerateClosedPipes } from "./src/system/closed-pipes.ts";
    for (let times = 0; times < 20; times++) tolerateClosedPipes();
    ${code}`;
  const { status, stderr } = spawnSync(
    process.execPath,
    ["--import", "./scripts/typescript-loader.mjs", "--input-type=module", "-e", text],
    { cwd: ROOT, stdio: ["ignore", stdout, "pipe"], encoding: "utf8" },
  );
  return { status, stderr };
}

it.runIf(existsSync("/dev/full"))("says once that the disk behind an output is full", () => {
  const full = openSync("/dev/full", "w");
  const ended = run(
    `process.exitCode = 0;
    for (const line of ["a", "b", "c"]) await new Promise((done) => process.stdout.write(line, () => done()));
    process.exitCode = 0;`,
    full,
  );
  closeSync(full);
  expect(ended).toEqual({
    status: 1,
    stderr: "standard output cannot be written: ENOSPC: no space left on device, write\n",
  });
});

it("listens once, however often it is asked for", () => {
  expect(run("console.log('fine');", "pipe")).toEqual({ status: 0, stderr: "" });
});
