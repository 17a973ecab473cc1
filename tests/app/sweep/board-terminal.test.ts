import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { describe, expect, test } from "vitest";
import { workplace } from "./program/start.ts";
import { openScreen } from "./screen.ts";

const IN_TERMINAL = fileURLToPath(
  new URL("../../fixtures/programs/in_terminal.py", import.meta.url),
);
const LOCAL = ["hydra/launcher=local", "hydra.launcher.n_jobs=2"];

/** Runs the program on a terminal; Ctrl-C is pressed there once a text has appeared. */
async function onTerminal(
  argv: readonly string[],
  { env = {}, pressAt = "never" }: { env?: Record<string, string>; pressAt?: string } = {},
) {
  const place = workplace();
  const { exitCode, stdout } = await execa(
    "python3",
    [IN_TERMINAL, pressAt, ...place.command, ...argv],
    {
      cwd: place.cwd,
      env: { TERM: "xterm", CI: "", ...env },
      reject: false,
      stripFinalNewline: false,
    },
  );
  // Other sizes than none are not set there: then it is that of the oldest terminals.
  const screen = openScreen(80, 24);
  screen.write(stdout);
  return { ...place, exitCode, stdout, lines: screen.lines() };
}

describe("a sweep on a real terminal", () => {
  test("shows a table that stays, then the failures", async () => {
    const { exitCode, lines } = await onTerminal(["-m", "x=1,2", "do=ok,fail", ...LOCAL]);
    expect(exitCode).toBe(1);
    const text = lines.join("\n");
    expect(lines.filter((line) => /^#\d {2}(completed|failed) /.test(line))).toHaveLength(4);
    expect(lines.filter((line) => line.startsWith("#") && line.includes("running"))).toEqual([]);
    expect(text).toContain("\n2 of 4 jobs completed, 2 failed; ");
    expect(text).toMatch(/#1 +x=1 do=fail +boom 1 +s\/\.sweep\/jobs\/1\.log/);
    expect(lines.at(-1)).toBe("");
  });

  test("Ctrl-C leaves the jobs' states and a cursor below them", async () => {
    const { exitCode, lines, state, stdout } = await onTerminal(
      ["-m", "x=1,2,3", "do=hold", ...LOCAL],
      { pressAt: "2 running" },
    );
    expect(exitCode).toBe(130);
    expect(state(0)?.status).toBe("stopped");
    expect(lines.join("\n")).toContain("0 of 3 jobs completed, 2 stopped, 1 missing; ");
    // The command as it was typed, which is longer than a line.
    expect(lines.join("")).toMatch(
      /The sweep is incomplete: run the rest with node \S+prog\.cjs --resume s/,
    );
    expect(stdout).not.toContain("\u001b[?25l");
    expect(lines.at(-1)).toBe("");
  });

  test.each([{ TERM: "dumb" }, { CI: "true" }])(
    "writes lines where the terminal is a log: %o",
    async (env) => {
      const { lines, stdout } = await onTerminal(["-m", "x=1,2", ...LOCAL], { env });
      expect(stdout).not.toContain("\u001b[");
      expect(lines.join("\n")).toMatch(/^#1 x=2: completed in \S+ s \(\d of 2\b.*\)$/m);
    },
  );

  test("shows no colour with NO_COLOR", async () => {
    const { stdout } = await onTerminal(["-m", "x=1,2", ...LOCAL], { env: { NO_COLOR: "1" } });
    expect(stdout).toContain("\u001b[J");
    expect(stdout).not.toContain("\u001b[32m");
  });

  test("Hydra's own launcher says what Hydra says, and leaves the files of Hydra", async () => {
    const { cwd, exitCode, lines, stdout } = await onTerminal(["-m", "x=1,2"]);
    expect([exitCode, stdout.includes("\u001b[")]).toEqual([0, false]);
    expect(lines.map((line) => line.replace(/^\[.*\]\[HYDRA\] /, ""))).toEqual([
      "Launching 2 jobs locally",
      expect.stringContaining("#0 : x=1"),
      "x is 1",
      expect.stringContaining("#1 : x=2"),
      "x is 2",
      "",
    ]);
    const { jobs } = JSON.parse(readFileSync(join(cwd, "s/.sweep/sweep.json"), "utf8"));
    expect(jobs).toMatchObject([{ result: { square: 1 } }, { result: { square: 4 } }]);
  });
});
