import { relative, resolve } from "node:path";
import { writeFileAtomic } from "../atomic-write.ts";
import type { RunSummary } from "../report/run-summary.ts";
import { writeReports } from "../report/write-reports.ts";
import { writeRunReports } from "../report/write-run-reports.ts";
import { fromObject } from "../values/from-object.ts";
import { fromCode } from "../values/origin.ts";
import { writeYaml } from "../values/writer.ts";
import { listenForInterrupt, signalExitCode } from "./interrupt.ts";
import { describeOutcome, succeeded } from "./machine/process.ts";
import { terminalProgress } from "./progress.ts";
import { type ProfileRequest, type ProfileResult, profile } from "./run.ts";
import { readLayerWork } from "./static-analysis.ts";
import { showResult, type Terminal } from "./terminal-report.ts";

export interface MainRequest
  extends Pick<ProfileRequest, "config" | "fingerprint" | "runDirectory" | "cwd"> {
  readonly log: { info(message: string): void; error(message: string): void };
  readonly terminal: Terminal;
}

/**
 * The task of `deep-profile`: profiles, writes everything a run directory holds, shows the result.
 *
 * @returns 0; 1 when the workload failed; 130 or 143 when a signal stopped the run
 */
export async function profileMain(request: MainRequest): Promise<number> {
  const interrupt = listenForInterrupt();
  try {
    const result = await profile({
      ...request,
      progress: terminalProgress(),
      say: request.log.info,
      interrupt: interrupt.signal,
    });
    if (succeeded(result.outcome)) request.log.info(describeOutcome(result.outcome));
    const files = await writeResult(result, request);
    showResult(result, files, request);
    return exitCode(result, request);
  } finally {
    interrupt.dispose();
  }
}

/** Writes what a run directory holds; returns the reports, the one to read first in front. */
async function writeResult(
  result: ProfileResult,
  request: MainRequest,
): Promise<readonly string[]> {
  const { config, runDirectory } = request;
  const inRun = (name: string) => resolve(runDirectory, name);
  await writeFileAtomic(inRun("env.json"), `${JSON.stringify(result.environment, null, 2)}\n`);
  await writeFileAtomic(inRun("inputs.yaml"), inputsYaml(result));

  const written = await writeReports(result.bundle, inRun(result.collector));
  if (config.runner.mode === "light") return [written.markdown, written.json];

  const layers = config.pipeline.static_analysis.enable
    ? readLayerWork(result.workload, result.outcome)
    : null;
  const summary: RunSummary = {
    sections: [
      {
        collector: result.collector,
        directory: result.collector,
        bundle: result.bundle,
        regionDirectories: written.regionDirectories,
      },
    ],
    notes: succeeded(result.outcome) ? [] : [describeOutcome(result.outcome)],
    files: ["config.yaml", "overrides.yaml", "env.json", "inputs.yaml", "run.log"],
    kernelLimit: config.runner.top_n_kernels,
    ...(layers !== null && { layers }),
  };
  const runReports = await writeRunReports(runDirectory, summary);
  return [inRun("report.md"), written.json, ...runReports.filter(isSupplement)];
}

const isSupplement = (file: string): boolean => !file.endsWith("/report.md");

const inputsYaml = ({ inputs }: ProfileResult): string =>
  writeYaml(fromObject(inputs, fromCode("inputs.yaml")));

function exitCode({ outcome }: ProfileResult, { log, runDirectory, cwd }: MainRequest): number {
  if (outcome.interruptedBy !== null) return signalExitCode(outcome.interruptedBy);
  if (succeeded(outcome)) return 0;
  const tail = outcome.stderrTail === "" ? "" : `\nIts last words:\n${outcome.stderrTail}`;
  log.error(`${describeOutcome(outcome)}.${tail}`);
  log.error(`What was recorded until then is in ${relative(cwd, runDirectory) || "."}`);
  return 1;
}
