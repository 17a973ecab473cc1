import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { askProgram } from "../../../src/profile/machine/ask-program.ts";
import { until } from "../../wait.ts";

const directory = mkdtempSync(join(tmpdir(), "ask-program-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function script(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, `#!/bin/sh\n${text}\n`);
  chmodSync(path, 0o755);
  return path;
}

const soon = { timeoutMs: 300 };
const patient = { timeoutMs: 60_000 };

describe("a program that is asked", () => {
  it("answers on standard output, and says there why it cannot", async () => {
    const good = script("good", 'echo "$1 $WORD"; echo warned >&2');
    expect(await askProgram([good, "a"], { ...patient, env: { WORD: "b" } })).toEqual({
      failed: false,
      why: "",
      stdout: "a b",
      stderr: "warned",
    });
    const bad = script("bad", "echo no >&2; exit 3");
    expect(await askProgram([bad], patient)).toMatchObject({
      failed: true,
      why: expect.stringContaining("exit code 3"),
      stderr: "no",
    });
    expect(await askProgram([join(directory, "absent")], patient)).toMatchObject({ failed: true });
  });

  it("is stopped with all that it started, though it ignores signals", async () => {
    const pids = join(directory, "pids");
    const late = script(
      "late",
      `trap '' TERM INT; sleep 1000 & echo $! > ${pids}.part; mv ${pids}.part ${pids}; wait; wait`,
    );
    const { failed, why } = await askProgram([late], soon);
    expect([failed, why]).toEqual([true, "it did not answer within 0.3 s"]);
    if (existsSync(pids)) {
      const child = readFileSync(pids, "utf8").trim();
      await until(() => !isRunning(child));
    }
  });

  it("is stopped also where it is the one that does not end", async () => {
    const hung = script("hung", "exec sleep 1000");
    expect(await askProgram([hung], soon)).toMatchObject({ failed: true, stdout: "" });
  });

  it("may print without end: that is no answer", async () => {
    const flood = script("flood", "yes");
    expect((await askProgram([flood], { ...patient, maxBytes: 10_000 })).failed).toBe(true);
  });
});

/** What was killed stays as a zombie where nobody asks for its end. */
function isRunning(pid: string): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}
