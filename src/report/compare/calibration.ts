/**
 * A calibration: how much runs of one program, compared with itself, differ on one machine. Repeated runs that follow
 * each other differ less than those of two sessions, such as a stored baseline and a run of today, so a calibration has
 * several sessions of several runs.
 */

import { ConfigError } from "../../engine/values/errors.ts";
import { formatNumber } from "../../pages/numbers.ts";
import type { NCUProfileRegionReport } from "../model/document.ts";
import { familyKey, withFamilies } from "../model/families.ts";
import { regionKey } from "../model/report-files.ts";
import type {
  Calibration,
  CountedInstructions,
  NoiseSource,
  Spread,
  Spreads,
} from "./calibration-types.ts";
import { meanOfPairs, withNoise } from "./change.ts";
import { judgedBy, type ReportComparison } from "./compare-reports.ts";
import type { Change, Changes, GateResult, MainTime, RegionChange } from "./comparison-types.ts";
import { quantile975, sequenceHalf } from "./evidence.ts";
import { autoGates, type Conditions, checkGates } from "./gates.ts";

/** Version of a calibration file, `major.minor`; a minor version only adds. */
export const CALIBRATION_CONTRACT = "hydraconf.calibration/1.0" satisfies Calibration["contract"];

/** The numbers of runs for which a calibration says what they can tell. */
const RUNS = [3, 5, 10, 20] as const;

/** The least number of sessions and of runs in each. */
export const LEAST_SESSIONS = 3;

/**
 * The spread of one number.
 *
 * @param sessions the values of the runs of each session, in their order
 * @returns null with too few values, and of numbers that are 0 in some run
 */
export function spreadOf(sessions: readonly (readonly number[])[]): Spread | null {
  const logs = sessions.map((values) => values.map(Math.log));
  if (logs.length < LEAST_SESSIONS || logs.some((values) => values.length < 2)) return null;
  if (!logs.flat().every(Number.isFinite)) return null;
  const runs = logs[0]?.length ?? 0;
  const steps = logs.flatMap((values) =>
    values.slice(1).map((log, index) => log - (values[index] ?? 0)),
  );
  const spread = {
    mean_ms: mean(sessions.flat()),
    run_spread: Math.sqrt(mean(logs.map(variance))),
    session_spread: Math.sqrt(variance(logs.map(mean))),
    pair_spread: Math.sqrt(mean(steps.map((step) => step * step))),
  };
  const size = { sessions: logs.length, runs };
  return {
    ...spread,
    smallest_effects: RUNS.map((count) => ({
      runs: count,
      relative: smallestEffect(spread, size, { a: count, b: count }),
    })),
  };
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

function variance(values: readonly number[]): number {
  const middle = mean(values);
  return values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / (values.length - 1);
}

interface Sessions {
  readonly sessions: number;
  /** Runs in each. */
  readonly runs: number;
}

/** The half width of the 95 % interval of the ratio of two sessions with so many runs, less 1. */
export function smallestEffect(
  { run_spread, session_spread }: Pick<Spread, "run_spread" | "session_spread">,
  { sessions, runs }: Sessions,
  count: Readonly<Record<"a" | "b", number>>,
): number {
  const between = Math.max(0, session_spread ** 2 - run_spread ** 2 / runs);
  const variance = (side: number) => between + run_spread ** 2 / side;
  return Math.expm1(quantile975(sessions - 1) * Math.sqrt(variance(count.a) + variance(count.b)));
}

/** The same of pairs of runs; null for so few that nothing can be told. */
export function smallestPairedEffect({ pair_spread }: Spread, pairs: number): number | null {
  const half = sequenceHalf(pairs, pair_spread ** 2);
  return Number.isFinite(half) ? Math.expm1(half) : null;
}

/** What the noise of a region comes from. */
export function noiseSource(
  { wall_ms: wall, cpu_ms: cpu }: Spreads,
  { spread: instructions }: CountedInstructions,
): NoiseSource | null {
  if (wall === undefined || cpu === undefined) return null;
  const whole = Math.max(wall.run_spread, wall.session_spread);
  const ofCpu = Math.max(cpu.run_spread, cpu.session_spread);
  if (Math.max(whole, ofCpu) < MINOR) return null;
  if (ofCpu < whole / 2) return "waiting";
  return instructions !== null && instructions > ofCpu / 2 ? "work" : "speed";
}

const MINOR = 0.01;

/** Whether the means of sessions vary by twice what the runs in them explain. */
export const isDrifting = ({ run_spread, session_spread }: Spread, runs: number): boolean =>
  session_spread > MINOR / 2 && session_spread ** 2 > (4 * run_spread ** 2) / runs;

// Comparisons.

type BothReports = Readonly<Record<"a" | "b", NCUProfileRegionReport>>;

/** Finds the calibration for two reports; null if there is none. */
export type FindCalibration = (reports: BothReports) => Calibration | null;

export interface Judged {
  readonly reports: ReportComparison;
  readonly gates: readonly GateResult[];
}

/**
 * The comparison with the noise of a calibration, and what became of the conditions.
 *
 * @throws ConfigError `profile.gate` as `checkGates`, and for `auto` without a calibration
 */
export function judged(
  compared: ReportComparison,
  both: BothReports,
  conditions: Conditions,
  find: FindCalibration,
): Judged {
  const calibration = find(both);
  const reports = calibration === null ? compared : calibrated(compared, calibration, runsOf(both));
  const time = conditions.isAuto ? bestTime(reports) : null;
  if (conditions.isAuto && time === null) throw notCalibrated(both, calibration);
  const gates = [...(time === null ? [] : autoGates(time)), ...conditions.gates];
  const shown = judgedBy(
    reports,
    gates.map(({ name }) => name),
  );
  const notes = calibration === null ? [] : [calibrationNote(shown, calibration)];
  return {
    reports: { ...shown, notes: [...notes, ...shown.notes] },
    gates: checkGates(gates, shown),
  };
}

const notCalibrated = ({ a, b }: BothReports, calibration: Calibration | null): ConfigError => {
  const { hostname } = b.environment;
  return new ConfigError({
    code: "profile.gate",
    message:
      calibration !== null
        ? "--fail-on auto: the calibration and the reports have no time in common"
        : a.environment.hostname === hostname
          ? `--fail-on auto: there is no calibration of this program on ${hostname}`
          : `--fail-on auto: A is of ${a.environment.hostname} and B of ${hostname}: no calibration is of two machines`,
    hint: "deep-profile calibrate -- PROG makes one on the machine that runs both (--calibration FILE names it); or name limits: --fail-on 'cpu_ms>5%'",
  });
};

const runsOf = ({ a, b }: BothReports): Readonly<Record<"a" | "b", number>> => {
  const timeOf = ({ regions }: NCUProfileRegionReport) =>
    regions.reduce(
      (most, { repeats }) => Math.max(most, repeats?.total_runs ?? repeats?.runs ?? 1),
      1,
    );
  return { a: timeOf(a), b: timeOf(b) };
};

/** The noise of the calibration counts where it is larger than what the runs of the comparison show. */
function calibrated(
  reports: ReportComparison,
  calibration: Calibration,
  runs: Readonly<Record<"a" | "b", number>>,
): ReportComparison {
  const sessions = { sessions: calibration.sessions.length, runs: calibration.runs_per_session };
  const numbersByKey = new Map(
    calibration.regions.map((region) => [regionKey(region), region.numbers] as const),
  );
  const withSpreads = (changes: Changes, spreads: Spreads, seen = runs): Changes =>
    Object.fromEntries(
      Object.entries(changes).map(([name, change]) => {
        const spread = Object.hasOwn(spreads, name) ? spreads[name] : undefined;
        return [
          name,
          spread === undefined ? change : calibratedChange(change, spread, sessions, seen),
        ];
      }),
    );
  const spreadsOf = (region: RegionChange): Spreads =>
    numbersByKey.get(regionKey(region)) ??
    (region.members === undefined ? undefined : numbersByKey.get(familyKey(region))) ??
    {};
  const judged = (regions: readonly RegionChange[]): readonly RegionChange[] =>
    regions.map((region) => ({
      ...region,
      changes: withSpreads(region.changes, spreadsOf(region), {
        a: region.runs?.a?.seen ?? runs.a,
        b: region.runs?.b?.seen ?? runs.b,
      }),
    }));
  return {
    ...reports,
    totals: withSpreads(reports.totals, calibration.totals),
    regions: judged(reports.regions),
    families: judged(reports.families),
    members: judged(reports.members),
  };
}

function calibratedChange(
  change: Change,
  spread: Spread,
  sessions: Sessions,
  runs: Readonly<Record<"a" | "b", number>>,
): Change {
  const { a, delta, log_ratios, uncertainty, freedom } = change;
  if (a === null || a === 0 || delta === null || change.verdict === "left_out") return change;
  if (log_ratios !== undefined) {
    const effect = smallestPairedEffect(spread, log_ratios.length);
    if (effect === null) return change;
    const isTooSmall = Math.abs(meanOfPairs(log_ratios)) < effect;
    const isCalled = change.verdict === "more" || change.verdict === "less";
    return {
      ...change,
      smallest_effect: effect,
      ...(isCalled && isTooSmall && { verdict: "unclear" }),
    };
  }
  const effect = smallestEffect(spread, sessions, runs);
  const ownEffect = uncertainty === null || freedom === undefined ? 0 : uncertainty / Math.abs(a);
  const smallest_effect = Math.max(effect, ownEffect);
  if (freedom === undefined || ownEffect >= effect) return { ...change, smallest_effect };
  return {
    ...withNoise(change, effect * Math.abs(a), sessions.sessions - 1),
    smallest_effect,
  };
}

function calibrationNote(
  { totals, main_time: time }: ReportComparison,
  { created_at, machine, sessions, runs_per_session, command }: Calibration,
): string {
  const effect = totals[time]?.smallest_effect;
  const seen =
    effect === undefined
      ? `it does not have ${time}`
      : `a change of ${time} of less than ${percent(effect)} % could not have been seen, and none is called`;
  return `noise as calibrated on ${machine.hostname} at ${created_at} (${sessions.length} sessions of ${runs_per_session} runs of ${command.join(" ")}): ${seen}`;
}

const percent = (share: number): string => formatNumber(Number((share * 100).toPrecision(2)));

/** The time that the calibration can judge best, of those that both reports have; null without one. */
function bestTime({ totals }: ReportComparison): MainTime | null {
  const [best] = (["cpu_ms", "total_ms", "wall_ms"] as const)
    .flatMap((time) => {
      const effect = totals[time]?.smallest_effect;
      return effect === undefined ? [] : [{ time, effect }];
    })
    .sort((left, other) => left.effect - other.effect);
  return best?.time ?? null;
}

/** Of several calibrations the one for these reports: of their machine and collector, with regions of theirs. */
export function calibrationFor(
  all: readonly Calibration[],
  reports: BothReports,
): Calibration | null {
  const keys = new Set(
    [...reports.b.regions, ...withFamilies(reports.b).regions]
      .filter(({ kind }) => kind !== "outside")
      .flatMap((region) => [regionKey(region), familyKey(region)]),
  );
  const commands = [reports.b, reports.a].map(({ environment }) =>
    JSON.stringify(environment.command),
  );
  const found = all
    .filter(({ machine, collector }) =>
      [reports.a, reports.b].every(
        (report) =>
          report.environment.hostname === machine.hostname &&
          report.environment.cpu === machine.cpu &&
          report.collector.name === collector,
      ),
    )
    .map((calibration) => ({
      calibration,
      isSame: commands.includes(JSON.stringify(calibration.command)),
      common: calibration.regions.filter((region) => keys.has(regionKey(region))).length,
    }))
    .filter(({ common }) => common > 0)
    .sort(
      (left, other) =>
        Number(other.isSame) - Number(left.isSame) ||
        other.common - left.common ||
        other.calibration.created_at.localeCompare(left.calibration.created_at),
    );
  return found[0]?.calibration ?? null;
}
