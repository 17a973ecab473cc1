/** Programs of native/fixtures with one planted cause each, run under the recorder with samples of their threads. */
import { join } from "node:path";
import { execa } from "execa";
import { buildRegionModel } from "../../src/profiler/analysis/build.ts";
import { toReportBundle } from "../../src/profiler/analysis/to-report.ts";
import { readRecording, withProgram } from "../../src/profiler/tools/recorder/read.ts";
import { sampleThreads } from "../../src/profiler/tools/recorder/thread-samples.ts";
import { answerOf, type RankedRegion } from "../../src/report/view/answer.ts";
import { context } from "../report/bundles.ts";
import { buildFixture, recorderEnvironment } from "./fixtures.ts";
import { recordingDirectory } from "./record.ts";

/** The program in Python needs its ranges from a library. */
async function commandOf(cause: string): Promise<readonly string[]> {
  if (cause !== "python") return [await buildFixture("bottlenecks.cc", "own client"), cause];
  const script = join(import.meta.dirname, "../../native/fixtures/python_lock.py");
  const library = await buildFixture("python_ranges.cc", "own client", ["-fPIC", "-shared"]);
  return ["python3", script, library];
}

interface Answered {
  /** The regions that the answer names. */
  readonly regions: readonly RankedRegion[];
  /** What the program printed. */
  readonly output: string;
}

export async function answered(cause: string, cpu: "time" | "counts"): Promise<Answered> {
  const command = await commandOf(cause);
  const directory = recordingDirectory();
  const env = { ...(await recorderEnvironment(directory)), HYDRACONF_RECORDER_CPU: cpu };
  const [program = "", ...args] = command;
  const startNs = process.hrtime.bigint();
  const child = execa(program, args, { env, cwd: directory });
  const pid = child.pid ?? 0;
  const sampling = sampleThreads(pid, directory, 100);
  const { stdout: output } = await child;
  const endNs = process.hrtime.bigint();
  sampling.stop();
  const timeline = withProgram(readRecording(directory), {
    kind: "recording",
    directory: ".",
    program: { pid, start_ns: String(startNs), end_ns: String(endNs) },
  });
  const environment = { ...context.environment, command };
  const bundle = toReportBundle(buildRegionModel(timeline), { ...context, environment });
  return { regions: answerOf(bundle)?.byWall ?? [], output };
}
