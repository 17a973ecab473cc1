import {
  chmodSync,
  closeSync,
  createWriteStream,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { afterAll, describe, expect, it } from "vitest";
import { askProgram } from "../../../src/foundation/system/ask-program.ts";
import { askProgramSync } from "../../../src/foundation/system/ask-program-sync.ts";
import { eventually } from "../../wait.ts";

const directory = mkdtempSync(join(tmpdir(), "ask-program-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function script(name: string, text: string): readonly [string] {
  const path = join(directory, name);
  writeFileSync(path, `#!/bin/sh\n${text}\n`);
  chmodSync(path, 0o755);
  return [path];
}

/** Puts a text into a file that is there only when it is complete. */
const into = (file: string) => `> ${file}.part; mv ${file}.part ${file}`;

const idIn = (file: string): Promise<number> =>
  eventually(() => {
    const pid = Number(readFileSync(file, "utf8"));
    expect(pid).toBeGreaterThan(1);
    return pid;
  });

/** What was killed stays as a zombie where nobody asks for its end. */
const gone = (pid: number): Promise<void> =>
  eventually(() => {
    const stat = () => readFileSync(`/proc/${pid}/stat`, "utf8");
    let text: string;
    try {
      text = stat();
    } catch {
      return;
    }
    expect(text).toMatch(/^\d+ \(.*\) Z/);
  });

describe("an answer", () => {
  it("is what the program prints, or why there is none", async () => {
    const good = script("good", 'echo "$1 $WORD$HOME"; echo warned >&2');
    expect(await askProgram({ argv: [...good, "a"], env: { WORD: "b" } })).toEqual({
      failed: false,
      why: "",
      isGivenUp: false,
      exitCode: 0,
      stdout: "a b\n",
      stderr: "warned\n",
    });
    expect(await askProgram({ argv: script("bad", "echo no >&2; exit 3") })).toMatchObject({
      failed: true,
      why: "it ended with exit code 3",
      isGivenUp: false,
      exitCode: 3,
      stderr: "no\n",
    });
    const killed = await askProgram({ argv: script("killed", "kill -9 $$") });
    expect(killed).toMatchObject({ failed: true, why: "it was ended by SIGKILL" });
    expect(killed).toMatchObject({ signal: "SIGKILL", isGivenUp: false });
  });

  it("of a program that cannot be started says so", async () => {
    const file = join(directory, "plain");
    writeFileSync(file, "");
    for (const group of [false, true]) {
      expect(await askProgram({ argv: ["/nowhere/tool"], group })).toMatchObject({
        failed: true,
        why: "it was not found",
        code: "ENOENT",
      });
      expect(await askProgram({ argv: [file], group })).toMatchObject({
        why: "it is not executable",
        code: "EACCES",
      });
    }
  });

  it("may go elsewhere, or come together with what is printed as errors", async () => {
    const argv = script("both", "echo one; echo two >&2; sleep 0.1; echo three");
    const together = await askProgram({ argv, stdout: "with stderr" });
    expect(together.stdout.split("\n").sort()).toEqual(["", "one", "three", "two"]);
    expect(await askProgram({ argv, stdout: "nowhere" })).toMatchObject({
      stdout: "",
      stderr: "two\n",
    });
    const file = join(directory, "written");
    const written = await askProgram({ argv, stdout: createWriteStream(file) });
    expect(written).toMatchObject({ failed: false, stdout: "", stderr: "two\n" });
    expect(written.unwritten).toBeUndefined();
    expect(readFileSync(file, "utf8")).toBe("one\nthree\n");
  });

  it("that cannot be written elsewhere is told as such", async () => {
    const full = new Writable({
      write: (_chunk, _encoding, done) =>
        done(Object.assign(new Error("full"), { code: "ENOSPC" })),
    });
    const { unwritten } = await askProgram({ argv: script("much", "yes"), stdout: full });
    expect(unwritten?.code).toBe("ENOSPC");
  });

  it("without end is none", async () => {
    expect(await askProgram({ argv: script("flood", "yes"), maxBytes: 10_000 })).toMatchObject({
      failed: true,
      why: "its answer is longer than 10000 bytes",
      isGivenUp: true,
    });
  });

  it("does not wait for what the program leaves behind with its output open", async () => {
    const file = join(directory, "left");
    const argv = script("parent", `sleep 1000 & echo $! ${into(file)}; echo answer`);
    expect(await askProgram({ argv })).toMatchObject({ failed: false, stdout: "answer\n" });
    process.kill(await idIn(file), "SIGKILL");
  });
});

describe("a program that does not answer", () => {
  it("is killed when its time is over", async () => {
    const argv = script("late", "trap '' TERM INT; sleep 1000");
    expect(await askProgram({ argv, limitMs: 300 })).toMatchObject({
      failed: true,
      why: "it did not answer within 0.3 s",
      isGivenUp: true,
      stdout: "",
    });
  });

  it.each([false, true])("is killed with all that it started; group: %s", async (group) => {
    const file = join(directory, `hung-${group}`);
    const text = `trap '' TERM INT; sleep 1000 & echo $! ${into(file)}; wait; wait`;
    const stop = new AbortController();
    const argv = script(`hung-script-${group}`, text);
    const answer = askProgram({ argv, group, abort: stop.signal });
    const child = await idIn(file);
    stop.abort();
    expect(await answer).toMatchObject({
      failed: true,
      why: "its answer is no longer waited for",
      isGivenUp: true,
    });
    await gone(child);
  });

  it.each([false, true])("is asked to end first if it has a grace; group: %s", async (group) => {
    const file = join(directory, `polite-${group}`);
    const text = `trap 'echo bye; exit 4' TERM; sleep 1000 & echo $! ${into(file)}; wait`;
    const stop = new AbortController();
    const answer = askProgram({
      argv: script(`polite-script-${group}`, text),
      ...{ group, graceMs: 60_000, abort: stop.signal },
    });
    const child = await idIn(file);
    stop.abort();
    expect(await answer).toMatchObject({
      failed: true,
      why: "its answer is no longer waited for",
      isGivenUp: true,
      exitCode: 4,
      stdout: "bye\n",
    });
    await gone(child);
  });

  it.each([false, true])("is killed after the grace; group: %s", async (group) => {
    const file = join(directory, `deaf-${group}`);
    const text = `trap '' TERM; (trap '' TERM; while :; do sleep 1; done) & echo $! ${into(file)}; wait`;
    const stop = new AbortController();
    const argv = script(`deaf-script-${group}`, text);
    const answer = askProgram({ argv, group, graceMs: 50, abort: stop.signal });
    const child = await idIn(file);
    stop.abort();
    expect(await answer).toMatchObject({ failed: true, isGivenUp: true });
    await gone(child);
  });

  it("goes with the process that waits for it, however that ends", async () => {
    const file = join(directory, "group");
    const argv = script(
      "group-script",
      `trap '' TERM; echo $$ ${into(file)}; while :; do sleep 1; done`,
    );
    const text = `
    import { existsSync } from "node:fs";
    import { askProgram } from "./src/foundation/system/ask-program.ts";
    setInterval(() => existsSync(${JSON.stringify(file)}) && process.exit(3), 5);
    await askProgram({ argv: ${JSON.stringify(argv)}, group: true });
  `;
    const root = fileURLToPath(new URL("../../..", import.meta.url));
    const { exitCode } = await execa(
      process.execPath,
      ["--import", "./scripts/typescript-loader.mjs", "--input-type=module", "-e", text],
      { cwd: root, reject: false },
    );
    expect(exitCode).toBe(3);
    await gone(await idIn(file));
  });
});

describe("a question that this process waits for", () => {
  const plain = join(directory, "unstartable");
  writeFileSync(plain, "");

  it.each([
    ["of a program that answers", { argv: [...script("answers", "echo yes; echo warned >&2")] }],
    ["of one that fails", { argv: [...script("fails", "echo no; echo why >&2; exit 3")] }],
    ["of one that a signal ends", { argv: [...script("struck", "echo no; kill -9 $$")] }],
    ["of one that is not there", { argv: ["/nowhere/tool"] }],
    ["of one that may not be executed", { argv: [plain] }],
    ["in a folder", { argv: ["/bin/pwd"], cwd: "/" }],
    ["with an environment", { argv: ["/usr/bin/env"], env: { WORD: "b", NONE: undefined } }],
    ["to nowhere", { argv: [...script("prints", "echo yes; echo warned >&2")], stdout: "nowhere" }],
    ["of one that says too much", { argv: [...script("long", "yes")], maxBytes: 1000 }],
    ["of one that is late", { argv: [...script("late", "exec sleep 100")], limitMs: 100 }],
  ] as const)("%s is answered as others are", async (_, question) => {
    const [waited, answer] = [askProgramSync(question), await askProgram(question)];
    const { failed, isGivenUp, why } = answer;
    // What was printed until it was given up, and how it ended then, depend on when it was read.
    if (isGivenUp) expect(waited).toMatchObject({ failed, isGivenUp, why });
    else expect(waited).toEqual(answer);
  });

  it("may have its output written to an open file", () => {
    const file = join(directory, "written");
    const descriptor = openSync(file, "w");
    const [program] = script("writes", "echo yes; echo warned >&2");
    const answer = askProgramSync({ argv: [program], stdout: { descriptor } });
    closeSync(descriptor);
    expect([answer.stdout, answer.stderr]).toEqual(["", "warned\n"]);
    expect(readFileSync(file, "utf8")).toBe("yes\n");
  });
});
