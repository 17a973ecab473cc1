import { once } from "node:events";
import { copyFileSync, existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { describe, expect, test } from "vitest";
import { readRecording } from "../../src/profiler/tools/recorder/read.ts";
import { availableClients, buildFixture, recorderEnvironment } from "./fixtures.ts";
import { recordingDirectory } from "./record.ts";

/** What a process has recorded last, where its recording is written through the kernel: it is in a file in /dev/shm. */
const isPossible =
  process.platform === "linux" && availableClients("stages of recordings").length > 0;

const STAGED = { HYDRACONF_RECORDER_WRITING: "staged" };

/** Lets a program end; returns the directory, the recording and the stage. */
async function ended(ending: string) {
  const directory = recordingDirectory();
  const program = await buildFixture("endings.cc", "own client");
  await execa(program, [ending], {
    env: { ...(await recorderEnvironment(directory)), ...STAGED },
    reject: false,
  });
  const [name = ""] = readdirSync(directory);
  return { directory, recording: join(directory, name), stage: join("/dev/shm", name) };
}

const namesIn = (directory: string) =>
  readRecording(directory).processes.map(({ ranges }) => ranges.map(({ name }) => name));
const notesIn = (directory: string) =>
  readRecording(directory)
    .processes.flatMap(({ notes }) => notes)
    .join("\n");

describe.runIf(isPossible)("a stage", () => {
  test("is gone after an orderly end", async () => {
    const { directory, stage } = await ended("return");
    expect(existsSync(stage)).toBe(false);
    expect(namesIn(directory)).toEqual([["done", "open"]]);
    expect(notesIn(directory)).toBe("");
  });

  test("of a process that was killed moves into the recording with the first reading", async () => {
    const { directory, stage } = await ended("kill");
    expect(existsSync(stage)).toBe(true);
    expect(namesIn(directory)).toEqual([["done", "open"]]);
    expect(existsSync(stage)).toBe(false);
    expect(namesIn(directory)).toEqual([["done", "open"]]);
    expect(notesIn(directory)).not.toContain("missing");
  });

  test("of a process that runs is read and left alone", async () => {
    const directory = recordingDirectory();
    const program = await buildFixture("endings.cc", "own client");
    const env = { ...(await recorderEnvironment(directory)), ...STAGED };
    const running = execa(program, ["pause"], { env });
    await once(running.stdout, "data");
    const [name = ""] = readdirSync(directory);
    expect(namesIn(directory)).toEqual([["done", "open"]]);
    expect(existsSync(join("/dev/shm", name))).toBe(true);
    running.stdin.end();
    await running;
    expect(existsSync(join("/dev/shm", name))).toBe(false);
  });

  test("that is gone is missed", async () => {
    const { directory, stage } = await ended("kill");
    rmSync(stage);
    expect(namesIn(directory)).toEqual([[]]);
    expect(notesIn(directory)).toContain(
      "the last events of each thread are missing: they were left in /dev/shm",
    );
  });

  test("of another recording with its name is not believed", async () => {
    const { directory, stage } = await ended("kill");
    writeFileSync(stage, Buffer.alloc(8192, 1));
    expect(namesIn(directory)).toEqual([[]]);
    expect(existsSync(stage)).toBe(true);
    rmSync(stage);
  });

  test("is not what a recording in the same place is to itself", async () => {
    const { recording } = await ended("return");
    const [name = ""] = recording.split("/").slice(-1);
    const place = join("/dev/shm", name);
    copyFileSync(recording, place);
    try {
      const { stdout } = await execa("ls", ["/dev/shm"]);
      expect(stdout).toContain(name);
      // Only its own process has ended.
      expect(
        namesIn("/dev/shm")
          .flat()
          .filter((range) => range === "done").length,
      ).toBeGreaterThan(0);
      expect(existsSync(place)).toBe(true);
    } finally {
      rmSync(place, { force: true });
    }
  });
});
