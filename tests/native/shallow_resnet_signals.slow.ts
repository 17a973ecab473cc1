import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readRecording } from "../../src/profiler/tools/recorder/read.ts";
import { watchRecording } from "../../src/profiler/tools/recorder/recording-progress.ts";
import { until } from "../wait.ts";
import { emulatedGpuProgram } from "./gpu-emulation.ts";
import { nativeProgram } from "./programs.ts";

const directory = mkdtempSync(join(tmpdir(), "shallow-resnet-signals-"));
const emulated = await emulatedGpuProgram();
let program = "";
let recorder = "";
beforeAll(async () => {
  program = await nativeProgram("shallow_resnet");
  recorder = await nativeProgram("region_recorder.so");
});
afterAll(() => rmSync(directory, { recursive: true }));

const DEVICES = [
  ["the CPU", () => program, ["--device", "cpu"]],
  ["an emulated GPU", () => emulated ?? "", ["--device", "cuda:0"]],
  ["an emulated GPU with graphs", () => emulated ?? "", ["--device", "cuda:0", "--cuda-graph"]],
] as const;

describe.each(DEVICES)("in the middle of its passes on %s", (device, path, flags) => {
  it
    .skipIf(device !== "the CPU" && emulated === null)
    .each(["SIGINT", "SIGTERM", "SIGKILL"] as const)(
    "%s ends it at once: no half results, the recording is kept",
    async (signal) => {
      const folder = mkdtempSync(join(directory, "run-"));
      const recordings = join(folder, "recordings");
      const files = mkdtempSync(join(folder, "files-"));
      const output = join(files, "output.safetensors");
      const running = execa(
        path(),
        [...flags, "--image-size", "8", "--iterations", "1000000", "--output", output],
        {
          env: { NVTX_INJECTION64_PATH: recorder, HYDRACONF_RECORDER_DIR: recordings },
          reject: false,
        },
      );
      const progress = watchRecording(recordings);
      await until(() => progress().ranges > 50);
      running.kill(signal);
      const { signal: endedBy, exitCode, stdout, stderr } = await running;
      expect({ endedBy, exitCode, stdout, stderr }).toEqual({
        endedBy: signal,
        exitCode: undefined,
        stdout: "",
        stderr: "",
      });
      expect(readdirSync(files)).toEqual([]);

      const [recorded, ...others] = readRecording(recordings).processes;
      expect(others).toEqual([]);
      expect(recorded?.finished).toBe(false);
      expect(recorded?.ranges.length, device).toBeGreaterThan(50);
      // Whole passes, and the one that was interrupted.
      const open = recorded?.ranges.filter(({ endNs }) => endNs === null) ?? [];
      expect(open.length).toBeLessThanOrEqual(3);
      expect(recorded?.ranges.slice(0, 40).every(({ endNs }) => endNs !== null)).toBe(true);
    },
  );
});

describe("a result that was there before", () => {
  it("stays as it was when the run that would replace it is ended", async () => {
    const folder = mkdtempSync(join(directory, "before-"));
    const output = join(folder, "output.safetensors");
    const recordings = join(folder, "recordings");
    const args = ["--image-size", "8", "--output", output];
    await execa(program, [...args, "--iterations", "1"]);
    const before = readFileSync(output);
    const running = execa(program, [...args, "--seed", "5", "--iterations", "1000000"], {
      env: { NVTX_INJECTION64_PATH: recorder, HYDRACONF_RECORDER_DIR: recordings },
      reject: false,
    });
    const progress = watchRecording(recordings);
    await until(() => progress().ranges > 50);
    running.kill("SIGTERM");
    await running;
    expect(readFileSync(output).equals(before)).toBe(true);
  });
});
