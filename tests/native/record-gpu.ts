import { execa } from "execa";
import { readRecording } from "../../src/profiler/tools/recorder/read.ts";
import { fakeGpu, gpuEnvironment } from "./fake-gpu.ts";
import { type Recorded, recordingDirectory } from "./record.ts";

/**
 * Runs the pretended GPU's program under the recorder, loaded through both variables unless `env`
 * says otherwise.
 */
export async function recordGpu(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>> = {},
): Promise<Recorded> {
  const { program } = await fakeGpu();
  const directory = recordingDirectory();
  const { exitCode, stdout, stderr } = await execa(program, args, {
    reject: false,
    env: { ...(await gpuEnvironment(directory)), ...env },
  });
  const outcome = { code: exitCode, stdout, stderr };
  return { outcome, timeline: readRecording(directory), directory };
}
