import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { askProgram, runWithProgress } from "../../../src/profiler/machine/run-tool.ts";
import { eventually, until } from "../../wait.ts";

describe("ask program", () => {
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
      expect(await askProgram([join(directory, "absent")], patient)).toMatchObject({
        failed: true,
      });
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
});

describe("run with progress", () => {
  function temporary(): string {
    const folder = mkdtempSync(join(tmpdir(), "tool-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    return folder;
  }

  const start = (script: string) =>
    execa("sh", ["-c", script], { reject: false, detached: true, cleanup: false, all: true });

  it("a tool that ignores signals is ended with what it started, which holds its output open", async () => {
    const folder = temporary();
    const stop = new AbortController();
    const pidFile = join(folder, "pid");
    const child = start(
      `trap '' TERM; (trap '' TERM; while :; do sleep 1; done) & echo $! > '${pidFile}'; wait`,
    );
    const ended = runWithProgress(
      child,
      { doing: "hanging" },
      { stop: stop.signal, say: () => {} },
    );
    const pid = await eventually(() => {
      const text = readFileSync(pidFile, "utf8");
      expect(text).toMatch(/\n/);
      return Number(text);
    });
    stop.abort("SIGINT");
    expect(await ended).toMatchObject({ failed: true, signal: "SIGKILL" });
    await eventually(() => expect(() => process.kill(pid, 0)).toThrow("ESRCH"));
  });

  it("one goes with the process that waits for it, however that ends", async () => {
    const script = `
    import { execa } from "execa";
    import { runWithProgress } from "./src/profiler/machine/run-tool.ts";
    const tool = execa("sh", ["-c", "trap '' TERM; echo $$; while :; do sleep 1; done"], {
      reject: false, detached: true, cleanup: false,
    });
    tool.stdout.once("data", (pid) => process.stdout.write(pid, () => process.exit(3)));
    await runWithProgress(tool, { doing: "hanging" }, { stop: new AbortController().signal, say: () => {} });
  `;
    const root = fileURLToPath(new URL("../../..", import.meta.url));
    const { exitCode, stdout } = await execa(
      process.execPath,
      ["--import", "./scripts/typescript-loader.mjs", "--input-type=module", "-e", script],
      { cwd: root, reject: false },
    );
    expect(exitCode).toBe(3);
    const pid = Number(stdout);
    expect(pid).toBeGreaterThan(1);
    await eventually(() => expect(() => process.kill(pid, 0)).toThrow("ESRCH"));
  });

  it("one that is started when all is over already ends, too", async () => {
    const child = start("while :; do sleep 1; done");
    const control = { stop: AbortSignal.abort("SIGTERM"), say: () => {} };
    expect(await runWithProgress(child, { doing: "hanging" }, control)).toMatchObject({
      signal: "SIGTERM",
    });
  });

  it("a slow tool is reported, with what it has written so far; it has no time limit", async () => {
    const folder = temporary();
    const [output, end] = [join(folder, "output"), join(folder, "end")];
    writeFileSync(output, Buffer.alloc(3_400_000));
    const said: string[] = [];
    const stop = new AbortController().signal;
    const ended = runWithProgress(
      start(`until [ -e '${end}' ]; do sleep 0.05; done; echo done`),
      { doing: "exporting", output },
      { stop, say: (line) => said.push(line), everyMs: 1 },
    );
    await eventually(() => expect(said).toContain("still exporting: 0 min, 3 MB written"));
    rmSync(output);
    await eventually(() => expect(said.at(-1)).toBe("still exporting: 0 min"));
    expect(existsSync(end)).toBe(false);
    writeFileSync(end, "");
    expect(await ended).toMatchObject({ failed: false, all: "done" });
    const before = said.length;
    await new Promise((done) => setImmediate(done));
    expect(said).toHaveLength(before);
  });

  it("one that cannot be started is told as such", async () => {
    const child = execa("/nowhere/tool", { reject: false, detached: true, cleanup: false });
    const control = { stop: AbortSignal.abort(), say: () => {} };
    expect(await runWithProgress(child, { doing: "nothing" }, control)).toMatchObject({
      code: "ENOENT",
    });
  });
});
