import { inspect } from "node:util";
import pc from "picocolors";
import type { CorpusCase } from "./corpus.ts";
import type { CaseResult, FileResult } from "./replay.ts";
import type { Summary } from "./summary.ts";

/** How many failures of a file are listed under its row; `--json` holds all of them. */
const LISTED = 5;

export function tableHeader(): string {
  return pc.bold(row("file", "cases", "passed", "failed", "accepted", "ms"));
}

/** One file's row, with its first failures and its problems below. */
export function fileRow(file: FileResult): string {
  if (file.suite === null)
    return pc.yellow(`${file.path.padEnd(WIDTH)}${file.cases} cases, no suite yet`);
  const failed = file.failures.length;
  const text = row(
    file.path,
    String(file.cases),
    String(file.passed.length),
    String(failed),
    String(file.accepted.length),
    file.milliseconds.toFixed(0),
  );
  const good = failed === 0 && file.problems.length === 0;
  const notes = [
    ...file.problems.map((problem) => `    ${problem}`),
    ...file.failures.slice(0, LISTED).map(failureLine),
    ...(failed > LISTED ? [`    … and ${failed - LISTED} more (--json FILE lists them)`] : []),
  ];
  return [good ? text : pc.red(text), ...notes].join("\n");
}

export function summaryLines(summary: Summary): string {
  const { cases, passed, failed, accepted, problems } = summary;
  const total = `${cases} cases, ${passed} passed, ${failed} failed, ${accepted} accepted`;
  const lines = [pc.bold(total), ...problems.map((problem) => pc.red(problem))];
  return lines.join("\n");
}

/** One case in full: its input, then what Hydra did beside what we did. */
export function sideBySide(file: FileResult, width: number): string {
  if (file.suite === null) return `${file.path}: no suite yet, the case cannot be run`;
  const passed = file.passed.map((testCase) => `${heading(file.path, testCase, width)}\npassed`);
  const others = [...file.failures, ...file.accepted].map((result) =>
    caseInFull(file.path, result, width),
  );
  return [...passed, ...others].join("\n\n");
}

function caseInFull(path: string, result: CaseResult, width: number): string {
  const { outcome, case: testCase, reason } = result;
  const column = Math.max(20, Math.floor((width - 3) / 2));
  const left = wrap(show(outcome.expected), column);
  const right = wrap(show(outcome.actual), column);
  const rows = Array.from({ length: Math.max(left.length, right.length) }, (_, index) => {
    const [one = "", two = ""] = [left[index], right[index]];
    const line = `${one.padEnd(column)} ${one === two ? " " : "|"} ${two}`;
    return one === two ? line : pc.yellow(line);
  });
  return [
    heading(path, testCase, width),
    pc.red(outcome.why),
    ...(reason === undefined ? [] : [`accepted: ${reason}`]),
    pc.bold(`${"Hydra".padEnd(column)}   hydraconf`),
    ...rows,
  ].join("\n");
}

function heading(path: string, testCase: CorpusCase, width: number): string {
  const content = inspect(testCase, { depth: null, breakLength: width, maxStringLength: null });
  return `${pc.bold(`${path} ${testCase.id}`)}\n${content}`;
}

const show = (value: unknown): string =>
  typeof value === "string" ? value : (JSON.stringify(value, null, 1) ?? "nothing");

function wrap(text: string, column: number): readonly string[] {
  return text.split("\n").flatMap((line) => {
    const pieces: string[] = [];
    for (let at = 0; at === 0 || at < line.length; at += column)
      pieces.push(line.slice(at, at + column));
    return pieces;
  });
}

const failureLine = ({ case: { id }, outcome }: CaseResult): string =>
  `    ${id}: ${oneLine(outcome.why)}`;

function oneLine(text: string): string {
  const line = text.replaceAll("\n", "\\n");
  return line.length > 200 ? `${line.slice(0, 200)}…` : line;
}

const WIDTH = 96;

function row(file: string, ...figures: readonly string[]): string {
  return file.padEnd(WIDTH) + figures.map((figure) => figure.padStart(9)).join("");
}
