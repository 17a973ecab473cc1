import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { watchInjections } from "../../../../src/profiler/tools/recorder/other-injections.ts";
import { availableClients } from "../../../native/fixtures.ts";
import { nsightLibrary, profiledProgram } from "../../../native/other-profilers.ts";
import { nativeProgram } from "../../../native/programs.ts";

const canBuild =
  process.platform === "linux" && availableClients("processes with another library").length > 0;

/** A program under `sh`, with a library for NVTX, that has done `steps` and waits. */
async function waiting(library: string, steps: readonly string[]): Promise<ChildProcess> {
  const directory = mkdtempSync(join(tmpdir(), "injections-"));
  const program = await profiledProgram();
  const child = spawn(
    "sh",
    [
      "-c",
      'NVTX_INJECTION64_PATH="$0" "$@"; exit',
      library,
      program,
      ...steps,
      "wait",
      join(directory, "never"),
    ],
    { stdio: ["ignore", "pipe", "inherit"], detached: true },
  );
  onTestFinished(() => {
    if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    rmSync(directory, { recursive: true });
  });
  // It prints that it waits.
  await once(child.stdout, "data");
  return child;
}

describe.runIf(canBuild)("watchInjections", () => {
  const look = async (child: ChildProcess) =>
    watchInjections(child.pid ?? 0, await nativeProgram("region_recorder.so")).stop();

  test("finds a descendant in which NVTX has loaded another library", async () => {
    const nsight = await nsightLibrary();
    const child = await waiting(nsight, ["range", "early"]);
    const found = await look(child);
    expect(found.map(({ library }) => library)).toEqual([nsight]);
    // The program, not the shell that has the variable as well.
    expect(found[0]?.pid).not.toBe(child.pid);
  });

  test("takes no process for one that has not called NVTX, or has the recorder", async () => {
    expect(await look(await waiting(await nsightLibrary(), []))).toEqual([]);
    const recorder = await nativeProgram("region_recorder.so");
    expect(await look(await waiting(recorder, ["range", "early"]))).toEqual([]);
  });

  test("finds nothing of a process that is gone", async () => {
    const child = spawn("true");
    await once(child, "exit");
    expect(await look(child)).toEqual([]);
  });
});
