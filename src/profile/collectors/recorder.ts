import { setInterval } from "node:timers";
import { runWorkload } from "../machine/process.ts";
import { readRecording, watchRecording } from "../recording/index.ts";
import type { Workload } from "../workload/workload.ts";
import type { CollectContext, Collection, Collector } from "./collector.ts";

const REFRESH_MS = 200;

export interface RecorderOptions {
  /** Path of the injection library. */
  readonly library: string;
  /** Domains that do not count as regions in the progress line. */
  readonly operationDomains: readonly string[];
}

/**
 * Our own recorder: a library that the workload's NVTX loads by itself, so that any program with
 * NVTX ranges can be recorded on any machine.
 */
export function createRecorder(options: RecorderOptions): Collector {
  return {
    name: "recorder",
    collect: async (workload, context) => {
      const notes = injectionNotes();
      const stopProgress = followRecording(workload, context, options.operationDomains);
      const outcome = await runWorkload(workload, {
        directory: context.directory,
        env: recorderEnvironment(options.library, context.directory),
        interrupt: context.interrupt,
      }).finally(stopProgress);
      const timeline = readRecording(context.directory);
      return {
        collector: "recorder",
        measured: { kind: "timeline", timeline },
        outcome,
        notes,
      } satisfies Collection;
    },
  };
}

function recorderEnvironment(library: string, directory: string): Readonly<Record<string, string>> {
  return { NVTX_INJECTION64_PATH: library, HYDRACONF_RECORDER_DIR: directory };
}

/** NVTX loads one injection library: another tool's, set in the environment, gives way to ours. */
function injectionNotes(): readonly string[] {
  const other = process.env["NVTX_INJECTION64_PATH"];
  return other === undefined || other === ""
    ? []
    : [`NVTX_INJECTION64_PATH was set to another tool's library; the recorder took its place`];
}

/** Keeps the progress line going; a program that writes to the terminal itself gets none. */
function followRecording(
  workload: Workload,
  { directory, progress }: CollectContext,
  ignoreDomains: readonly string[],
): () => void {
  if (workload.stdout === "forward") return () => {};
  const watch = watchRecording(directory, { ignoreDomains });
  const show = () => {
    const { ranges, openRegion } = watch();
    const inside = openRegion === null ? "" : `, in ${openRegion}`;
    progress.update(`recording ${workload.label}: ${ranges} ranges${inside}`);
  };
  show();
  const timer = setInterval(show, REFRESH_MS);
  return () => {
    clearInterval(timer);
    progress.stop();
  };
}
