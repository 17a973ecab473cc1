/** The task of `deep-profile`: profiles, shows the result, names what failed. */
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { isCodedError } from "../../engine/values/errors.ts";
import { renderError } from "../../engine/values/render-error.ts";
import { fileProblem, readablePath, readText } from "../../foundation/system/files.ts";
import { printable } from "../../foundation/text/printable.ts";
import type { RegionReportBundle } from "../../report/model/document.ts";
import { regionReportFile } from "../../report/model/report-files.ts";
import { describeOutcome, type ProcessOutcome, succeeded } from "../machine/process.ts";
import { requireOpenFiles } from "../machine/run-files.ts";
import { interruptOf, listenForInterrupt, signalExitCode } from "../machine/stop-signals.ts";
import { reportBeginning } from "../run/rebuild.ts";
import {
  type CollectedRun,
  collectRun,
  outcomeNotes,
  type ProfileRequest,
  type ProfileResult,
  type ProfileSection,
  reportOn,
  type TimedRun,
} from "../run/run.ts";
import { type ShownConfig, saveRun } from "../run/saved-run.ts";
import { type WrittenRun, writeRun } from "../run/write-run.ts";
import { RUN_FILE } from "../tools/collection.ts";
import { terminalProgress } from "../tools/tool.ts";
import { outOfMemory, runApart } from "./apart.ts";
import { type JobResult, jobResult } from "./job-summary.ts";
import { showFiles, showRegions, type Terminal } from "./terminal-report.ts";

export interface MainRequest
  extends Pick<
    ProfileRequest,
    "config" | "fingerprint" | "runDirectory" | "cwd" | "overrides" | "tools"
  > {
  readonly log: {
    info(message: string): void;
    error(message: string): void;
    /** Only for the log file: the terminal shows failures in another form. */
    failure(message: string): void;
  };
  readonly terminal: Terminal;
  /**
   * Whether only failures are shown, as for a job of a sweep, which is shown as one line and in the tables at the end.
   */
  readonly isBrief?: boolean;
  /** Whether this is a job of a sweep: its programs are killed if this process is, since the job may then run again. */
  readonly isOfSweep?: boolean;
  /** The command that starts this program again, for making reports of large recordings in a separate process. */
  readonly command?: readonly string[];
  /** Set for the first of several ranks: waits for the others. */
  readonly awaitOthers?: (stop: AbortSignal) => Promise<readonly string[]>;
  /** The configuration with secrets masked, for reports and `run.json`. */
  readonly shownConfig: ShownConfig;
}

export interface MainResult {
  /**
   * 0; 1 if the workload or a collector failed, or something could not be written; 128 plus the signal's number if a
   * signal stopped the run.
   */
  readonly exitCode: number;
  /** The first failure; absent if there was none, or if a signal stopped the run. */
  readonly reason?: string;
  /** The result for the tables of a sweep. */
  readonly result: JobResult | null;
}

/** The task of `deep-profile`: profiles, shows the result, and writes the run directory. */
export async function profileMain(request: MainRequest): Promise<MainResult> {
  requireOpenFiles();
  const interrupt = listenForInterrupt(request.isOfSweep);
  try {
    const { awaitOthers, ...rest } = request;
    const run = await collectRun({
      ...rest,
      ...(awaitOthers !== undefined && { awaitOthers: () => awaitOthers(interrupt.stop) }),
      progress: terminalProgress(),
      say: request.log.info,
      interrupt,
    });
    const apart = await reportedApart(run, request, interrupt.stop);
    if (apart !== null) return apart;
    const result = reportOn(run, new Date());
    const { sections } = result;
    for (const { collector, outcome } of sections)
      if (succeeded(outcome))
        request.log.info(
          `${describeOutcome(outcome)}${sections.length > 1 ? ` under collector ${collector}` : ""}`,
        );
    // Shown before anything is written, so that a full disk does not hide the results.
    const isBrief = request.isBrief === true;
    if (!isBrief) showRegions(sections.map(withoutOutcomeNotes), request.terminal);
    const { config, runDirectory, shownConfig } = request;
    const save = () => attemptToSave(() => saveRun(run, shownConfig, runDirectory));
    const saved = await save();
    const reports = await writeRun(result, config, {
      directory: runDirectory,
      configLines: shownConfig.lines,
    });
    // The reports cannot be made again without the saved run, and the cause of the failure may be over.
    const unsaved = saved.length === 0 ? saved : await save();
    const cut = sections.flatMap(({ collector, outcome: { unwritten } }) =>
      unwritten === undefined ? [] : [`${collector}/${unwritten}`],
    );
    const written = { ...reports, failures: [...cut, ...unsaved, ...reports.failures] };
    if (!isBrief) showFiles(written.reports, request);
    return {
      ...conclude(result, written, request, interrupt.stop),
      result: jobResult(sections, runDirectory),
    };
  } catch (error) {
    // There is nothing to report if the run was stopped before anything was measured.
    if (!interrupt.stop.aborted || !isCodedError(error)) throw error;
    request.log.failure(error.details.message);
    request.terminal.writeError(`${error.details.message}\n`);
    return { exitCode: signalExitCode(interruptOf(interrupt.stop)), result: null };
  } finally {
    interrupt.dispose();
  }
}

/** Null if there is little to read, which is faster than starting another process. */
async function reportedApart(
  run: TimedRun,
  request: MainRequest,
  stop: AbortSignal,
): Promise<MainResult | null> {
  const { command, runDirectory, shownConfig, log, terminal, cwd } = request;
  if (command === undefined || !run.collections.some(({ isLarge }) => isLarge === true))
    return null;
  for (const { outcome } of run.collections)
    if (succeeded(outcome)) log.info(describeOutcome(outcome));
  await saveRun(run, shownConfig, runDirectory);
  const end = await runApart({
    command,
    args: ["report", runDirectory],
    cwd,
    stop,
    writeError: terminal.writeError,
  });
  const again = `deep-profile report ${readablePath(runDirectory, cwd)}`;
  const fail = (message: string): MainResult => {
    log.failure(message);
    terminal.writeError(`${message}\n`);
    return { exitCode: 1, reason: message, result: null };
  };
  if (end.kind === "out_of_memory") return fail(outOfMemory(again));
  if (end.kind === "failed") return fail(`no reports: ${end.message}; '${again}' makes them`);
  if (end.kind === "stopped") {
    const stopped = `stopped by ${interruptOf(stop)} while reports were made`;
    const place = { runDirectory, cwd, stopped, again };
    const partial = await reportBeginning(run, { ...place, configLines: shownConfig.lines });
    const message = `${stopped}; what was measured is kept: '${again}' makes all of them${partial === null ? "" : `; ${partial}`}`;
    log.failure(message);
    terminal.writeError(`${message}\n`);
    return { exitCode: signalExitCode(interruptOf(stop)), result: null };
  }
  const written = { reports: [], failures: end.code === 0 ? [] : ["reports"] };
  return {
    ...conclude({ sections: run.collections, missing: run.missing }, written, request, stop),
    result: resultOf(run, runDirectory),
  };
}

/** Read from the reports that the other process wrote. */
function resultOf({ collections }: CollectedRun, runDirectory: string): JobResult | null {
  const sections = collections.flatMap(({ collector }) => {
    try {
      const file = regionReportFile(join(runDirectory, collector));
      return [{ bundle: JSON.parse(readText(file)) as RegionReportBundle }];
    } catch {
      // Files that could not be written were reported already.
      return [];
    }
  });
  return jobResult(sections, runDirectory);
}

/** Failures are reported at the end, in more detail than notes have. */
function withoutOutcomeNotes(section: ProfileSection): ProfileSection {
  const { bundle } = section;
  const told = outcomeNotes({ ...section, notes: bundle.reports[0]?.notes ?? [] });
  const reports = bundle.reports.map((report) => ({
    ...report,
    notes: report.notes.filter((note) => !told.includes(note)),
  }));
  return { ...section, bundle: { ...bundle, reports } };
}

/** The reports can be written even if this fails. */
async function attemptToSave(save: () => Promise<void>): Promise<readonly string[]> {
  try {
    await save();
    return [];
  } catch (error) {
    return [`${RUN_FILE}: ${fileProblem(error)}`];
  }
}

/** Prints the failures and returns the exit code. */
function conclude(
  result: Concluded,
  written: WrittenRun,
  request: MainRequest,
  stop: AbortSignal,
): Pick<MainResult, "exitCode" | "reason"> {
  const { log, terminal } = request;
  const unwritten = written.failures.map((failure) => `could not be written: ${failure}`);
  for (const problem of unwritten) log.error(problem);
  if (stop.aborted) return { exitCode: signalExitCode(interruptOf(stop)) };
  const problems = problemsOf(result, request);
  for (const { shown } of problems) {
    log.failure(stripVTControlCharacters(shown));
    terminal.writeError(`\n${shown}\n`);
  }
  const [reason] = [...problems.map(({ short }) => short), ...unwritten];
  return reason === undefined ? { exitCode: 0 } : { exitCode: 1, reason };
}

interface Concluded extends Pick<ProfileResult, "missing"> {
  readonly sections: readonly Pick<ProfileSection, "outcome" | "problem">[];
}

interface Problem {
  /** The message with a remedy. */
  readonly shown: string;
  readonly short: string;
}

/** The failures, each once. */
function problemsOf(
  { sections, missing }: Concluded,
  { cwd, terminal: { color } }: MainRequest,
): readonly Problem[] {
  const failed = sections.filter(
    ({ outcome, problem }) => problem === undefined && !succeeded(outcome),
  );
  const errors = [
    ...sections.flatMap(({ problem }) => (problem === undefined ? [] : [problem])),
    ...missing.map(({ error }) => error),
  ];
  return [
    ...failed.map(({ outcome }) => {
      const what = describeOutcome(outcome);
      const last = lastLine(withoutColours(outcome.stderrTail));
      return {
        shown: `${what}${lastWords(outcome, cwd)}`,
        short: last === "" ? what : `${what}: ${last}`,
      };
    }),
    ...errors.map((error) => ({ shown: renderError(error, { color }), short: error.message })),
  ];
}

/** What a program wrote, without its colours, to be quoted. Other control characters are shown. */
const withoutColours = stripVTControlCharacters;

/** The line as a terminal would show it: text after a carriage return overwrites the line. */
const lastLine = (text: string): string =>
  printable(
    text
      .trimEnd()
      .split(/[\r\n]/)
      .at(-1) ?? "",
  );

/** The number of last lines of long output that are shown, since programs usually report their failure there. */
const LAST_WORDS = 10;

export function lastWords({ stderrTail, stderrFile }: ProcessOutcome, cwd: string): string {
  if (stderrTail === "") return "";
  const lines = withoutColours(stderrTail).split(/\r?\n/).slice(-LAST_WORDS).map(printable);
  const end = lines.map((line) => `\n  ${line}`).join("");
  const remedy = remedyForProgram(lines);
  const help = remedy === null ? "" : `\n  -> ${remedy}`;
  return `; the end of its standard error (all of it is in ${readablePath(stderrFile, cwd)}):${end}${help}`;
}

// Remedies for common errors of CUDA, whose messages seldom contain the cause.

interface Known {
  /** Matched against each of the last lines of the program's output. */
  readonly pattern: RegExp;
  readonly remedy: string;
}

const KNOWN: readonly Known[] = [
  {
    pattern: /CUPTI_ERROR_MULTIPLE_SUBSCRIBERS/,
    remedy:
      "the program uses its own profiler (torch.profiler, TensorFlow's), and CUPTI allows only one: disable it, or set pipeline.recorder.gpu=off",
  },
  {
    pattern:
      /CUDA driver version is insufficient for CUDA runtime version|API call is not supported in the installed CUDA driver/,
    remedy:
      "the driver is too old for the program's CUDA version: update the driver, or use the CUDA version that nvidia-smi shows or an older one",
  },
  {
    pattern: /no kernel image is available for execution on the device/,
    remedy:
      "the program was not built for this GPU; see its compute capability: nvidia-smi --query-gpu=compute_cap --format=csv",
  },
  {
    pattern:
      /libcuda\.so[.\d]*: cannot open shared object file|no CUDA-capable device is detected|No CUDA GPUs are available/,
    remedy:
      "no usable GPU: nvidia-smi must list one, and CUDA_VISIBLE_DEVICES must not hide it; a container needs --gpus all, a Slurm job --gres=gpu:1",
  },
  {
    pattern:
      /libcudnn\w*\.so[.\d]*: cannot open shared object file|CUDNN_STATUS_\w*VERSION_MISMATCH|Cannot load symbol cudnn/,
    remedy:
      "cuDNN's libraries are missing or of mixed versions: LD_LIBRARY_PATH must name a single installation",
  },
  {
    pattern:
      /CUDA out of memory|CUDA error: out of memory|cudaErrorMemoryAllocation|CUDA_ERROR_OUT_OF_MEMORY/,
    remedy: "the GPU's memory is full: nvidia-smi shows who uses it; or use a smaller batch",
  },
  {
    pattern: /an illegal memory access was encountered|CUDA_ERROR_ILLEGAL_ADDRESS/,
    remedy: "a kernel reads or writes out of bounds: compute-sanitizer PROG finds it",
  },
  {
    pattern: /uncorrectable ECC error|CUDA_ERROR_ECC_UNCORRECTABLE/,
    remedy: "the GPU's memory is faulty: check nvidia-smi -q -d ECC, and use another GPU",
  },
];

/** The remedy for the last matching line, since programs print the cause last; null if none matches. */
export function remedyForProgram(lines: readonly string[]): string | null {
  for (const line of lines.toReversed()) {
    const match = KNOWN.find(({ pattern }) => pattern.test(line));
    if (match !== undefined) return match.remedy;
  }
  return null;
}
