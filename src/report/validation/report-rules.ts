/**
 * Rules of the contract that JSON Schema cannot express, each a small object. They are checked once a document fits the
 * schema.
 */

import { pointerTo as pointerToTokens } from "../../engine/schema/json-document.ts";
import { plural } from "../../foundation/text/plural.ts";
import { wholeBundle } from "../model/contract.ts";
import type {
  InvocationStatistics,
  KernelRecord,
  NCUProfileRegion,
  NCUProfileRegionReport,
  RegionReportBundle,
} from "../model/document.ts";
import { familyKey, storedFamily } from "../model/families.ts";
import { domainAt, placeKey, storedDomains } from "../model/region-path.ts";
import { limitOf } from "../view/gpu-utilization.ts";

interface Rule<T> {
  /** The property that the rule is about. */
  readonly property: string;
  /** What is wrong and what is expected; null if the rule holds. */
  readonly check: (thing: T) => Problem | null;
}

interface Problem {
  readonly message: string;
  readonly expected: string;
}

const problem = (message: string, expected: string): Problem => ({ message, expected });

/** Sums depend on the order of rounding, so one part in a million is tolerated. */
const exceeds = (value: number, limit: number): boolean =>
  value > limit + Math.max(Math.abs(limit) * 1e-6, 1e-9);
const differs = (a: number, b: number): boolean => exceeds(a, b) || exceeds(b, a);

const REGION_RULES: readonly Rule<NCUProfileRegion>[] = [
  {
    property: "path",
    check: ({ name, path }) =>
      path.at(-1) === name
        ? null
        : problem("the path does not end with the name", `a list that ends with ${quote(name)}`),
  },
  {
    property: "path_domains",
    check: ({ path, domain, path_domains }) => {
      if (path_domains === undefined) return null;
      if (path_domains.length !== path.length)
        return problem(
          `${plural(path_domains.length, "domain")} for a path of ${path.length}`,
          "one for each name of the path",
        );
      const last = path_domains.at(-1) ?? null;
      return last === domain
        ? null
        : problem(`${quote(last)} is not the region's own domain`, quote(domain));
    },
  },
  {
    property: "family",
    check: ({ family, path }) => {
      const { family: expected } = storedFamily(path);
      if (family === undefined || JSON.stringify(family) === JSON.stringify(expected)) return null;
      return problem(
        `${JSON.stringify(family)} is not the path without numbers`,
        expected === undefined ? "none" : JSON.stringify(expected),
      );
    },
  },
  {
    property: "parent",
    check: ({ parent, path }) => {
      const expected = path.at(-2) ?? null;
      if (parent === expected) return null;
      return problem(`${quote(parent)} is not the last name but one of the path`, quote(expected));
    },
  },
  {
    property: "depth",
    check: ({ depth, path }) =>
      depth === path.length - 1
        ? null
        : problem(`depth ${depth} does not fit the path`, `${path.length - 1}`),
  },
  {
    property: "exclusive_ms",
    check: ({ exclusive_ms, total_ms }) =>
      atMost(exclusive_ms, total_ms, "exclusive_ms", "total_ms"),
  },
  {
    property: "wall_exclusive_ms",
    check: ({ wall_exclusive_ms, wall_ms }) =>
      atMost(wall_exclusive_ms, wall_ms, "wall_exclusive_ms", "wall_ms"),
  },
  {
    property: "cpu_exclusive_ms",
    check: ({ cpu_exclusive_ms = null, cpu_ms = null }) =>
      atMost(cpu_exclusive_ms, cpu_ms, "cpu_exclusive_ms", "cpu_ms"),
  },
  {
    property: "instructions_exclusive",
    check: ({ instructions_exclusive = null, instructions = null }) =>
      atMost(instructions_exclusive, instructions, "instructions_exclusive", "instructions"),
  },
  {
    property: "invocation_wall_ms",
    check: ({ invocation_wall_ms: stats }) =>
      stats === null || areInOrder(stats)
        ? null
        : problem("the statistics are not in order", "min <= median <= p95 <= max"),
  },
  {
    property: "wall_ms",
    check: ({ wall_ms, invocations, invocation_wall_ms }) =>
      sumOfCalls("wall_ms", wall_ms, invocations, invocation_wall_ms),
  },
  {
    property: "cpu_ms",
    check: ({ cpu_ms = null, invocations, invocation_cpu_ms = null }) =>
      sumOfCalls("cpu_ms", cpu_ms, invocations, invocation_cpu_ms),
  },
  {
    // Of each call the processor time is that of the one thread that opened it.
    property: "cpu_ms",
    check: ({ cpu_ms = null, wall_ms }) => atMost(cpu_ms, wall_ms, "cpu_ms", "wall_ms"),
  },
  {
    property: "invocation_cpu_ms",
    check: ({ invocation_cpu_ms: cpu, invocation_wall_ms: wall }) =>
      cpu === undefined || wall === null
        ? null
        : atMost(cpu.max, wall.max, "max", "that of invocation_wall_ms"),
  },
  {
    property: "payloads",
    check: ({ payloads = [] }) => inOrder(payloads),
  },
  {
    property: "counters",
    check: ({ counters = [] }) => inOrder(counters),
  },
  {
    property: "kernel_count",
    check: ({ kernel_count, kernels }) => {
      const calls = kernels.reduce((sum, kernel) => sum + kernel.calls, 0);
      // A range measured as a whole may have a count, but no list.
      if (kernels.length === 0 || calls === kernel_count) return null;
      return problem(`${kernel_count} is not the sum of calls in kernels`, `${calls}`);
    },
  },
  {
    property: "gpu_activity",
    check: ({ gpu_activity, wall_ms }) => {
      if (gpu_activity === undefined) return null;
      const { busy_ms, kernel_ms, copy_ms, overlap_ms } = gpu_activity;
      if (differs(busy_ms + overlap_ms, kernel_ms + copy_ms))
        return problem(
          `overlap_ms ${overlap_ms} does not fit the other times`,
          `kernel_ms + copy_ms - busy_ms, ${kernel_ms + copy_ms - busy_ms}`,
        );
      return (
        atMost(Math.max(kernel_ms, copy_ms), busy_ms, "kernel_ms or copy_ms", "busy_ms") ??
        atMost(busy_ms, wall_ms, "busy_ms", "wall_ms")
      );
    },
  },
  {
    property: "total_ms",
    check: ({ total_ms, kernels }) => {
      if (kernels.length === 0) return null;
      const sum = kernels.reduce((total, kernel) => total + (kernel.total_ms ?? 0), 0);
      // Without any time the sum is unknown.
      if (total_ms === null ? sum === 0 : !differs(total_ms, sum)) return null;
      return problem(`${total_ms} is not the sum of total_ms in kernels`, `${sum}`);
    },
  },
  {
    property: "kernels",
    check: ({ kernels }) => {
      const twice = firstRepeated(kernels.map(kernelId));
      if (twice === undefined) return null;
      return problem(`two records for ${twice}`, "one record per name, kind and device");
    },
  },
];

const KERNEL_RULES: readonly Rule<KernelRecord>[] = [
  {
    property: "mean_ms",
    check: ({ mean_ms, total_ms, calls }) => {
      const expected = total_ms === null ? null : total_ms / calls;
      const isRight =
        mean_ms === null || total_ms === null
          ? mean_ms === expected
          : !differs(mean_ms * calls, total_ms);
      return isRight ? null : problem(`${mean_ms} is not total_ms / calls`, `${expected}`);
    },
  },
  {
    property: "hardware",
    check: ({ hardware }) => {
      if (hardware === undefined) return null;
      const { sm_pct, memory_pct, limited_by } = hardware;
      const limit = sm_pct === null || memory_pct === null ? null : limitOf(sm_pct, memory_pct);
      return limit === limited_by
        ? null
        : problem(`limited_by ${quote(limited_by)} does not fit the shares`, quote(limit));
    },
  },
];

const REPORT_RULES: readonly Rule<NCUProfileRegionReport>[] = [
  {
    property: "regions",
    check: ({ regions }) => {
      const twice = firstRepeated(regions.map(regionId));
      if (twice === undefined) return null;
      return problem(
        `two regions with the identity ${twice}`,
        "process, device, path, its domains and kind to be unique",
      );
    },
  },
  {
    property: "regions",
    check: ({ regions }) => {
      const seen = new Set<string>();
      // The bucket outside all ranges contains no regions, whatever their names.
      const ranges = regions.filter(({ kind }) => kind !== "outside");
      const all = new Set(ranges.map((region) => placeKey(region)));
      for (const region of ranges) {
        const parent = placeKey(region, region.path.length - 1);
        if (all.has(parent) && !seen.has(parent))
          return problem(`${JSON.stringify(region.path)} comes before its parent`, "parents first");
        seen.add(placeKey(region));
      }
      return null;
    },
  },
  {
    property: "families",
    check: ({ families = [] }) => {
      const twice = firstRepeated(families.map(familyKey));
      return twice === undefined
        ? null
        : problem(`two entries for the family ${twice}`, "one entry per family and kind");
    },
  },
  {
    // A range ends no later than those around it. The sums of calls may differ: inner ranges of several threads, and
    // ranges that were started and ended, are open at the same time. What ranges overlap, or other threads opened, may be at another
    // place than the paths of the ranges inside them say: the longest call of any region with the parent's label is the limit.
    property: "regions",
    check: ({ scope, regions, totals, selection }) => {
      // The report of a device, of one region, of those that ncu's filter took or a selection shows, or of the longest of very many,
      // may lack a range around.
      const isPart =
        scope.startsWith("device:") ||
        totals.wall_ms === null ||
        selection === undefined ||
        selection.applies_to === "measurement" ||
        selection.include_patterns.length + selection.exclude_patterns.length > 0;
      if (isPart || regions.length >= MOST_WITH_ALL_PARENTS) return null;
      const ranges = regions.filter(({ kind, wall_ms }) => kind !== "outside" && wall_ms !== null);
      const places = new Set(ranges.map((region) => placeKey(region)));
      const longest = new Map<string, number>();
      for (const region of ranges) {
        const label = labelAt(region, region.path.length - 1);
        longest.set(label, Math.max(longest.get(label) ?? 0, longestCall(region)));
      }
      for (const region of ranges) {
        const around = region.path.length - 1;
        if (!places.has(placeKey(region, around))) continue;
        const most = longest.get(labelAt(region, around - 1));
        const { invocations, invocation_wall_ms, wall_ms } = region;
        const ms = invocation_wall_ms?.max ?? (wall_ms ?? 0) / Math.max(1, invocations);
        if (most !== undefined && exceeds(ms, most))
          return problem(
            `a call of ${JSON.stringify(region.path)} takes ${ms} ms, longer than every call of its parent`,
            `at most ${most}`,
          );
      }
      return null;
    },
  },
  {
    property: "totals",
    check: ({ regions, totals }) => {
      const count = regions.filter(({ kind }) => kind !== "outside").length;
      if (totals.region_count === count) return null;
      return problem(`region_count ${totals.region_count} does not fit regions`, `${count}`);
    },
  },
  {
    property: "totals",
    check: ({ regions, totals }) => {
      const sum = regions.reduce((total, { invocations }) => total + invocations, 0);
      if (totals.invocations === sum) return null;
      return problem(`invocations ${totals.invocations} is not the sum over regions`, `${sum}`);
    },
  },
  {
    property: "totals",
    check: ({ regions, totals }) => {
      const sum = regions.reduce((total, { exclusive_ms }) => total + (exclusive_ms ?? 0), 0);
      if (!exceeds(sum, totals.total_ms ?? 0)) return null;
      return problem(
        `exclusive times of the regions add up to ${sum} ms, more than total_ms`,
        `total_ms of at least ${sum}`,
      );
    },
  },
  {
    property: "totals",
    check: ({ totals: { run } }) =>
      run === undefined
        ? null
        : (atMost(run.in_ranges_ms, run.process_ms, "in_ranges_ms", "process_ms") ??
          atMost(run.wall_ms, run.process_ms, "wall_ms", "process_ms")),
  },
  {
    property: "totals",
    check: ({ totals }) => atMost(totals.outside_ms, totals.total_ms, "outside_ms", "total_ms"),
  },
  {
    property: "scope",
    check: ({ scope, regions }) => {
      const [kind, id] = splitScope(scope);
      const foreign = regions.find(
        ({ process_id, device }) =>
          (kind === "process" && process_id !== null && String(process_id) !== id) ||
          (kind === "device" && device !== null && device !== id),
      );
      if (foreign === undefined) return null;
      return problem(
        `region ${quote(foreign.name)} belongs to another ${kind}`,
        `only regions of ${scope}`,
      );
    },
  },
];

const BUNDLE_RULES: readonly Rule<RegionReportBundle>[] = [
  {
    property: "reports",
    check: ({ reports }) => {
      const twice = firstRepeated(reports.map(({ scope }) => scope));
      return twice === undefined ? null : problem(`two reports of ${twice}`, "scopes to be unique");
    },
  },
  {
    property: "reports",
    check: ({ reports }) =>
      reports.findIndex(({ scope }) => scope === "aggregate") > 0
        ? problem("the aggregate is not the first report", "the aggregate first")
        : null,
  },
  {
    property: "reports",
    check: ({ reports }) => {
      const unknown = reports.find(
        ({ kernels_of }, index) =>
          kernels_of !== undefined &&
          !reports.slice(0, index).some(({ scope }) => scope === kernels_of),
      );
      return unknown === undefined
        ? null
        : problem(
            `no report of ${unknown.kernels_of} before ${unknown.scope}`,
            "an earlier report",
          );
    },
  },
];

function inOrder(
  numbers: readonly {
    readonly name: string;
    readonly min: number;
    readonly mean: number;
    readonly max: number;
  }[],
) {
  const wrong = numbers.find(({ min, mean, max }) => !(min <= mean && mean <= max));
  return wrong === undefined
    ? null
    : problem(`the statistics of ${wrong.name} are not in order`, "min <= mean <= max");
}

/** All violations of the rules, in document order. */
export function ruleIssues(bundle: RegionReportBundle): readonly ReportIssue[] {
  return [
    ...applied(BUNDLE_RULES, bundle, ""),
    ...wholeBundle(bundle).reports.flatMap((report, index) => {
      const pointer = pointerTo("", "reports", index);
      return [
        ...applied(REPORT_RULES, report, pointer),
        ...(["regions", "families"] as const).flatMap((list) =>
          (report[list] ?? []).flatMap((region, place) => {
            const inRegion = pointerTo(pointer, list, place);
            return [
              ...applied(REGION_RULES, region, inRegion),
              ...region.kernels.flatMap((kernel, row) =>
                applied(KERNEL_RULES, kernel, pointerTo(inRegion, "kernels", row)),
              ),
            ];
          }),
        ),
      ];
    }),
  ];
}

const applied = <T>(rules: readonly Rule<T>[], thing: T, pointer: string): readonly ReportIssue[] =>
  rules.flatMap(({ property, check }) => {
    const found = check(thing);
    return found === null ? [] : [{ pointer: pointerTo(pointer, property), ...found }];
  });

/** Reports of so many regions leave others out. */
const MOST_WITH_ALL_PARENTS = 10_000;

const areInOrder = ({ min, median, p95, max }: InvocationStatistics): boolean =>
  min <= median && median <= p95 && p95 <= max;

/** The name and the domain of the range at one level of a path. */
const labelAt = (region: NCUProfileRegion, level: number): string =>
  JSON.stringify([region.path[level], domainAt(region, level)]);

/** @returns an upper bound where the calls are not known singly */
const longestCall = ({ invocation_wall_ms, wall_ms }: NCUProfileRegion): number =>
  invocation_wall_ms?.max ?? wall_ms ?? 0;

/** A sum of calls contains the longest one, and no call is longer than that. */
function sumOfCalls(
  name: string,
  sum: number | null,
  calls: number,
  statistics: InvocationStatistics | null,
): Problem | null {
  if (sum === null || statistics === null || !areInOrder(statistics)) return null;
  const [least, most] = [statistics.max, statistics.max * calls];
  if (!exceeds(least, sum) && !exceeds(sum, most)) return null;
  return problem(
    `${name} is ${sum} for ${plural(calls, "call")} of at most ${statistics.max} ms`,
    calls === 1 ? `${most}` : `${least} to ${most}`,
  );
}

/** A known part of an unknown whole is invalid; an unknown part of a known whole is valid. */
function atMost(
  part: number | null,
  whole: number | null,
  partName: string,
  wholeName: string,
): Problem | null {
  if (part === null) return null;
  if (whole === null)
    return problem(`${partName} is ${part} although ${wholeName} is null`, "null");
  if (!exceeds(part, whole)) return null;
  return problem(`${partName} is ${part}, more than ${wholeName}`, `at most ${whole}`);
}

function firstRepeated(ids: readonly string[]): string | undefined {
  const seen = new Set<string>();
  return ids.find((id) => seen.size === seen.add(id).size);
}

const regionId = ({
  process_id,
  device,
  domain,
  path,
  kind,
  path_domains = [],
}: NCUProfileRegion): string =>
  JSON.stringify([
    process_id,
    device,
    domain,
    path,
    kind,
    ...Object.values(storedDomains(domain, path_domains)),
  ]);

const kernelId = ({ kernel_name, kind, device }: KernelRecord): string =>
  JSON.stringify([kernel_name, kind, device]);

function splitScope(scope: string): readonly [kind: string, id: string] {
  const colon = scope.indexOf(":");
  return colon < 0 ? [scope, ""] : [scope.slice(0, colon), scope.slice(colon + 1)];
}

const quote = (text: string | null): string => JSON.stringify(text);

/** One way in which a document breaks the contract. */
export interface ReportIssue {
  /** JSON pointer (RFC 6901) to the place; empty for the document itself. */
  readonly pointer: string;
  readonly message: string;
  /** The expected value, to be read after "expected". */
  readonly expected: string;
  /** Starting at 1; absent if the text of the document is unknown. */
  readonly line?: number;
  readonly column?: number;
}

/** A pointer to something below a pointer. */
export const pointerTo = (pointer: string, ...tokens: readonly (string | number)[]): string =>
  pointer + pointerToTokens(tokens);
