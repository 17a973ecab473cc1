import { spawnSync } from "node:child_process";
import { closeSync, existsSync, openSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { takesColor, terminalWidth } from "../../../src/foundation/system/standard-streams.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/** A program that tolerates closed pipes, as often as a program that calls `hydraMain` again and again. */
function run(code: string, stdout: "pipe" | number) {
  const text = `
    import { tolerateClosedPipes } from "./src/foundation/system/standard-streams.ts";
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

describe("takesColor", () => {
  it.each([
    [true, {}, true],
    [true, { TERM: "xterm-256color" }, true],
    [true, { TERM: "dumb" }, false],
    [true, { NO_COLOR: "1" }, false],
    [true, { NO_COLOR: "0" }, false],
    [true, { NO_COLOR: "" }, true],
    [false, {}, false],
    [undefined, { FORCE_COLOR: "1" }, false],
  ])("of a stream with isTTY %s and %j is %s", (isTTY, env, expected) => {
    expect(takesColor({ ...(isTTY !== undefined && { isTTY }) }, env)).toBe(expected);
  });
});

describe("terminalWidth", () => {
  it.each([
    [{}, 132, 132],
    [{ COLUMNS: "40" }, 132, 40],
    [{ COLUMNS: "40" }, undefined, 40],
    [{ COLUMNS: "" }, 132, 132],
    [{ COLUMNS: "wide" }, undefined, 100],
    [{ COLUMNS: "-3" }, 0, 100],
    [{}, undefined, 100],
  ])("%j on a terminal of %s is %i", (env, columns, width) => {
    expect(terminalWidth(env, columns)).toBe(width);
  });
});
