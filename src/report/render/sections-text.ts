/** The sections of a region as text. */
import {
  amount,
  byName,
  fits,
  listOf,
  maybe,
  objectOf,
  orNull,
  type Shape,
  text,
} from "../../foundation/system/shape.ts";
import { plural } from "../../foundation/text/plural.ts";
import { printable } from "../../foundation/text/printable.ts";
import { formatNumber } from "../../pages/numbers.ts";
import type { MetricValue, NCUProfileRegion } from "../model/document.ts";

/** The members of a section in `NCUProfileRegion.sections` that are shown here. */
interface Section {
  readonly metrics: Readonly<Record<string, MetricValue>>;
  readonly messages: readonly Message[];
}

/** A message of one of ncu's rules. */
interface Message {
  readonly type: string;
  readonly text: string;
  /** The estimated speedup in percent. */
  readonly speedup: number | null;
  readonly speedup_type?: string;
  /** The number of kernels with this message. */
  readonly results: number;
}

const METRIC: Shape<MetricValue> = { value: orNull(amount), unit: text };
const MESSAGE: Shape<Message> = {
  type: text,
  text,
  speedup: orNull(amount),
  speedup_type: maybe(text),
  results: amount,
};
const SECTION: Shape<Section> = {
  metrics: byName(objectOf(METRIC)),
  messages: listOf(objectOf(MESSAGE)),
};

/** Width of messages in columns; longer words get a line of their own. */
const WIDTH = 100;

/**
 * `sections.txt`: the sections of a region as text, metrics first; null without sections.
 *
 * @param label the region's label within its report, safe to print
 */
export function renderSectionsText(region: NCUProfileRegion, label: string): string | null {
  const sections = Object.entries(region.sections).flatMap(([name, section]) =>
    isSection(section) ? [[name, section] as const] : [],
  );
  if (sections.length === 0) return null;
  const kernels = region.kernel_count === 0 ? "" : ` (${plural(region.kernel_count, "kernel")})`;
  const blocks = sections.map(([name, section]) => sectionLines(name, section).join("\n"));
  return `${[`${label}${kernels}`, ...blocks].join("\n\n")}\n`;
}

/** The contract leaves the shape of sections open; those of another shape appear only in the JSON report. */
const isSection = (section: unknown): section is Section => fits(section, SECTION);

function sectionLines(name: string, { metrics, messages }: Section): readonly string[] {
  const rows = Object.entries(metrics).map(([metric, { value, unit }]) => ({
    metric: printable(metric),
    unit: printable(unit),
    value: value === null ? "n/a" : formatNumber(value),
  }));
  const widest = (key: "metric" | "unit" | "value") =>
    rows.reduce((widest, row) => Math.max(widest, row[key].length), 0);
  const [names, units, values] = [widest("metric"), widest("unit"), widest("value")];
  return [
    `  ${printable(name)}`,
    ...rows.map(
      ({ metric, unit, value }) =>
        `    ${metric.padEnd(names)}  ${unit.padEnd(units)}  ${value.padStart(values)}`,
    ),
    ...messages.flatMap(({ type, text, speedup, speedup_type, results }) => {
      // The term of ncu: a local speedup is not a share of the kernel's time.
      const what = speedup_type === "local" ? "local speedup" : "speedup";
      const gain = speedup === null ? "" : ` (est. ${what} ${formatNumber(speedup)} %)`;
      const count = results > 1 ? ` [${plural(results, "kernel")}]` : "";
      return wrap(`${type}  ${printable(text)}${gain}${count}`);
    }),
  ];
}

function wrap(text: string): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= WIDTH)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(lines.length === 0 ? `    ${word}` : `         ${word}`);
  }
  return lines;
}
