/** What the reader of a comparison has to know before believing it. */
import { agreeing, plural } from "../../text/plural.ts";
import type { NCUProfileRegionReport, ReportEnvironment } from "../document.ts";
import { isUnifiedNote, rulesInNotes } from "../label-rules-note.ts";
import type { KernelChange } from "./kernel-changes.ts";
import type { KnownDomains } from "./known-domains.ts";
import type { LookedForByBoth } from "./looked-for.ts";
import type { RegionChange } from "./region-change.ts";

/** A condition would hold whatever the program does. */
export const SAME_REPORT = "A and B are one and the same report: nothing can differ";

/** Why two reports may not be comparable, and what only one of them says of itself. */
export const comparisonNotes = (
  a: NCUProfileRegionReport,
  b: NCUProfileRegionReport,
): readonly string[] => [
  ...failureNotes(a, b),
  ...nothingMeasured(a, b),
  ...differencesOfKind(a, b),
  ...unitNotes(a, b),
  ...repeatNotes(a, b),
  ...ownNotes("A", a, b),
  ...ownNotes("B", b, a),
];

/** Nobody could tell otherwise why a region is gone, and another one of its name new. */
export const doubtNotes = ({ doubtful }: KnownDomains): readonly string[] =>
  doubtful === 0
    ? []
    : [
        `${plural(doubtful, "region")} of A cannot be matched with one of B: a report written before contract 1.2 does not tell apart what is inside of ranges that differ only in their NVTX domain`,
      ];

/** Whose selection leaves out what of the other one: nobody could tell otherwise why that is not compared. */
export function leftOutNotes(
  regions: readonly RegionChange[],
  kernels: readonly KernelChange[],
  looked: LookedForByBoth,
): readonly string[] {
  const sides = [
    { side: "b", name: "B", other: "A", verdict: "gone" },
    { side: "a", name: "A", other: "B", verdict: "new" },
  ] as const;
  return sides.flatMap(({ side, name, other, verdict }) => {
    const leaves = (words: string, count: number) =>
      `(${words}) leaves ${agreeing(count, "it", "them")} out; ${agreeing(count, "it is", "they are")} called left out, not ${verdict}`;
    const { regionWords, kernelWords, region, kernel } = looked[side];
    const left = regions.filter(
      (one) => one.presence === "left_out" && isMissingIn(side, one) && !region(one),
    );
    const uncounted = kernels.filter(
      (one) => one.presence === "left_out" && isMissingIn(side, one) && !kernel(one),
    );
    return [
      ...(left.length === 0
        ? []
        : [
            `${name} did not look for ${plural(left.length, "region")} of ${other}: its selection ${leaves(regionWords, left.length)}; kernels and counts are compared where both looked`,
          ]),
      ...(uncounted.length === 0
        ? []
        : [
            `${name} did not count ${plural(uncounted.length, "kernel")} of ${other}: its selection of kernels ${leaves(kernelWords, uncounted.length)}`,
          ]),
    ];
  });
}

/** Nobody could tell otherwise why totals that stand side by side are not compared. */
export function otherWorkNotes(
  regions: readonly RegionChange[],
  { a, b }: LookedForByBoth,
): readonly string[] {
  const words = ({ regionWords, kernelWords }: LookedForByBoth["a"]) =>
    [regionWords, kernelWords === "" ? "" : `kernels: ${kernelWords}`]
      .filter((text) => text !== "")
      .join("; ") || "everything";
  const count = regions.filter(
    ({ presence, changes }) =>
      presence === "both" && changes["kernel_count"]?.verdict === "left_out",
  ).length;
  const also = count === 0 ? "" : `, and those of ${plural(count, "region")} around it`;
  return [
    `A and B measured or counted different work (A: ${words(a)}; B: ${words(b)}): totals of kernels${also} are put side by side and called left out, not compared`,
  ];
}

const isMissingIn = (side: "a" | "b", { changes }: RegionChange | KernelChange): boolean =>
  Object.values(changes).every((change) => change[side] === null);

/** Of a run that failed half-way, what it did not come to looks faster than it is. */
const failureNotes = (a: NCUProfileRegionReport, b: NCUProfileRegionReport): readonly string[] =>
  [["A", a.failure] as const, ["B", b.failure] as const].flatMap(([name, failure]) =>
    failure === undefined
      ? []
      : [`${name} failed: ${failure}; its numbers are of what was recorded until then`],
  );

/**
 * Of aggregates over other numbers of processes, which sum what ran side by side.
 *
 * @param a how many processes A is of; 0: not known
 */
export const processNotes = (a: number, b: number): readonly string[] =>
  a === b || a === 0 || b === 0
    ? []
    : [
        `the numbers of processes differ: ${a} and ${b}; times of regions and counts are sums over all of them`,
      ];

/**
 * What of two runs is not compared, as only one of them has it: its collector may have failed in the other.
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

/** A table without rows, or of what only one has, must not look like an answer. */
function nothingMeasured(a: NCUProfileRegionReport, b: NCUProfileRegionReport): readonly string[] {
  const measured = ({ regions }: NCUProfileRegionReport) =>
    regions.some(({ kind }) => kind !== "outside");
  if (measured(a) && measured(b)) return [];
  if (measured(a)) return ["B measured no region: nothing of A can be compared with it"];
  if (measured(b)) return ["A measured no region: nothing of B can be compared with it"];
  return [
    a.regions.length > 0 && b.regions.length > 0
      ? "neither A nor B measured a region: only what ran outside of regions can be compared"
      : "neither A nor B measured a region: there is nothing to compare",
  ];
}

/** Tools of other versions may give a metric in another unit: nobody could tell otherwise why it is not compared. */
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
  const left = differing.length - MOST_NOTES;
  return [
    `units differ, so that values are put side by side and called left out: ${differing.slice(0, MOST_NOTES).join(", ")}${left > 0 ? ` and ${plural(left, "more metric")}` : ""}`,
  ];
}

/** Of repeated runs a comparison takes other numbers than a report shows. */
function repeatNotes(a: NCUProfileRegionReport, b: NCUProfileRegionReport): readonly string[] {
  const runs = ({ regions }: NCUProfileRegionReport) =>
    regions.reduce((most, { repeats }) => Math.max(most, repeats?.runs ?? 0), 0);
  const repeated = [["A", runs(a)] as const, ["B", runs(b)] as const].filter(
    ([, count]) => count > 0,
  );
  if (repeated.length === 0) return [];
  const which = repeated.map(([name, count]) => `${name}: ${count}`).join(", ");
  return [
    `times of regions are means of repeated runs (${which}); kernels, operations and counts are those of the run with the median time`,
  ];
}

/** What a report says of its own numbers. */
const ABOUT_MEDIAN_RUN = /^numbers are those of the median run of \d+; /;

/** What is said of one report alone; that its run failed, or that its labels are unified, is told before. */
const ownNotes = (
  name: string,
  { notes, failure }: NCUProfileRegionReport,
  other: NCUProfileRegionReport,
): readonly string[] => {
  const own = notes.filter(
    (note) =>
      !other.notes.includes(note) &&
      !ABOUT_MEDIAN_RUN.test(note) &&
      !isUnifiedNote(note) &&
      (failure === undefined || !note.startsWith(failure)),
  );
  const shown = own.slice(0, MOST_NOTES).map((note) => `${name}: ${note}`);
  const left = own.length - shown.length;
  return left > 0 ? [...shown, `${name}: ${plural(left, "more note")} in its report`] : shown;
};

const MOST_NOTES = 5;

/** Numbers of different origin can be put side by side, but the reader must know. */
function differencesOfKind(
  a: NCUProfileRegionReport,
  b: NCUProfileRegionReport,
): readonly string[] {
  const areAlike = scopeKind(a) === scopeKind(b);
  const pairs: readonly (readonly [string, string | null, string | null])[] = [
    ["collectors", a.collector.name, b.collector.name],
    ["clocks of kernels", a.collector.kernel_clock, b.collector.kernel_clock],
    ["devices", a.environment.device, b.environment.device],
    ...differencesOfMachine(a.environment, b.environment),
    ["label rules", rulesInNotes(a.notes), rulesInNotes(b.notes)],
    ["scopes", areAlike ? null : a.scope, areAlike ? null : b.scope],
  ];
  return pairs.flatMap(([what, before, after]) =>
    before === after ? [] : [`the ${what} differ: ${before || "none"} and ${after || "none"}`],
  );
}

/** An imported file may not say where it is from: that is no difference. */
function differencesOfMachine(
  a: ReportEnvironment,
  b: ReportEnvironment,
): readonly (readonly [string, string, string])[] {
  const isUnknown = ({ hostname }: ReportEnvironment) => hostname === "unknown";
  const noGpus = (one: ReportEnvironment) => isUnknown(one) && one.gpus.length === 0;
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

/** Processes and devices have other numbers in every run. */
const scopeKind = ({ scope }: NCUProfileRegionReport): string => scope.replace(/(?<!\d)\d+$/, "");
