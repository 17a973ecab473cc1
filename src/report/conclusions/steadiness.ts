/** How much times vary from call to call, in plain words. */
import { plural } from "../../text/plural.ts";
import type {
  InvocationStatistics,
  NCUProfileRegion,
  NCUProfileRegionReport,
} from "../document.ts";
import { markdownList } from "../markdown/markdown.ts";
import { formatDuration } from "../numbers.ts";

interface Repeated {
  readonly region: NCUProfileRegion;
  readonly stats: InvocationStatistics;
}

/** A region is called unsteady if its slow calls take at least half as long again as its typical ones. */
const UNSTEADY = 1.5;

/**
 * As Markdown: names the `top` unsteady regions that lose the most time, and counts the others.
 *
 * @param inWords the region's name as Markdown
 */
export function steadiness(
  report: NCUProfileRegionReport,
  inWords: (region: NCUProfileRegion) => string,
  top: number,
): string {
  const regions = report.regions.filter(({ kind }) => kind !== "outside");
  const repeated = regions.flatMap((region): Repeated[] =>
    region.invocations > 1 && region.invocation_wall_ms !== null
      ? [{ region, stats: region.invocation_wall_ms }]
      : [],
  );
  if (repeated.length === 0) return nothingRepeated(regions);
  const unsteady = repeated
    .filter(({ stats }) => stats.p95 > 0 && stats.p95 >= stats.median * UNSTEADY)
    .sort((a, b) => lostMs(b) - lostMs(a));
  if (unsteady.length === 0)
    return `${plural(repeated.length, "region")} ran more than once, each with about the same time per call.`;
  const lines = unsteady
    .slice(0, top)
    .map(
      ({ region, stats }) =>
        `${inWords(region)}: usually ${formatDuration(stats.median)}, at worst ${formatDuration(stats.max)} (${plural(region.invocations, "call")})`,
    );
  const left = unsteady.length - lines.length;
  return [
    `The time of these regions varies a lot from call to call${lines.length > 1 ? "; those that lose the most time come first" : ""}:`,
    markdownList(lines),
    ...(left > 0 ? [`${plural(left, "more region does", "more regions do")}, too.`] : []),
  ].join("\n\n");
}

/** The time beyond what it would be if every call took the median: little even for thousands of short calls. */
const lostMs = ({ region, stats }: Repeated): number =>
  (region.wall_ms ?? 0) - region.invocations * stats.median;

function nothingRepeated(regions: readonly NCUProfileRegion[]): string {
  const unknown = "so nothing can be said about how much";
  if (regions.length === 0) return `No named region was seen, ${unknown} their times vary.`;
  return regions.every(({ invocations }) => invocations === 1)
    ? `Each region ran once, ${unknown} its time varies.`
    : `How long each call of a region took was not measured, ${unknown} it varies.`;
}
