/** Everything that a comparison shows, in whatever form. */
import { andOthers, capitalized } from "../../text/plural.ts";
import { printableLabel } from "../../text/printable.ts";
import { isInside, kindMarks, pathWords } from "../model/region-path.ts";
import { jsonPieces } from "../render/json.ts";
import type { Changes, Verdict } from "./change.ts";
import type { ReportComparison } from "./compare-reports.ts";
import type { GateResult } from "./gates.ts";
import type { KernelChange } from "./kernel-changes.ts";
import type { RegionChange } from "./region-change.ts";

export interface Comparison {
  /** The user's names of the two. */
  readonly names: { readonly a: string; readonly b: string };
  readonly reports: ReportComparison;
  /** Null if the configurations are unavailable. */
  readonly config: readonly ConfigDifference[] | null;
  readonly gates: readonly GateResult[];
}

export interface ConfigDifference {
  readonly key: string;
  /** Null if absent from that configuration. */
  readonly a: string | null;
  readonly b: string | null;
}

/** The time that is compared: kernel time if both have it, else wall time. */
export const mainTime = ({ totals }: ReportComparison): "total_ms" | "wall_ms" => {
  const total = totals["total_ms"];
  return total !== undefined && total.a !== null && total.b !== null ? "total_ms" : "wall_ms";
};

export const TIME_LABELS = {
  total_ms: "time of kernels or CPU operations",
  wall_ms: "wall time",
} as const;

export const VERDICTS: Readonly<Record<Verdict, string>> = {
  more: "slower",
  less: "faster",
  same: "same",
  unclear: "unclear",
  added: "new",
  removed: "gone",
  left_out: "left out",
};

/** Kernels that both looked for and whose time differs, in the order of the comparison. */
export const changedKernels = ({ kernels }: ReportComparison): readonly KernelChange[] =>
  kernels.filter(
    ({ presence, changes }) =>
      presence !== "left_out" && (changes["total_ms"]?.verdict ?? "same") !== "same",
  );

/** Counts that differ: more kernels or calls explain more time. */
export function countNotes(changes: Changes, reports: ReportComparison): string {
  const names = { invocations: "calls", calls: "calls", kernel_count: `${kernelWord(reports)}s` };
  return (["invocations", "calls", "kernel_count"] as const)
    .flatMap((name) => {
      const change = changes[name];
      if (change === undefined || change.delta === null || change.delta === 0) return [];
      return [`${names[name]} ${change.a} -> ${change.b}`];
    })
    .join(", ");
}

/** The name of an entry in the kernel lists: CPU operations are never kernels. */
export const kernelWord = ({ kernels }: ReportComparison): string =>
  kernels.length > 0 && kernels.every(({ kind }) => kind === "cpu_operation")
    ? "CPU operation"
    : "kernel";

/** The same as a heading. */
export const kernelHeading = (reports: ReportComparison): string =>
  capitalized(kernelWord(reports));

/** A region with how many shown regions stand around it. */
export interface RegionLine {
  readonly region: RegionChange;
  readonly level: number;
  /** Safe to print. */
  readonly label: string;
}

/** @param among all regions of the comparison, if only some are shown */
export function regionLines(
  regions: readonly RegionChange[],
  among: readonly RegionChange[] = regions,
): readonly RegionLine[] {
  const around: RegionChange[] = [];
  const kindOf = kindMarks(among);
  return regions.map((region) => {
    const outermost = around.findIndex((other) => !isInside(region, other));
    if (outermost >= 0) around.length = outermost;
    const shown = around.at(-1)?.path.length ?? 0;
    const words = pathWords(region, (text) => printableLabel(text), shown);
    const label = `${words}${kindOf(region)}`;
    const line = { region, level: around.length, label };
    around.push(region);
    return line;
  });
}

/** One line that says how it went, for a log. */
export function gateSummary(gates: readonly GateResult[]): string {
  const breached = gates.filter(({ outcome }) => outcome === "breached");
  const unclear = gates.filter(({ outcome }) => outcome === "unclear");
  const [first, ...others] = breached;
  if (first !== undefined) return `gate breached: ${first.reason}${andOthers(others.length)}`;
  const unchecked = gates.filter(({ outcome }) => outcome === "unchecked").length;
  const doubt = unclear.length === 0 ? "" : `, ${unclear.length} past the limit but within noise`;
  const missing = unchecked === 0 ? "" : `, ${unchecked} left out by a selection, unchecked`;
  return `gates passed: ${gates.length - unchecked} checked${doubt}${missing}`;
}

/** Version of the comparison's JSON, `major.minor`; a minor version only adds. */
export const COMPARISON_CONTRACT = "hydraconf.comparison/1.4";

/** The versions that can be read, including all earlier ones. */
export const COMPARISON_CONTRACTS: readonly string[] = [
  "hydraconf.comparison/1.0",
  "hydraconf.comparison/1.1",
  "hydraconf.comparison/1.2",
  "hydraconf.comparison/1.3",
  COMPARISON_CONTRACT,
];

/**
 * Everything, for programs, in pieces: for two large reports it can be longer than a string may be.
 * Times are milliseconds; an infinite limit does not occur.
 */
export const comparisonJsonPieces = ({
  names,
  reports,
  config,
  gates,
}: Comparison): Iterable<string> =>
  jsonPieces({ contract: COMPARISON_CONTRACT, names, ...reports, config, gates });
