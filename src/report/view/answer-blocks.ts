/** The answer as blocks: the page, the terminal and Markdown show the same facts. */
import { plural } from "../../foundation/text/plural.ts";
import {
  type Bar,
  type Block,
  code,
  familyLink,
  list,
  listIfAny,
  numeral,
  paragraph,
  regionLink,
  type Span,
  strong,
  withHeading,
} from "../../pages/blocks.ts";
import { formatDuration, formatShare } from "../../pages/numbers.ts";
import { type Answer, PART_WORDS, type RankedRegion, type RunBar, timeWords } from "./answer.ts";
import { titleWithSection } from "./reasons.ts";

export type NameOf = (ranked: Pick<RankedRegion, "region" | "label">) => Span;

export interface AnswerOptions {
  /** Writes the name of a region. Default: a link within the page. */
  readonly nameOf?: NameOf;
  /** The level of its headings. */
  readonly level?: 2 | 3;
}

export function answerBlocks(
  answer: Answer,
  { nameOf = linkInPage, level = 3 }: AnswerOptions = {},
): readonly Block[] {
  const { failure, headline, runs, byWall, byGpu, first, more } = answer;
  const part = (title: string, blocks: readonly Block[]) => withHeading(title, blocks, level);
  const ranked = (regions: readonly RankedRegion[]) =>
    listIfAny(regions.map((region) => [nameOf(region), ": ", ...rankedWords(region, nameOf)]));
  return [
    ...(failure === null
      ? []
      : [
          paragraph([
            strong(`The run failed: ${failure}`),
            "; what follows covers what was recorded until then.",
          ]),
        ]),
    paragraph([strong(headline)]),
    ...runs.map((bar, at) => runBar(bar, at > 0)),
    ...part("Most wall time of their own", ranked(byWall)),
    ...part(
      byGpu[0]?.of === "kernel time"
        ? "Most GPU time of their own kernels, as a share of kernel time"
        : "Most GPU time of their own kernels",
      ranked(byGpu),
    ),
    ...part(
      "What to do first",
      first.length === 0 ? [] : [list(first.map((each) => [nameOf(each), `: ${each.text}`]))],
    ),
    ...part(
      "To know more, measure",
      more.length === 0
        ? []
        : [list(more.map(({ why, command }) => [`${why}: `, commandSpan(command)]))],
    ),
  ];
}

/** A command may contain any characters, and some readers of Markdown interpret them even in code. */
const commandSpan = (command: string): Span => (/[<>&`|]/.test(command) ? command : code(command));

function rankedWords(ranked: RankedRegion, nameOf: NameOf): readonly Span[] {
  const { region, longest, reason } = ranked;
  const time = numeral(timeWords(ranked));
  const members = region.members === undefined ? "" : ` in ${plural(region.members, "region")}`;
  const most: readonly Span[] =
    longest === null
      ? []
      : longest.standsOut
        ? [", of which ", nameOf(longest), ` alone ${formatDuration(longest.ms)}`]
        : [", the longest ", nameOf(longest), ` ${formatDuration(longest.ms)}`];
  return reason === null
    ? [time, members, ...most, "; no reason found"]
    : [time, members, ...most, ": ", strong(titleWithSection(reason)), `: ${reason.evidence}`];
}

/** A page has the members of a family among its regions, and families in a table. */
const linkInPage: NameOf = ({ region, label }) =>
  region.members === undefined ? regionLink(label) : familyLink(label);

/** The bar of the run, or of the process or device of a scope. */
function runBar({ name, ms, wallMs, processes, parts }: RunBar, isDetail: boolean): Bar {
  const what = name === "run" ? "The run" : name.replace(":", " ");
  const together =
    processes > 1
      ? `${formatDuration(ms)} in ${plural(processes, "process", "processes")}, ${formatDuration(wallMs)} from start to end`
      : formatDuration(ms);
  return {
    type: "bar",
    title: `${what}: ${together}`,
    ...(isDetail && { isDetail }),
    parts: parts.map(({ kind, ms: part }) => ({
      kind,
      text: `${PART_WORDS[kind]} ${formatShare(part, ms)} %${isDetail ? "" : ` (${formatDuration(part)})`}`,
      share: ms === 0 ? 0 : part / ms,
    })),
  };
}
