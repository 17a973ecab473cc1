/** `deep-profile calibrate`: runs a program against itself, to learn which differences are noise on this machine. */

import { rmSync } from "node:fs";
import os from "node:os";
import { join, resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { usage } from "../../app/command-line/command-line.ts";
import type { ParsedCommand } from "../../app/command-line/parse.ts";
import { ConfigError } from "../../engine/values/errors.ts";
import { askProgram } from "../../foundation/system/ask-program.ts";
import { writeFileAtomic } from "../../foundation/system/atomic-write.ts";
import { fileProblem, makeDirectory, readablePath } from "../../foundation/system/files.ts";
import { findExecutable } from "../../foundation/system/find-program.ts";
import { plural } from "../../foundation/text/plural.ts";
import { type Block, type Field, paragraph, tableOf } from "../../pages/blocks.ts";
import {
  CALIBRATION_CONTRACT,
  isDrifting,
  LEAST_SESSIONS,
  noiseSource,
  smallestPairedEffect,
  spreadOf,
} from "../../report/compare/calibration.ts";
import type {
  CalibratedRegion,
  CalibratedSession,
  Calibration,
  CountedInstructions,
  NoiseSource,
  Spread,
  Spreads,
} from "../../report/compare/calibration-types.ts";
import { TIME_LABELS } from "../../report/compare/comparison.ts";
import type { NCUProfileRegion, NCUProfileRegionReport } from "../../report/model/document.ts";
import { regionKey } from "../../report/model/report-files.ts";
import { blockLines } from "../../report/render/terminal.ts";
import { treeRows } from "../../report/view/tree-rows.ts";
import { describeOutcome } from "../machine/process.ts";
import { makeTemporaryDirectory, requireOpenFiles } from "../machine/run-files.ts";
import {
  type Interrupt,
  interruptOf,
  listenForInterrupt,
  signalExitCode,
} from "../machine/stop-signals.ts";
import { isWhole } from "../run/collectors.ts";
import { overrideText } from "../run/command-override.ts";
import { calibrationFile } from "./calibration-files.ts";
import {
  type MeasuredSide,
  type OpenRun,
  prepareSide,
  regionTimes,
  reportOfRun,
  runOnce,
  type Times,
  totalTimes,
} from "./measured-side.ts";
import { lastWords, type MainRequest } from "./profile-task.ts";
import { type SubcommandIo, terminalOf } from "./subcommand.ts";

const SESSIONS = 6;
const RUNS = 5;

interface Plan {
  readonly sessions: number;
  readonly runs: number;
  readonly pauseMs: number;
  /** Null for the user's cache. */
  readonly file: string | null;
}

/** Executes `deep-profile calibrate`. */
export async function calibrate(
  command: ParsedCommand,
  io: SubcommandIo,
  open: OpenRun,
): Promise<number> {
  const plan: Plan = {
    sessions: atLeast(LEAST_SESSIONS, "sessions", command.count("sessions") ?? SESSIONS),
    runs: atLeast(3, "runs", command.count("runs") ?? RUNS),
    pauseMs: (command.count("pause") ?? 0) * 1000,
    file: command.value("output") ?? null,
  };
  const { positionals, verbatim } = command;
  const overrides = positionals.slice(0, positionals.length - verbatim.length);
  const directory = makeTemporaryDirectory("deep-profile-calibrate-");
  const argv = [
    ...overrides,
    `hydra.run.dir=${overrideText(join(directory, "run"))}`,
    ...(verbatim.length === 0 ? [] : ["--", ...verbatim]),
  ];
  try {
    return await open(argv, (run) => measure(run, plan, io));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function atLeast(least: number, option: string, count: number): number {
  if (count < least) throw usage(`--${option}: at least ${least}`);
  return count;
}

async function measure(request: MainRequest, plan: Plan, io: SubcommandIo): Promise<number> {
  requireOpenFiles();
  const interrupt = listenForInterrupt();
  try {
    const side = await prepareSide(request, interrupt, "deep-profile calibrate");
    const found: Found = { sessions: [], reports: [] };
    for (let session = 1; session <= plan.sessions; session++) {
      if (session > 1 && plan.pauseMs > 0)
        await setTimeout(plan.pauseMs, undefined, { signal: interrupt.stop }).catch(() => {});
      io.console.stderr(
        `session ${session} of ${plan.sessions}: a warm-up and ${plural(plan.runs, "run")}\n`,
      );
      found.sessions.push({
        started_at: new Date().toISOString(),
        load_average: process.platform === "win32" ? null : (os.loadavg()[0] ?? null),
      });
      const reports: NCUProfileRegionReport[] = [];
      // The first run of each session is discarded, as before repeats.
      for (let run = 0; run <= plan.runs; run++) {
        const { collection, directory } = await runOnce(side, `${session}-${run}`, interrupt);
        if (interrupt.stop.aborted) return signalExitCode(interruptOf(interrupt.stop));
        if (!isWhole(collection)) {
          const { outcome } = collection;
          io.console.stderr(
            `the program failed: ${describeOutcome(outcome)}${lastWords(outcome, io.cwd)}\ndeep-profile calibrate: nothing was written\n`,
          );
          return 1;
        }
        if (run > 0) reports.push(reportOfRun(side, collection));
        rmSync(directory, { recursive: true, force: true });
      }
      found.reports.push(reports);
    }
    const instructions = await countInstructions(side, io, interrupt);
    const calibration = calibrationOf(found, instructions);
    const file = plan.file === null ? calibrationFile(calibration, io) : resolve(io.cwd, plan.file);
    await write(file, calibration, plan.file);
    show(calibration, found, readablePath(file, io.cwd), io);
    return 0;
  } finally {
    interrupt.dispose();
  }
}

interface Found {
  readonly sessions: CalibratedSession[];
  /** Of the runs of each session. */
  readonly reports: NCUProfileRegionReport[][];
}

async function write(file: string, calibration: Calibration, wanted: string | null): Promise<void> {
  try {
    makeDirectory(join(file, ".."));
    await writeFileAtomic(file, `${JSON.stringify(calibration, null, 2)}\n`);
  } catch (cause) {
    throw new ConfigError({
      code: "app.run_directory",
      message: `Cannot write the calibration ${wanted ?? file}: ${fileProblem(cause)}`,
      hint: "choose another file with --output FILE",
      cause,
    });
  }
}

/** @param found at least one session with a run */
export function calibrationOf(
  { sessions, reports }: Found,
  instructions: CountedInstructions,
): Calibration {
  const [first] = reports.flat();
  if (first === undefined) throw new Error("a calibration without runs");
  const runs = reports[0]?.length ?? 0;
  const regions = reports.map((session) => session.map(regionTimes));
  const { hostname, cpu, os: system, command } = first.environment;
  return {
    contract: CALIBRATION_CONTRACT,
    created_at: new Date().toISOString(),
    machine: { hostname, cpu, os: system },
    command,
    collector: first.collector.name,
    sessions,
    runs_per_session: runs,
    instructions,
    totals: spreads(reports.map((session) => session.map(totalTimes))),
    regions: [...first.regions, ...(first.families ?? []).map(asFamily)].flatMap((region) => {
      const key = regionKey(region);
      const numbers = spreads(regions.map((session) => session.map((run) => run.get(key) ?? {})));
      return Object.keys(numbers).length === 0
        ? []
        : [calibratedRegion(region, numbers, instructions, runs)];
    }),
  };
}

/** A family has its path without numbers in a calibration, whose runs may have other members. */
const asFamily = (family: NCUProfileRegion): NCUProfileRegion => ({
  ...family,
  path: family.family ?? family.path,
});

function calibratedRegion(
  { path, domain, path_domains, kind }: NCUProfileRegion,
  numbers: Spreads,
  instructions: CountedInstructions,
  runs: number,
): CalibratedRegion {
  const main = numbers["cpu_ms"] ?? numbers["wall_ms"];
  return {
    path,
    domain,
    ...(path_domains !== undefined && { path_domains }),
    kind,
    noise_from: noiseSource(numbers, instructions),
    drifts: main !== undefined && isDrifting(main, runs),
    numbers,
  };
}

/** Of the times that every run has. */
function spreads(sessions: readonly (readonly Times[])[]): Spreads {
  const names = Object.keys(sessions[0]?.[0] ?? {}).filter((name) => name.endsWith("_ms"));
  return Object.fromEntries(
    names.flatMap((name) => {
      const values = sessions.map((runs) => runs.map((times) => times[name] ?? 0));
      const spread = spreadOf(values);
      return spread === null ? [] : [[name, rounded(spread)]];
    }),
  );
}

const rounded = (spread: Spread): Spread => ({
  mean_ms: digits(spread.mean_ms),
  run_spread: digits(spread.run_spread),
  session_spread: digits(spread.session_spread),
  pair_spread: digits(spread.pair_spread),
  smallest_effects: spread.smallest_effects.map(({ runs, relative }) => ({
    runs,
    relative: digits(relative),
  })),
});

const digits = (value: number): number => Number(value.toPrecision(6));

// Instructions, which do not depend on the load of the machine.

const COUNTED_RUNS = 3;
const LONGEST_MS = 600_000;

/** Counts the instructions of some runs with perf, outside the measured ones. */
async function countInstructions(
  { prepared: { workload } }: MeasuredSide,
  { cwd, env }: SubcommandIo,
  interrupt: Interrupt,
): Promise<CountedInstructions> {
  const perf = findExecutable("perf", cwd, env["PATH"] ?? "");
  if (perf === null) return { spread: null, why: "perf is not installed" };
  const count = async (argv: readonly string[], timeoutMs: number) => {
    // The program's own output is not wanted; perf prints on standard error.
    const { failed, why, stderr } = await askProgram({
      argv: [perf, "stat", "-x,", "-e", "instructions:u", "--", ...argv],
      cwd: workload.cwd,
      env: { ...env, ...workload.env },
      stdout: "nowhere",
      maxBytes: 1e8,
      ...{ limitMs: timeoutMs, abort: interrupt.stop, guarded: true },
    });
    return failed ? { count: null, why: why || stderr } : countedIn(stderr);
  };
  const probe = await count(["true"], 10_000);
  if (probe.count === null) return { spread: null, why: probe.why };
  const logs: number[] = [];
  for (let run = 0; run < COUNTED_RUNS; run++) {
    const { count: found, why } = await count(workload.argv, LONGEST_MS);
    if (found === null) return { spread: null, why };
    logs.push(Math.log(found));
  }
  const mean = logs.reduce((sum, log) => sum + log, 0) / logs.length;
  const squares = logs.reduce((sum, log) => sum + (log - mean) ** 2, 0);
  return { spread: digits(Math.sqrt(squares / (logs.length - 1))), why: "" };
}

/** The count in the CSV of `perf stat -x,`. */
export function countedIn(text: string): { readonly count: number | null; readonly why: string } {
  const line = text.split("\n").find((candidate) => candidate.includes(",instructions"));
  const [value = ""] = line?.split(",") ?? [];
  if (/^\d+$/.test(value) && Number(value) > 0) return { count: Number(value), why: "" };
  return {
    count: null,
    why: value === "" ? "perf printed no count" : `perf says ${value}: ${NO_COUNTERS}`,
  };
}

const NO_COUNTERS = "the processor's counters are not available here, as in most virtual machines";

// What is shown.

const SOURCES: Readonly<Record<NoiseSource, string>> = {
  waiting: "waits, or other programs have the processor",
  speed: "speed of the processor: frequency, caches, neighbours",
  work: "the program's own work varies",
};

interface Row {
  readonly name: string;
  readonly level: number;
  readonly region: CalibratedRegion;
}

function show(calibration: Calibration, found: Found, file: string, io: SubcommandIo): void {
  const { width, color } = terminalOf(io);
  const blocks = calibrationBlocks(calibration, found.reports[0]?.[0]?.regions ?? []);
  for (const line of blockLines(blocks, { width, color })) io.console.stdout(`${line}\n`);
  io.console.stdout(`\n${file}\n`);
}

const TIMES = ["cpu_ms", "total_ms", "wall_ms"] as const;

/** @param regions all regions of a run */
export function calibrationBlocks(
  { totals, regions, sessions, runs_per_session, instructions }: Calibration,
  among: readonly NCUProfileRegion[],
): readonly Block[] {
  const times = TIMES.filter((time) => totals[time] !== undefined);
  const calibrated = new Map(regions.map((region) => [regionKey(region), region] as const));
  const rows = treeRows(among, { among }).flatMap(({ region, label, level }): readonly Row[] => {
    const found = calibrated.get(regionKey(region));
    return found === undefined ? [] : [{ name: label, level, region: found }];
  });
  const effect = (spread: Spread | undefined, runs: number): number | null =>
    spread?.smallest_effects.find((effect) => effect.runs === runs)?.relative ?? null;
  const share = (value: number | null): number | null => (value === null ? null : value * 100);
  const [{ smallest_effects = [] } = {}] = times.flatMap((time) => totals[time] ?? []);
  const counts = smallest_effects.map(({ runs }) => runs);
  const wholeFields: readonly Field<string>[] = [
    {
      title: "Smallest effect seen, %",
      cell: (time) => TIME_LABELS[time as keyof typeof TIME_LABELS],
    },
    ...counts.map(
      (runs): Field<string> => ({
        title: `${runs} runs`,
        format: "percent",
        cell: (time) => share(effect(totals[time], runs)),
      }),
    ),
    {
      title: "10 pairs (ab)",
      format: "percent",
      cell: (time) => {
        const spread = totals[time];
        return spread === undefined ? null : share(smallestPairedEffect(spread, 10));
      },
    },
  ];
  const regionFields: readonly Field<Row>[] = [
    { title: "Region", cell: ({ name, level }) => ({ kind: "label", text: name, level }) },
    ...times.map(
      (time): Field<Row> => ({
        title: `${SHORT[time]} %, 5 runs`,
        format: "percent",
        cell: ({ region: { numbers } }) => share(effect(numbers[time], 5)),
      }),
    ),
    {
      title: "Noise from",
      prose: true,
      cell: ({ region: { noise_from, drifts } }) =>
        [
          ...(noise_from === null ? [] : [SOURCES[noise_from]]),
          ...(drifts ? ["sessions differ more than runs"] : []),
        ].join("; "),
    },
  ];
  const loads = sessions.flatMap(({ load_average }) => load_average ?? []);
  const load =
    loads.length === 0
      ? ""
      : `, at loads of ${Math.min(...loads).toFixed(1)} to ${Math.max(...loads).toFixed(1)}`;
  return [
    paragraph(
      `The program against itself, in ${plural(sessions.length, "session")} of ${plural(runs_per_session, "run")}${load}: smaller differences between two sessions, as compare finds them in runs with repeats, are noise.`,
    ),
    tableOf(wholeFields, times),
    ...(rows.length === 0 ? [] : [tableOf(regionFields, rows)]),
    paragraph(
      instructions.spread === null
        ? `Instructions were not counted: ${instructions.why}.`
        : `Instructions of the program vary by ${(instructions.spread * 100).toPrecision(2)} %, whatever else the machine does.`,
    ),
  ];
}

const SHORT = { cpu_ms: "Processor", total_ms: "Kernels", wall_ms: "Wall" } as const;
