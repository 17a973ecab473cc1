import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { setInterval } from "node:timers";
import { writeFileAtomic } from "../../../atomic-write.ts";
import type { CollectContext } from "../../collectors/collector.ts";
import { type ProcessOutcome, runWorkload } from "../../machine/process.ts";
import type { Workload } from "../../workload/workload.ts";
import { sectionFiles } from "./ask.ts";
import { type RecognisedFailure, recogniseFailures } from "./failures.ts";
import { createLogReader, type NcuLog } from "./log-reader.ts";
import type { Pass } from "./pass-plan.ts";

/** One run of ncu, as it ended. */
export interface PassRun {
  readonly pass: Pass;
  readonly command: readonly string[];
  readonly outcome: ProcessOutcome;
  /** Path of the report; null where ncu wrote none. */
  readonly report: string | null;
  readonly log: NcuLog;
  /** Most telling first; also those that ncu does not count as failures. */
  readonly failures: readonly RecognisedFailure[];
}

/** Where a pass leaves its files. */
export interface PassPlace {
  /** The report without its extension. */
  readonly report: string;
  /** Log of ncu and output of the program. */
  readonly directory: string;
  readonly log: string;
}

export function placeOfPass(pass: Pass, ncuDirectory: string): PassPlace {
  const directory = join(ncuDirectory, "logs", pass.name);
  return { report: join(ncuDirectory, pass.name), directory, log: join(directory, "ncu.log") };
}

const REFRESH_MS = 200;

/** Runs a workload under ncu. Never throws for what either of them does. */
export async function runPass(
  pass: Pass,
  command: readonly string[],
  workload: Workload,
  place: PassPlace,
  context: CollectContext,
): Promise<PassRun> {
  mkdirSync(place.directory, { recursive: true });
  const stopProgress = followLog(pass, place.log, workload, context);
  const outcome = await runWorkload(
    { ...workload, argv: command },
    { directory: place.directory, env: sectionFiles(), interrupt: context.interrupt },
  ).finally(stopProgress);
  const text = textOf(place.log);
  const reader = createLogReader();
  reader.push(`${text}\n`);
  const reportFile = `${place.report}.ncu-rep`;
  // Lines of the part of ncu that lives in the program go to standard error only.
  const said = `${text}\n${textOf(outcome.stderrFile)}`;
  // A version of ncu may put its lines before the log is open on standard output.
  return {
    pass,
    command,
    outcome,
    report: existsSync(reportFile) ? reportFile : null,
    log: reader.state(),
    failures: recogniseFailures(said),
  };
}

const textOf = (file: string): string => (existsSync(file) ? readFileSync(file, "utf8") : "");

/** Keeps the progress line going; a program that writes to the terminal itself gets none. */
function followLog(
  pass: Pass,
  file: string,
  workload: Workload,
  { progress }: CollectContext,
): () => void {
  if (workload.stdout === "forward") return () => {};
  const reader = createLogReader();
  let offset = 0;
  let reading = false;
  const show = async () => {
    if (reading) return;
    reading = true;
    try {
      const text = await readFrom(file, offset);
      offset += text.length;
      reader.push(text.toString("utf8"));
    } finally {
      reading = false;
    }
    progress.update(progressText(pass, reader.state()));
  };
  void show();
  const timer = setInterval(() => void show(), REFRESH_MS);
  return () => {
    clearInterval(timer);
    progress.stop();
  };
}

export function progressText(pass: Pass, { finished, current, percent }: NcuLog): string {
  const at = current === null ? "" : `, now ${current} (${percent} %)`;
  return `ncu ${pass.name}, ${pass.mode} replay: ${finished} measured${at}`;
}

async function readFrom(file: string, offset: number): Promise<Buffer> {
  try {
    const handle = await open(file);
    try {
      const { size } = await handle.stat();
      const { buffer, bytesRead } = await handle.read(
        Buffer.alloc(Math.max(0, size - offset)),
        0,
        Math.max(0, size - offset),
        offset,
      );
      return buffer.subarray(0, bytesRead);
    } finally {
      await handle.close();
    }
  } catch {
    // It is made when ncu starts.
    return Buffer.alloc(0);
  }
}

/** `ncu/cmd.txt`: every command line, quoted so that a shell takes it as it was given to ncu. */
export const writeCommands = (
  file: string,
  commands: readonly (readonly string[])[],
): Promise<void> =>
  writeFileAtomic(
    file,
    `${commands.map((command) => command.map(shellWord).join(" ")).join("\n")}\n`,
  );

export const shellWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
