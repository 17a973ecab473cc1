import {
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { nativeProgram } from "./programs.ts";
import { readTensors } from "./safetensors.ts";

const all = mkdtempSync(join(tmpdir(), "shallow-resnet-writing-"));
let directory = "";
const file = (name: string): string => join(directory, name);
const small = ["--batch-size=1", "--image-size=2", "--warmup=0", "--iterations=1"];

let program = "";
beforeAll(async () => {
  program = await nativeProgram("shallow_resnet");
});
beforeEach(() => {
  directory = mkdtempSync(join(all, "case-"));
});
afterAll(() => rmSync(all, { recursive: true }));

const output = (path: string) => execa(program, [...small, "--output", path]);

describe("a file that is written", () => {
  it("through a link is where the link leads, and the link stays", async () => {
    writeFileSync(file("old"), "before");
    for (const target of ["old", "new"]) {
      symlinkSync(target, file(`to-${target}`));
      await output(file(`to-${target}`));
      expect(readlinkSync(file(`to-${target}`))).toBe(target);
      expect([...readTensors(file(target)).keys()]).toEqual(["logits"]);
    }
    expect(readdirSync(directory).sort()).toEqual(["new", "old", "to-new", "to-old"]);
  });

  it("into a pipe leaves the pipe there: what is no file is not replaced", async () => {
    await execa("mkfifo", [file("pipe")]);
    const reading = execa("cat", [file("pipe")], { encoding: "buffer" });
    await output(file("pipe"));
    writeFileSync(file("copy"), (await reading).stdout);
    expect([...readTensors(file("copy")).keys()]).toEqual(["logits"]);
    expect(lstatSync(file("pipe")).isFIFO()).toBe(true);
  });

  it("into its output, which goes into a file, stands before the rest of it", async () => {
    // As /dev/stdout, which no failure of ours may replace.
    symlinkSync("/proc/self/fd/1", file("stdout"));
    const script = '"$0" --iterations=1 --image-size=2 --output "$1" > "$2"';
    await execa("bash", ["-c", script, program, file("stdout"), file("both")]);
    await execa("bash", ["-c", script, program, file("alone"), file("report")]);
    const [both, alone] = [readFileSync(file("both")), readFileSync(file("alone"))];
    expect(both.subarray(0, alone.length).equals(alone)).toBe(true);
    expect(Object.keys(JSON.parse(both.toString("utf8", alone.length)))).toEqual(
      Object.keys(JSON.parse(readFileSync(file("report"), "utf8"))),
    );
    expect(readlinkSync(file("stdout"))).toBe("/proc/self/fd/1");
  });

  it("does not go through what stands at its temporary name", async () => {
    writeFileSync(file("victim"), "intact");
    // The program's number is the shell's that becomes it.
    const script = 'ln -s victim "$1.tmp$$"; exec "$0" --iterations=1 --image-size=2 --output "$1"';
    await execa("bash", ["-c", script, program, file("out")]);
    expect(readFileSync(file("victim"), "utf8")).toBe("intact");
    expect(readdirSync(directory).sort()).toEqual(["out", "victim"]);
  });

  it("beyond the limit on sizes is told, and leaves what was there", async () => {
    writeFileSync(file("out"), "before");
    const script = 'ulimit -f 1; exec "$0" --image-size=2 --save-weights "$1"';
    const { exitCode, stderr } = await execa("bash", ["-c", script, program, file("out")], {
      reject: false,
    });
    expect(stderr).toBe(`shallow_resnet: cannot write ${file("out")}: File too large`);
    expect(exitCode).toBe(1);
    expect(readFileSync(file("out"), "utf8")).toBe("before");
    expect(readdirSync(directory)).toEqual(["out"]);
  });

  it("cannot take the place of a directory", async () => {
    const { exitCode, stderr } = await execa(program, [...small, "--output", directory], {
      reject: false,
    });
    expect(stderr).toBe(`shallow_resnet: cannot write ${directory}: Is a directory`);
    expect(exitCode).toBe(1);
    expect(existsSync(directory)).toBe(true);
  });
});
