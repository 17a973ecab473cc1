/** What hardware counters say about kernels, as table columns: only those for which some kernel has a value. */
import { LIMIT_LEGEND } from "../conclusions/speed-of-light.ts";
import type { KernelHardware, KernelRecord, OccupancyLimit } from "../document.ts";
import { formatShare, NOT_MEASURED } from "../numbers.ts";

type Measured = Pick<KernelRecord, "hardware">;

export interface HardwareColumn {
  /** Heading in narrow tables. */
  readonly short: string;
  readonly heading: string;
  /** Absent for words. */
  readonly align?: "right";
  readonly cell: (kernel: Measured) => string;
}

/** What the numbers in these columns mean; null without columns. */
export function hardwareLegend(columns: readonly HardwareColumn[]): string | null {
  const sentences = LEGENDS.filter(([short]) => columns.some((each) => each.short === short));
  return sentences.length === 0 ? null : sentences.map(([, sentence]) => sentence).join(" ");
}

const LEGENDS: readonly (readonly [short: string, sentence: string])[] = [
  ["Limit", LIMIT_LEGEND],
  ["Tensor %", "Tensor % is the share of the tensor cores' peak, 0 where they were not used."],
  ["Occ %", "Occupancy is the share of a multiprocessor's warps that were active."],
  [
    "Occ limit",
    "Occupancy limit is the highest occupancy that the launch allows, and what limits it.",
  ],
];

export function hardwareColumns(kernels: readonly Measured[]): readonly HardwareColumn[] {
  return COLUMNS.filter(({ cell }) => kernels.some((kernel) => cell(kernel) !== NOT_MEASURED));
}

type TextOf = (hardware: KernelHardware) => string | null;

const words = (short: string, heading: string, text: TextOf): HardwareColumn => ({
  short,
  heading,
  cell: ({ hardware }) => (hardware && text(hardware)) ?? NOT_MEASURED,
});
const share = (
  name: string,
  short: string,
  of: (hardware: KernelHardware) => number | null,
): HardwareColumn => ({
  ...words(short, name, (hardware) => formatShare(of(hardware), 100)),
  align: "right",
});

export const OCCUPANCY_LIMIT = "Occupancy limit";

const COLUMNS: readonly HardwareColumn[] = [
  share("SM %", "SM %", ({ sm_pct }) => sm_pct),
  share("Memory %", "Mem %", ({ memory_pct }) => memory_pct),
  words("Limit", "Limited by", ({ limited_by }) => limited_by),
  share("Tensor %", "Tensor %", ({ tensor_pct }) => tensor_pct),
  share("Occupancy %", "Occ %", ({ occupancy_pct }) => occupancy_pct),
  words("Occ limit", OCCUPANCY_LIMIT, occupancyLimitText),
];

const WORDS: Readonly<Record<OccupancyLimit, string>> = {
  registers: "registers",
  shared_memory: "shared memory",
  warps: "warps",
  blocks: "blocks",
  barriers: "barriers",
};

/** `50.0 %: registers`, or the part that is known; null if neither is. */
export function occupancyLimitText({
  occupancy_limit_pct,
  occupancy_limited_by,
}: Pick<KernelHardware, "occupancy_limit_pct" | "occupancy_limited_by">): string | null {
  const why = occupancy_limited_by.map((limit) => WORDS[limit]).join(", ");
  if (occupancy_limit_pct === null) return why === "" ? null : why;
  const most = `${formatShare(occupancy_limit_pct, 100)} %`;
  return why === "" ? most : `${most}: ${why}`;
}
