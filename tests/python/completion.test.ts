import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runCompletionCode } from "../../src/python/completion.ts";
import { capturedConsole } from "../captured-console.ts";

async function codeFor(shell: string, cwd = mkdtempSync(join(tmpdir(), "hydraconf-sc-"))) {
  const { console, out } = capturedConsole();
  const call = { argv: [], env: {}, cwd, console, now: new Date() };
  return { code: await runCompletionCode([shell], call), text: () => out.stdout };
}

test.each(["bash", "zsh", "fish"])("%s takes the code", async (shell) => {
  const { code, text } = await codeFor(shell);
  expect(code).toBe(0);
  const known = spawnSync(shell, ["-c", "true"]).status === 0;
  if (!known) {
    console.warn(`SKIPPED: there is no ${shell}`);
    return;
  }
  const file = join(mkdtempSync(join(tmpdir(), "hydraconf-sc-")), "code");
  writeFileSync(file, text());
  const { status, stderr } = spawnSync(shell, ["-n", file], { encoding: "utf8" });
  expect([status, stderr]).toEqual([0, ""]);
});

test("bash asks for the program in the line, from any starter, and leaves other lines alone", async () => {
  const cwd = mkdtempSync(join(tmpdir(), "hydraconf-sc-"));
  writeFileSync(join(cwd, "train.py"), "");
  mkdirSync(join(cwd, "bin"));
  writeFileSync(join(cwd, "bin/hydraconf"), '#!/bin/sh\necho "$COMP_LINE|$COMP_POINT|$*"\n', {
    mode: 0o755,
  });
  const { text } = await codeFor("bash");
  const ask = (line: string) => `COMP_LINE='${line}'; COMP_POINT=${line.length}
COMP_WORDS=($COMP_LINE ''); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); COMPREPLY=(none)
__hydraconf_python python; echo "\${COMPREPLY[0]}"
`;
  const { stdout } = spawnSync(
    "bash",
    ["-c", `${text()}${ask("torchrun -n 2 train.py db=a ")}${ask("python other.py x ")}`],
    { cwd, encoding: "utf8", env: { PATH: `${join(cwd, "bin")}:${process.env["PATH"]}` } },
  );
  expect(stdout).toBe("prog db=a |10|--app train.py -sc query=bash\nnone\n");
});

test("another shell is refused with the nearest name", async () => {
  await expect(codeFor("fisch")).rejects.toThrow("'fisch' is not a shell");
});
