/** The messages of Nsight Compute's rules for a region, ranked, and a summary of its counters, in words for reasons. */

import { formatPercentage } from "../../pages/numbers.ts";
import type { NCUProfileRegion } from "../model/document.ts";
import {
  computeShare,
  DRAM_NAMES,
  isNearPeak,
  LIMIT_OF_COMPUTE,
  memoryShare,
  speedOfLight,
} from "./gpu-utilization.ts";

export interface RankedNcuRule {
  /** ncu's name of the rule: `CPIStall`. */
  readonly rule: string;
  /** The name in words: `CPI stall`. */
  readonly title: string;
  readonly section: string;
  /** ncu's type of the message: `OPT`, `WRN` or `INF`. */
  readonly type: string;
  /** The message without ncu's markup. */
  readonly text: string;
  /** The speedup that ncu estimates, in percent; null without an estimate. */
  readonly speedup: number | null;
  /** Whether the estimate refers to the kernel's time, not only to one part of the hardware. */
  readonly isGlobal: boolean;
  /** The number of kernels with this message. */
  readonly kernels: number;
}

/**
 * Ranks messages: first estimates of kernel time, then estimates for a part of the hardware, then advice without an
 * estimate. Plain facts (`INF`) are last.
 */
export function rankedNcuRules({
  sections,
}: Pick<NCUProfileRegion, "sections">): readonly RankedNcuRule[] {
  const rules = Object.entries(sections).flatMap(([section, content]) =>
    messagesOf(content).map((message): RankedNcuRule => {
      const { rule, type, text, speedup, speedup_type, results } = message;
      return {
        rule,
        title: wordsOf(rule),
        section,
        type,
        text: readable(text),
        speedup,
        isGlobal: speedup !== null && speedup_type !== "local",
        kernels: results,
      };
    }),
  );
  return rules.sort((a, b) => rank(a) - rank(b) || (b.speedup ?? 0) - (a.speedup ?? 0));
}

const rank = ({ speedup, isGlobal, type }: RankedNcuRule): number => {
  if (speedup !== null) return isGlobal ? 0 : 1;
  return type === "INF" ? 3 : 2;
};

interface Message {
  readonly rule: string;
  readonly type: string;
  readonly text: string;
  readonly speedup: number | null;
  readonly speedup_type?: string;
  readonly results: number;
}

/** The layout of a section depends on the tool that wrote it. */
function messagesOf(section: unknown): readonly Message[] {
  const messages = isRecord(section) ? section["messages"] : undefined;
  return Array.isArray(messages) ? messages.flatMap((each: unknown) => messageOf(each)) : [];
}

function messageOf(value: unknown): readonly Message[] {
  if (!isRecord(value)) return [];
  const { rule, type, text, speedup, speedup_type, results } = value;
  if (typeof rule !== "string" || typeof text !== "string") return [];
  return [
    {
      rule,
      text,
      type: typeof type === "string" ? type : "",
      speedup: typeof speedup === "number" ? speedup : null,
      ...(typeof speedup_type === "string" && { speedup_type }),
      results: typeof results === "number" ? results : 1,
    },
  ];
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** `TheoreticalOccupancy` becomes `theoretical occupancy`; abbreviations keep their capitals. */
const wordsOf = (rule: string): string =>
  rule
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replaceAll(/([A-Z]+)([A-Z][a-z])/g, "$1 $2")
    .split(" ")
    .map((word) => (/^[A-Z0-9]+$/.test(word) ? word : word.toLowerCase()))
    .join(" ");

/**
 * Removes ncu's links to its guides from sentences: `@url:words:address@`, `@section:Name:words@`, in tables `words
 * (https://...)`.
 */
const readable = (text: string): string =>
  text
    .replaceAll(/@url:([^:@]*):[^@]*@/g, "$1")
    .replaceAll(/@[a-z_]+:[^:@]*:([^@]*)@/gi, "$1")
    .replaceAll(/ ?\(https?:\/\/[^)]*\)/g, "")
    .replaceAll(/\s+/g, " ")
    .trim();

const MOST_ADVICE = 240;

/**
 * The first whole sentences, at least one, as many as can be read at a glance. The full text is shown with the region.
 */
function firstSentences(text: string): string {
  const sentences = text.split(/(?<=[.!]) (?=[A-Z])/);
  let shown = "";
  for (const sentence of sentences) {
    if (shown !== "" && shown.length + sentence.length > MOST_ADVICE) break;
    shown = shown === "" ? sentence : `${shown} ${sentence}`;
  }
  return shown;
}

/** The steps of NVIDIA's Compute Triage Guide (Nsight Compute), in its order, with the titles of the sections that each looks at. */
export const NCU_STAGES = {
  launch: { sections: ["Launch Statistics"], words: "Launch Statistics" },
  occupancy: { sections: ["Occupancy"], words: "Occupancy" },
  memory: {
    sections: [
      "Memory Workload Analysis",
      "Memory Workload Analysis Chart",
      "Memory Workload Analysis Tables",
      "Source Counters",
    ],
    words: "Memory Workload Analysis or Source Counters",
  },
  compute: {
    sections: ["Compute Workload Analysis", "Instruction Statistics"],
    words: "Compute Workload Analysis or Instruction Statistics",
  },
  other: { sections: [], words: "any other section" },
} as const satisfies Readonly<
  Record<string, { readonly sections: readonly string[]; readonly words: string }>
>;

export type NcuStage = keyof typeof NCU_STAGES;

const STAGE_OF: ReadonlyMap<string, string> = new Map(
  Object.entries(NCU_STAGES).flatMap(([stage, { sections }]) =>
    sections.map((section) => [section, stage] as const),
  ),
);

interface CounterFinding {
  readonly title: string;
  readonly evidence: string;
  readonly advice: string;
  /** Title of the section of Nsight Compute; absent where the counters belong to none. */
  readonly section?: string;
}

/** A finding if this resource limits the region's kernels. */
export function speedOfLightFinding(
  region: NCUProfileRegion,
  wanted: string,
  title: string,
  advice: string,
): CounterFinding | null {
  if (speedOfLight(region)?.limit !== wanted) return null;
  const [sm, memory] = [computeShare(region.metrics), memoryShare(region.metrics)];
  const section = sectionWith(region, LIMIT_OF_COMPUTE);
  return {
    title,
    evidence: `memory at ${formatPercentage(memory)} % of its peak, multiprocessors at ${formatPercentage(sm)} %`,
    advice,
    ...(section !== null && { section }),
  };
}

/** The section that has the traffic of the GPU's memory in percent of its peak; null where no section was measured. */
export const dramSection = (region: Pick<NCUProfileRegion, "sections">): string | null =>
  sectionWith(region, DRAM_NAMES);

/** The first section that has one of these metrics, or of their labels. */
function sectionWith(
  { sections }: Pick<NCUProfileRegion, "sections">,
  names: readonly string[],
): string | null {
  const found = Object.entries(sections).find(([, content]) => {
    const metrics = isRecord(content) ? content["metrics"] : undefined;
    return isRecord(metrics) && names.some((name) => Object.hasOwn(metrics, name));
  });
  return found?.[0] ?? null;
}

/** From this estimate on, in percent of kernel time, a rule is a reason. */
const LEAST_ESTIMATE = 10;

/** What Nsight Compute's rules say of one step, together with the resource that limits the region. */
export function ruleFindingOf(region: NCUProfileRegion, stage: NcuStage): CounterFinding | null {
  if (isNearPeak(region)) return null;
  const estimates = rankedNcuRules(region).filter(({ isGlobal }) => isGlobal);
  const most = estimates[0]?.speedup ?? 0;
  const best = estimates.find(({ section }) => (STAGE_OF.get(section) ?? "other") === stage);
  const estimate = best?.speedup ?? 0;
  if (best === undefined || estimate < LEAST_ESTIMATE || estimate * 2 < most) return null;
  const sol = speedOfLight(region);
  const limit =
    sol === null
      ? ""
      : `; memory at ${formatPercentage(sol.memory)} % of its peak, multiprocessors at ${formatPercentage(sol.compute)} %`;
  return {
    title: `limited by its ${best.title}`,
    evidence: `Nsight Compute estimates ${formatPercentage(estimate)} % less kernel time${limit}`,
    advice: firstSentences(best.text),
    section: best.section,
  };
}
