/** Notes that readers of a comparison need to judge it. */

import { agreeing, firstFew, plural } from "../../foundation/text/plural.ts";
import type { NCUProfileRegionReport, ReportEnvironment } from "../model/document.ts";
import { coveredWords, isMedianRunNote, isUnifiedNote, rulesInNotes } from "../view/notes.ts";
import type { Difference, KernelChange, RegionChange } from "./comparison-types.ts";
import type { CoverageOfBoth } from "./selection-coverage.ts";

/** For equal files, every condition would hold. */
export const SAME_REPORT = "A and B are the same report file, so nothing can differ";

/** Why two reports may not be comparable, and the notes that only one of them has. */
export const comparisonNotes = (
  a: NCUProfileRegionReport,
  b: NCUProfileRegionReport,
): readonly string[] => [
  ...failureNotes(a, b),
  ...nothingMeasured(a, b),
  ...differencesOfKind(a, b).map(differenceNote),
  ...unitNotes(a, b),
  ...repeatNotes(a, b),
  ...ownNotes("A", a, b),
  ...ownNotes("B", b, a),
];

/** The report that lacks an entry, and what an entry of the other is then. */
const SIDES = [
  { side: "b", name: "B", other: "A", verdict: "gone" },
  { side: "a", name: "A", other: "B", verdict: "new" },
] as const;

/** Explains what is not compared, and which selection leaves it out. */
export function leftOutNotes(
  regions: readonly RegionChange[],
  kernels: readonly KernelChange[],
  looked: CoverageOfBoth,
): readonly string[] {
  return SIDES.flatMap(({ side, name, other, verdict }) => {
    const leaves = (words: string, count: number) =>
      `(${words}) leaves ${agreeing(count, "it", "them")} out; ${agreeing(count, "it is", "they are")} marked left out, not ${verdict}`;
    const { regionWords, kernelWords, region, kernel } = looked[side];
    const left = regions.filter(
      (entry) => entry.presence === "left_out" && isMissingIn(side, entry) && !region(entry),
    );
    const uncounted = kernels.filter(
      (entry) => entry.presence === "left_out" && isMissingIn(side, entry) && !kernel(entry),
    );
    return [
      ...(left.length === 0
        ? []
        : [
            `${name} did not look for ${plural(left.length, "region")} of ${other}: its selection ${leaves(regionWords, left.length)}; kernels and counts are compared only where both looked`,
          ]),
      ...(uncounted.length === 0
        ? []
        : [
            `${name} did not count ${plural(uncounted.length, "kernel")} of ${other}: its kernel selection ${leaves(kernelWords, uncounted.length)}`,
          ]),
    ];
  });
}

/** Explains that regions of which only one report has a number may have run in the other, too. */
export function notWholeNotes(
  regions: readonly RegionChange[],
  looked: CoverageOfBoth,
): readonly string[] {
  return SIDES.flatMap(({ side, name, other, verdict }) => {
    if (looked[side].isWhole) return [];
    const count = regions.filter(
      (entry) =>
        entry.presence === "left_out" && isMissingIn(side, entry) && looked[side].region(entry),
    ).length;
    return count === 0
      ? []
      : [
          `${name} has only its longest regions: ${plural(count, "region")} of ${other} that it does not have ${agreeing(count, "is", "are")} marked left out, not ${verdict}, and kernels likewise`,
        ];
  });
}

/** Explains why totals that are shown side by side are not compared. */
export function otherWorkNotes(
  regions: readonly RegionChange[],
  { a, b }: CoverageOfBoth,
): readonly string[] {
  const words = ({ regionWords, kernelWords }: CoverageOfBoth["a"]) =>
    [regionWords, kernelWords === "" ? "" : `kernels: ${kernelWords}`]
      .filter((text) => text !== "")
      .join("; ") || "everything";
  const count = regions.filter(
    ({ presence, changes }) =>
      presence === "both" && changes["kernel_count"]?.verdict === "left_out",
  ).length;
  const also = count === 0 ? "" : `, and those of ${plural(count, "region")} around it`;
  return [
    `A and B measured or counted different work (A: ${words(a)}; B: ${words(b)}): kernel totals${also} are shown side by side, marked left out, and not compared`,
  ];
}

const isMissingIn = (side: "a" | "b", { changes }: RegionChange | KernelChange): boolean =>
  Object.values(changes).every((change) => change[side] === null);

/** In a failed run, whatever was not reached looks faster. */
const failureNotes = (a: NCUProfileRegionReport, b: NCUProfileRegionReport): readonly string[] =>
  [["A", a] as const, ["B", b] as const].flatMap(([name, { failure, notes }]) =>
    failure === undefined
      ? []
      : [`${name} failed: ${failure}; its numbers cover ${coveredWords(notes)}`],
  );

/**
 * Notes on aggregates over different numbers of processes: they sum what ran in parallel.
 *
 * @param a the number of processes of A; 0: unknown
 */
export const processNotes = (a: number, b: number): readonly string[] =>
  a === b || a === 0 || b === 0
    ? []
    : [
        `the number of processes differs: ${a} and ${b}; region times and counts are sums over all processes`,
      ];

/**
 * What is not compared because only one run has it: its collector may have failed in the other run.
 *
 * @param compared the collector whose results are compared
 */
export function collectorNotes(
  compared: string,
  ofA: readonly string[],
  ofB: readonly string[],
): readonly string[] {
  const without = (all: readonly string[], others: readonly string[]) =>
    all.filter((name) => !others.includes(name)).join(", ");
  const alone = [
    { name: "A", has: without(ofA, ofB) },
    { name: "B", has: without(ofB, ofA) },
  ].filter(({ has }) => has !== "");
  if (alone.length === 0) return [];
  const who = alone.map(({ name, has }) => `only ${name} has ${has}`).join(", ");
  return [`these are the numbers of ${compared}; ${who}`];
}

/** A table without rows, or with rows from only one report, must not look like a result. */
function nothingMeasured(a: NCUProfileRegionReport, b: NCUProfileRegionReport): readonly string[] {
  const measured = ({ regions }: NCUProfileRegionReport) =>
    regions.some(({ kind }) => kind !== "outside");
  if (measured(a) && measured(b)) return [];
  if (measured(a)) return ["B measured no region: nothing of A can be compared with it"];
  if (measured(b)) return ["A measured no region: nothing of B can be compared with it"];
  return [
    a.regions.length > 0 && b.regions.length > 0
      ? "neither A nor B measured a region: only what ran outside regions can be compared"
      : "neither A nor B measured a region: there is nothing to compare",
  ];
}

/** Explains why a metric is not compared: versions of a tool may use different units. */
function unitNotes(a: NCUProfileRegionReport, b: NCUProfileRegionReport): readonly string[] {
  const unitsOf = ({ regions }: NCUProfileRegionReport) =>
    new Map(
      regions.flatMap(({ metrics }) =>
        Object.entries(metrics).map(([name, { unit }]) => [name, unit] as const),
      ),
    );
  const ofB = unitsOf(b);
  const differing = [...unitsOf(a)].flatMap(([name, unit]) => {
    const other = ofB.get(name) ?? unit;
    return other === unit ? [] : [`${name} (${unit || "none"} and ${other || "none"})`];
  });
  if (differing.length === 0) return [];
  return [
    `units differ, so these values are shown side by side and marked left out: ${firstFew(differing, MOST_NOTES)}`,
  ];
}

/** Explains that a comparison of repeated runs uses other numbers than a report shows. */
function repeatNotes(a: NCUProfileRegionReport, b: NCUProfileRegionReport): readonly string[] {
  const runs = ({ regions }: NCUProfileRegionReport) =>
    regions.reduce(
      (most, { repeats }) => Math.max(most, repeats?.total_runs ?? repeats?.runs ?? 0),
      0,
    );
  const repeated = [["A", runs(a)] as const, ["B", runs(b)] as const].filter(
    ([, count]) => count > 0,
  );
  if (repeated.length === 0) return [];
  const which = repeated.map(([name, count]) => `${name}: ${count}`).join(", ");
  const isEach = [a, b].every(
    (report) =>
      runs(report) === 0 ||
      report.regions.every(
        ({ kernels, repeats }) => kernels.length === 0 || repeats?.kernels !== undefined,
      ),
  );
  return [
    isEach
      ? `times are means of repeated runs (${which}), of a region those that have it; counts, metrics and the use of the GPU are from the run with the median time`
      : `times are means of repeated runs (${which}), except those of kernels in regions, which are from the run with the median time, as counts, metrics and the use of the GPU are`,
  ];
}

/** Notes that only one report has; failures, repeats and label rules have their own notes. */
const ownNotes = (
  name: string,
  { notes, failure }: NCUProfileRegionReport,
  other: NCUProfileRegionReport,
): readonly string[] => {
  const ownNotes = notes.filter(
    (note) =>
      !other.notes.includes(note) &&
      !isMedianRunNote(note) &&
      !isUnifiedNote(note) &&
      (failure === undefined || !note.startsWith(failure)),
  );
  const shown = ownNotes.slice(0, MOST_NOTES).map((note) => `${name}: ${note}`);
  const left = ownNotes.length - shown.length;
  return left > 0 ? [...shown, `${name}: ${plural(left, "more note")} in its report`] : shown;
};

const MOST_NOTES = 5;

/** Differences of machines, programs and versions; configurations are compared separately. */
export function environmentDifferences(
  a: NCUProfileRegionReport,
  b: NCUProfileRegionReport,
): readonly Difference[] {
  const tool = ({ collector: { name, version } }: NCUProfileRegionReport) => `${name} ${version}`;
  const isOneTool = a.collector.name === b.collector.name;
  const ours = ({ environment }: NCUProfileRegionReport) => environment.hydraconf_version;
  const versions: readonly Difference[] = [
    ...(isOneTool ? [{ what: "collector versions", a: tool(a), b: tool(b) }] : []),
    { what: "deep-profile versions", a: ours(a), b: ours(b) },
  ];
  return [...differencesOfKind(a, b), ...versions.filter((each) => each.a !== each.b)];
}

export const differenceNote = ({ what, a, b }: Difference): string =>
  `the ${what} differ: ${a || "none"} and ${b || "none"}`;

/** Numbers from different collectors can be compared, but readers must know it. */
function differencesOfKind(
  a: NCUProfileRegionReport,
  b: NCUProfileRegionReport,
): readonly Difference[] {
  const areAlike = scopeKind(a) === scopeKind(b);
  const pairs: readonly (readonly [string, string | null, string | null])[] = [
    ["collectors", a.collector.name, b.collector.name],
    ["kernel clocks", a.collector.kernel_clock, b.collector.kernel_clock],
    ["devices", a.environment.device, b.environment.device],
    ...differencesOfMachine(a.environment, b.environment),
    ["label rules", rulesInNotes(a.notes), rulesInNotes(b.notes)],
    ["scopes", areAlike ? null : a.scope, areAlike ? null : b.scope],
  ];
  return pairs.flatMap(([what, before, after]) =>
    before === after ? [] : [{ what, a: before ?? "", b: after ?? "" }],
  );
}

/** An imported file may not name its machine, which is not a difference. */
function differencesOfMachine(
  a: ReportEnvironment,
  b: ReportEnvironment,
): readonly (readonly [string, string, string])[] {
  const isUnknown = ({ hostname }: ReportEnvironment) => hostname === "unknown";
  const noGpus = (environment: ReportEnvironment) =>
    isUnknown(environment) && environment.gpus.length === 0;
  return [
    ...(isUnknown(a) || isUnknown(b)
      ? []
      : [
          ["machines", a.hostname, b.hostname] as const,
          ["processors", a.cpu, b.cpu] as const,
          ["operating systems", a.os, b.os] as const,
        ]),
    ...(noGpus(a) || noGpus(b) ? [] : [["GPUs", a.gpus.join(", "), b.gpus.join(", ")] as const]),
  ];
}

/** The kind of scope: process and device numbers differ between runs. */
const scopeKind = ({ scope }: NCUProfileRegionReport): string => scope.replace(/(?<!\d)\d+$/, "");
