import { spawnSync } from "node:child_process";
import { closeSync, existsSync, mkdtempSync, openSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";
import { beforeAll, describe, expect, it } from "vitest";
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

describe("standardStream", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "hydraconf-streams-"));
    // Not by the loader of TypeScript, whose thread uses the streams of the process.
    buildSync({
      entryPoints: [join(ROOT, "src/foundation/system/standard-streams.ts")],
      outfile: join(folder, "streams.mjs"),
      bundle: true,
      platform: "node",
      format: "esm",
    });
  });

  let programs = 0;
  /** `MB` is a line of a million characters, `write` a write to standard output; `isTaken` tells whether Node's stream is. */
  const program = (code: string): readonly string[] => {
    const file = join(folder, `main-${programs++}.mjs`);
    writeFileSync(
      file,
      `import { standardStream } from "./streams.mjs";
      const MB = (letter) => letter.repeat(999_999) + "\\n";
      const original = Object.getOwnPropertyDescriptor(process, "stdout").get;
      const { write } = standardStream("stdout");
      const isTaken = () => Object.getOwnPropertyDescriptor(process, "stdout").get === original;
      ${code}`,
    );
    return [process.execPath, file];
  };
  const run = ([file = "", ...args]: readonly string[], env: NodeJS.ProcessEnv = {}) => {
    const options = {
      encoding: "utf8",
      env: { ...process.env, ...env },
      maxBuffer: 2 ** 24,
    } as const;
    const { status, stderr, stdout } = spawnSync(file, args, options);
    return { status, stderr, stdout };
  };

  it("writes to a pipe without Node's stream, until somebody takes it", () => {
    const argv = program(
      `write("first\\n"); const taken = [isTaken()];
      console.log("second"); taken.push(isTaken());
      write("third\\n");
      console.error(taken.join());`,
    );
    expect(run(argv)).toEqual({
      status: 0,
      stderr: "false,true\n",
      stdout: "first\nsecond\nthird\n",
    });
  });

  it("uses Node's stream where Node's options may have run other code", () => {
    const argv = program("console.error(isTaken());");
    expect(run(argv).stderr).toBe("false\n");
    expect(run(argv, { NODE_OPTIONS: "--no-warnings" }).stderr).toBe("true\n");
  });

  it("keeps the order of texts that wait for a reader", () => {
    const argv = program(`write(MB("a")); console.log("b"); write(MB("c")); console.log("d");`);
    expect(run(["bash", "-c", '"$@" | cut -c1', "bash", ...argv]).stdout).toBe("a\nb\nc\nd\n");
  });

  it("waits in Node's stream where a pipe does not block", () => {
    // The child fills the pipe before its parent reads.
    const parent = `import os, subprocess, sys
reads, writes = os.pipe()
os.set_blocking(writes, False)
child = subprocess.Popen(sys.argv[1:], stdout=writes, stderr=subprocess.PIPE)
os.close(writes)
child.stderr.readline()
print(len(open(reads, "rb").read()), child.wait())`;
    const argv = program(`write(MB("a")); console.error(isTaken()); write(MB("b"));`);
    expect(run(["python3", "-c", parent, ...argv]).stdout).toBe("2000000 0\n");
  });

  it("ignores a reader that is gone", () => {
    const argv = program(`for (let i = 0; i < 4; i++) write(MB("a")); console.error(isTaken());`);
    const piped = ["bash", "-c", 'set -o pipefail; "$@" | head -c1', "bash", ...argv];
    expect(run(piped)).toEqual({ status: 0, stderr: "false\n", stdout: "a" });
  });
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
