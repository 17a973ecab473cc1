/** `deep-profile ab`: runs two programs in turns, until it is known whether the second one is slower. */

import { rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { usage } from "../../app/command-line/command-line.ts";
import type { ParsedCommand } from "../../app/command-line/parse.ts";
import { bufferedPieces, writeFileAtomic } from "../../foundation/system/atomic-write.ts";
import { readablePath } from "../../foundation/system/files.ts";
import { plural } from "../../foundation/text/plural.ts";
import { type FindCalibration, judged } from "../../report/compare/calibration.ts";
import { compareReports, type PairedRatios } from "../../report/compare/compare-reports.ts";
import { type Comparison, comparisonJsonPieces } from "../../report/compare/comparison.ts";
import { renderComparisonHtml } from "../../report/compare/comparison-html.ts";
import { comparisonMarkdownPieces } from "../../report/compare/comparison-markdown.ts";
import { renderComparison } from "../../report/compare/comparison-terminal.ts";
import { LEVEL } from "../../report/compare/evidence.ts";
import { type Conditions, parseConditions } from "../../report/compare/gates.ts";
import type { NCUProfileRegionReport } from "../../report/model/document.ts";
import { regionReportFile } from "../../report/model/report-files.ts";
import { describeOutcome } from "../machine/process.ts";
import { requireOpenFiles } from "../machine/run-files.ts";
import {
  type Interrupt,
  interruptOf,
  listenForInterrupt,
  signalExitCode,
} from "../machine/stop-signals.ts";
import { isWhole, together } from "../run/collectors.ts";
import { overrideText } from "../run/command-override.ts";
import { reportOn } from "../run/run.ts";
import { saveRun } from "../run/saved-run.ts";
import { writeRun } from "../run/write-run.ts";
import type { Collection } from "../tools/tool.ts";
import { calibrationFinder } from "./calibration-files.ts";
import { compare, gateExitCode, linked, pageOf } from "./compare-runs.ts";
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
import { nextFree } from "./output-directory.ts";
import { lastWords, type MainRequest } from "./profile-task.ts";
import { type SubcommandIo, terminalOf } from "./subcommand.ts";

/** Executes `deep-profile ab`. */
export async function abRuns(
  command: ParsedCommand,
  io: SubcommandIo,
  open: OpenRun,
): Promise<number> {
  const limits = limitsOf(command);
  const conditions = parseConditions(command.values("gate"));
  const find = calibrationFinder(command.value("calibration"), io);
  const { common, a, b } = sidesOf(command);
  const wanted = command.value("output");
  const directory = wanted === undefined ? nextFree(io.cwd, io.now) : resolve(io.cwd, wanted);
  const side = (name: "a" | "b", { overrides, program }: SideWords) => [
    ...common,
    ...overrides,
    `hydra.run.dir=${overrideText(join(directory, name))}`,
    ...(program.length === 0 ? [] : ["--", ...program]),
  ];
  return open(side("a", a), (runA) =>
    open(side("b", b), (runB) =>
      measure(
        {
          ...{ a: runA, b: runB, limits, conditions, find, directory },
          isStrict: command.has("strict"),
        },
        io,
      ),
    ),
  );
}

/** When to stop. */
interface Limits {
  readonly pairs: number;
  readonly untilDecided: boolean;
  readonly minutes: number;
  readonly warmup: number;
}

const PAIRS = 10;
/** The maximum number of pairs with `--until-decided`: a difference that needs more is too small to matter. */
const MOST_PAIRS = 100;

function limitsOf(command: ParsedCommand): Limits {
  const untilDecided = command.value("until") !== undefined;
  return {
    pairs: command.count("pairs") ?? (untilDecided ? MOST_PAIRS : PAIRS),
    untilDecided,
    minutes: command.count("max-minutes") ?? Number.POSITIVE_INFINITY,
    warmup: 1,
  };
}

interface SideWords {
  readonly overrides: readonly string[];
  readonly program: readonly string[];
}

/** `[OVERRIDE...] -- [OVERRIDE...] [PROG ARG...] -- [OVERRIDE...] [PROG ARG...]`; B may contain further dashes. */
export function sidesOf({ positionals, verbatim }: ParsedCommand) {
  const between = verbatim.indexOf("--");
  if (between < 0)
    throw usage("expected two sides", "deep-profile ab [OVERRIDE...] -- A... -- B...");
  const common = positionals.slice(0, positionals.length - verbatim.length);
  return {
    common,
    a: sideWords(verbatim.slice(0, between), "A"),
    b: sideWords(verbatim.slice(between + 1), "B"),
  };
}

const OVERRIDE = /^(?:\+{0,2}[A-Za-z_][\w.@/:-]*=|~)/;

function sideWords(words: readonly string[], name: string): SideWords {
  if (words.length === 0) throw usage(`${name} is empty: neither a program nor an override`);
  const end = words.findIndex((word) => !OVERRIDE.test(word));
  const count = end < 0 ? words.length : end;
  return { overrides: words.slice(0, count), program: words.slice(count) };
}

interface Measurement {
  readonly a: MainRequest;
  readonly b: MainRequest;
  readonly limits: Limits;
  readonly conditions: Conditions;
  readonly find: FindCalibration;
  readonly directory: string;
  readonly isStrict: boolean;
}

async function measure(measurement: Measurement, io: SubcommandIo): Promise<number> {
  requireOpenFiles();
  const interrupt = listenForInterrupt();
  try {
    const a = await prepareSide(measurement.a, interrupt, "deep-profile ab");
    const b = await prepareSide(measurement.b, interrupt, "deep-profile ab");
    const { pairs, failed, why } = await runPairs({ a, b }, measurement, interrupt);
    if (failed !== null) {
      const what = `${failed.name} failed: ${describeOutcome(failed.collection.outcome)}`;
      io.console.stderr(`${what}${lastWords(failed.collection.outcome, io.cwd)}\n`);
    }
    const code = interrupt.stop.aborted ? signalExitCode(interruptOf(interrupt.stop)) : 1;
    if (pairs.length === 0) {
      io.console.stderr("deep-profile ab: no pair of runs was completed\n");
      return code;
    }
    const comparison = await conclude({ a, b }, pairs, why, measurement, io);
    if (failed !== null || interrupt.stop.aborted) return code;
    return gateExitCode(comparison, "ab", measurement.isStrict, io);
  } finally {
    interrupt.dispose();
  }
}

/** One run of each side, directly after each other. */
interface Pair {
  readonly a: MeasuredOnce;
  readonly b: MeasuredOnce;
}

interface MeasuredOnce {
  readonly collection: Collection;
  readonly report: NCUProfileRegionReport;
}

interface Pairs {
  readonly pairs: readonly Pair[];
  readonly failed: { readonly name: string; readonly collection: Collection } | null;
  /** The reason for stopping, in words. */
  readonly why: string;
}

async function runPairs(
  sides: Readonly<Record<"a" | "b", MeasuredSide>>,
  { limits, conditions, find }: Measurement,
  interrupt: Interrupt,
): Promise<Pairs> {
  const { warmup, minutes, untilDecided } = limits;
  const deadline = performance.now() + minutes * 60_000;
  const pairs: Pair[] = [];
  const stopped = (why: string, failed: Pairs["failed"] = null): Pairs => ({ pairs, failed, why });
  const ran = (name: "a" | "b", run: string) => runOnce(sides[name], run, interrupt);
  const say = sides.a.request.log.info;
  for (let run = 1; run <= warmup; run++) {
    say(`warm-up run ${run} of ${warmup} of A and B`);
    for (const name of ["a", "b"] as const) {
      const { collection, directory } = await ran(name, `warmup-${run}`);
      if (interrupt.stop.aborted) return stopped("stopped");
      if (!isWhole(collection)) return stopped("failed", { name: name.toUpperCase(), collection });
      rmSync(directory, { recursive: true, force: true });
    }
  }
  while (pairs.length < limits.pairs) {
    const run = String(pairs.length + 1);
    // Alternating, so that steady changes, such as heat, cancel out.
    const order = pairs.length % 2 === 0 ? (["a", "b"] as const) : (["b", "a"] as const);
    say(
      `pair ${run} of ${limits.pairs}${untilDecided ? " at most" : ""}: ${order.join(", ").toUpperCase()}`,
    );
    const found: Partial<Record<"a" | "b", MeasuredOnce>> = {};
    for (const name of order) {
      const { collection } = await ran(name, run);
      if (interrupt.stop.aborted) return stopped("stopped");
      if (!isWhole(collection)) return stopped("failed", { name: name.toUpperCase(), collection });
      found[name] = { collection, report: reportOfRun(sides[name], collection) };
    }
    if (found.a === undefined || found.b === undefined) throw new Error("half a pair");
    pairs.push({ a: found.a, b: found.b });
    if (untilDecided && isDecided(pairs, conditions, find)) return stopped("decided");
    if (performance.now() >= deadline)
      return stopped(`ended by --max-minutes ${minutes}${untilDecided ? ", not decided" : ""}`);
  }
  return stopped(untilDecided ? "not decided" : "as many as were asked for");
}

/** Decided by one breach, or if every number is proved to be within its limit. */
export function isDecided(
  pairs: readonly PairOfReports[],
  conditions: Conditions,
  find: FindCalibration = () => null,
): boolean {
  const last = pairs.at(-1);
  if (last === undefined) return false;
  const both = { a: last.a.report, b: last.b.report };
  const compared = compareReports(both.a, both.b, ratiosOf(pairs));
  const { reports, gates: results } = judged(compared, both, conditions, find);
  if (results.length === 0) {
    const change = reports.totals[reports.main_time];
    return change?.log_ratios !== undefined && change.verdict !== "unclear";
  }
  return (
    results.some(({ outcome }) => outcome === "breached") ||
    results.every(({ decided }) => decided !== false)
  );
}

export interface PairOfReports {
  readonly a: { readonly report: NCUProfileRegionReport };
  readonly b: { readonly report: NCUProfileRegionReport };
}

/** The log ratios of the times that all pairs have. */
export function ratiosOf(pairs: readonly PairOfReports[]): PairedRatios {
  const all = pairs.map(({ a, b }) => ({ a: regionTimes(a.report), b: regionTimes(b.report) }));
  const regions = new Map(
    [...(all[0]?.a.keys() ?? [])].map((key) => [
      key,
      ratios(all.map(({ a, b }) => ({ a: a.get(key) ?? {}, b: b.get(key) ?? {} }))),
    ]),
  );
  const totals = pairs.map(({ a, b }) => ({ a: totalTimes(a.report), b: totalTimes(b.report) }));
  return { totals: ratios(totals), regions };
}

function ratios(pairs: readonly { readonly a: Times; readonly b: Times }[]) {
  const found: Record<string, readonly number[]> = {};
  for (const name of Object.keys(pairs[0]?.a ?? {})) {
    const logs = pairs.map(({ a, b }) => Math.log((b[name] ?? 0) / (a[name] ?? 0)));
    if (logs.every(Number.isFinite)) found[name] = logs;
  }
  return found;
}

async function conclude(
  { a, b }: Readonly<Record<"a" | "b", MeasuredSide>>,
  pairs: readonly Pair[],
  why: string,
  { conditions, find, directory }: Measurement,
  io: SubcommandIo,
): Promise<Comparison> {
  const [ofA, ofB] = [
    await written(
      a,
      pairs.map((pair) => pair.a.collection),
      io,
    ),
    await written(
      b,
      pairs.map((pair) => pair.b.collection),
      io,
    ),
  ];
  const compared = compare(ofA, ofB, {
    notes: [
      `${plural(pairs.length, "pair")} of runs in turns (ABBA) after a warm-up of each, ${why}; intervals and gates of times are of the ratios of the pairs, and wrong in at most ${LEVEL * 100} % of the cases, whenever one stops (sequential t test)`,
    ],
    conditions,
    find,
    mayFail: false,
    pairs: ratiosOf(pairs),
  });
  const comparison = linked(compared, { a: ofA, b: ofB }, directory);
  const file = (name: string) => join(directory, name);
  await writeFileAtomic(file("comparison.json"), bufferedPieces(comparisonJsonPieces(comparison)));
  await writeFileAtomic(
    file("comparison.md"),
    bufferedPieces(comparisonMarkdownPieces(comparison)),
  );
  await writeFileAtomic(file("comparison.html"), renderComparisonHtml(comparison));
  io.console.stdout(
    `${renderComparison(comparison, { ...terminalOf(io), regions: 60, kernels: 10 })}\n${["md", "html", "json"].map((end) => `${readablePath(file(`comparison.${end}`), io.cwd)}\n`).join("")}`,
  );
  return comparison;
}

/** Writes the reports of one side as those of a run with repeats. */
async function written(
  { request, prepared, collector, started }: MeasuredSide,
  collections: readonly Collection[],
  io: SubcommandIo,
) {
  const { runDirectory, shownConfig } = request;
  const folder = join(runDirectory, collector.name);
  const { native: _, ...run } = {
    ...prepared,
    period: { started, ended: new Date() },
    collections: [together(collections, collections.length, folder)],
    missing: [],
  };
  const result = reportOn(run, new Date());
  await saveRun(run, shownConfig, runDirectory);
  const { failures } = await writeRun(result, request.config, {
    directory: runDirectory,
    configLines: shownConfig.lines,
  });
  for (const failure of failures) request.log.error(`could not be written: ${failure}`);
  const report = result.sections[0]?.bundle.reports[0];
  if (report === undefined) throw new Error("a run without a report");
  return {
    name: readablePath(runDirectory, io.cwd),
    identity: regionReportFile(folder),
    configFile: join(runDirectory, "config.yaml"),
    pageFile: pageOf(regionReportFile(folder)),
    report,
  };
}
