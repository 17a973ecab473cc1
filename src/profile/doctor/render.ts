import picocolors from "picocolors";
import type { Check, Findings, Verdict } from "./findings.ts";

const MARKS = { ok: "ok", warning: "warn", missing: "-", yes: "yes", partly: "part", no: "no" };
type Mark = keyof typeof MARKS;
const MARK_WIDTH = 4;

/** A line for each check and each collector, and what to do where something is wrong. */
export function renderFindings({ version, checks, collectors }: Findings, color: boolean): string {
  const paint = painter(color);
  const width = Math.max(...[...checks, ...collectors].map(({ name }) => name.length));
  const line = (mark: Mark, { name, detail }: Pick<Check | Verdict, "name" | "detail">) =>
    `  ${paint(mark, MARKS[mark].padEnd(MARK_WIDTH))}  ${name.padEnd(width)}  ${detail}`;
  const hint = ({ hint: text }: Check) =>
    text === undefined ? [] : [`${" ".repeat(MARK_WIDTH + width + 6)}-> ${text}`];
  return `${[
    `deep-profile ${version}: what is here`,
    ...checks.flatMap((check) => [line(check.state, check), ...hint(check)]),
    "what will work here",
    ...collectors.map((verdict) => line(verdict.works, verdict)),
  ].join("\n")}\n`;
}

function painter(color: boolean): (mark: Mark, text: string) => string {
  const { green, yellow, dim } = picocolors.createColors(color);
  return (mark, text) => {
    if (mark === "ok" || mark === "yes") return green(text);
    return mark === "warning" || mark === "partly" ? yellow(text) : dim(text);
  };
}
