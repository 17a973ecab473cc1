/** `deep-profile compare`: two runs or reports, and the gates. */

import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { usage } from "../../app/command-line/command-line.ts";
import type { ParsedCommand } from "../../app/command-line/parse.ts";
import { showBoth, showValue } from "../../engine/schema/show-value.ts";
import { type Difference, diffConfigs } from "../../engine/values/diff.ts";
import { ConfigError } from "../../engine/values/errors.ts";
import type { ConfigNode, ListNode } from "../../engine/values/node.ts";
import { keyText } from "../../engine/values/python-text.ts";
import { readYaml } from "../../engine/values/yaml/reader.ts";
import { bufferedPieces, writeFileAtomic } from "../../foundation/system/atomic-write.ts";
import { fileProblem } from "../../foundation/system/files.ts";
import { type FindCalibration, judged } from "../../report/compare/calibration.ts";
import { compareReports, type PairedRatios } from "../../report/compare/compare-reports.ts";
import {
  type Comparison,
  comparisonJsonPieces,
  gateSummary,
} from "../../report/compare/comparison.ts";
import { renderComparisonHtml } from "../../report/compare/comparison-html.ts";
import { comparisonMarkdownPieces } from "../../report/compare/comparison-markdown.ts";
import {
  collectorNotes,
  processNotes,
  SAME_REPORT,
} from "../../report/compare/comparison-notes.ts";
import { renderComparison } from "../../report/compare/comparison-terminal.ts";
import type { ConfigDifference } from "../../report/compare/comparison-types.ts";
import {
  type Conditions,
  NO_CONDITIONS,
  parseConditions,
  refuseFailed,
} from "../../report/compare/gates.ts";
import type { NCUProfileRegionReport } from "../../report/model/document.ts";
import { createReportValidator } from "../../report/validation/validate.ts";
import { readRunOrReport } from "../run/importers.ts";
import { calibrationFinder } from "./calibration-files.ts";
import { collectorsOf, type LoadedReport, loadReport, scopeOf } from "./load-report.ts";
import { type SubcommandIo, terminalOf } from "./subcommand.ts";

/** The exit code for a breached gate, which is neither an error nor a success. */
const EXIT_BREACHED = 3;

/** Executes `deep-profile compare`. */
export async function compareRuns(command: ParsedCommand, io: SubcommandIo): Promise<number> {
  const [nameA = "", nameB = ""] = command.positionals;
  if (command.has("json") && command.has("markdown"))
    throw usage("--json and --markdown cannot be combined");
  const regions = mostOf("regions", command.value("regions"), 60);
  const kernels = mostOf("kernels", command.value("kernels"), 10);
  // Parsed before anything is read: a typing error must not look like a passed gate.
  const conditions = parseConditions(command.values("fail-on"));
  const find = calibrationFinder(command.value("calibration"), io);

  const names: Names = { a: nameA, b: nameB };
  const chosen = chooseCollector(names, io.cwd, command.value("collector"));
  const [a, b] = await loadBoth(names, io.cwd, chosen.collector, command.value("scope"));
  const notes = [...chosen.notes, ...processNotes(a.processes, b.processes)];
  const comparison = compare(a, b, {
    ...{ notes, conditions, find },
    mayFail: command.has("allow-failed"),
  });
  const page = command.value("html");
  if (page !== undefined)
    await writePage(
      page,
      io.cwd,
      renderComparisonHtml(linked(comparison, { a, b }, dirname(resolve(io.cwd, page)))),
    );
  const pieces = command.has("json")
    ? comparisonJsonPieces(comparison)
    : command.has("markdown")
      ? comparisonMarkdownPieces(linked(comparison, { a, b }, io.cwd))
      : null;
  if (pieces !== null) for (const block of bufferedPieces(pieces)) io.console.stdout(block);
  else {
    const shown = renderComparison(comparison, { ...terminalOf(io), regions, kernels });
    io.console.stdout(page === undefined ? shown : `${shown}\n${page}\n`);
  }
  return gateExitCode(comparison, "compare", command.has("strict"), io);
}

/** Reports breached gates. */
export function gateExitCode(
  { gates }: Comparison,
  name: string,
  isStrict: boolean,
  { console }: SubcommandIo,
): number {
  const failing = isStrict ? ["breached", "unclear", "unchecked"] : ["breached"];
  const isFailed = gates.some(({ outcome }) => failing.includes(outcome));
  // A gate that single runs cannot breach must not look like one that holds.
  const isOpen = gates.some((gate) => gate.outcome === "unclear" && gate.too_few_runs === true);
  if (!isFailed && !isOpen) return 0;
  console.stderr(`deep-profile ${name}: ${gateSummary(gates)}\n`);
  return isFailed ? EXIT_BREACHED : 0;
}

/**
 * Compares two runs or reports, for callers that show the result themselves.
 *
 * @throws ConfigError `profile.input`
 */
export async function compareNamed(
  names: Names,
  cwd: string,
  {
    collector,
    scope,
    find,
  }: {
    readonly collector: string | undefined;
    readonly scope: string | undefined;
    readonly find: FindCalibration;
  },
): Promise<Comparison> {
  const chosen = chooseCollector(names, cwd, collector);
  const [a, b] = await loadBoth(names, cwd, chosen.collector, scope);
  const notes = [...chosen.notes, ...processNotes(a.processes, b.processes)];
  return compare(a, b, { notes, conditions: NO_CONDITIONS, find, mayFail: true });
}

async function writePage(page: string, cwd: string, text: string): Promise<void> {
  try {
    await writeFileAtomic(resolve(cwd, page), text);
  } catch (cause) {
    throw new ConfigError({
      code: "app.run_directory",
      message: `Cannot write the page ${page}: ${fileProblem(cause)}`,
      hint: "choose another file with --html FILE",
      cause,
    });
  }
}

interface Names {
  readonly a: string;
  readonly b: string;
}

/** A report and its origin. */
export interface ReportSide extends Omit<LoadedReport, "bundle"> {
  readonly report: NCUProfileRegionReport;
}

interface Side extends ReportSide {
  /** The number of processes in an aggregate; 0 if unknown, and for other scopes. */
  readonly processes: number;
}

async function loadBoth(
  names: Names,
  cwd: string,
  collector: string,
  scope: string | undefined,
): Promise<readonly [Side, Side]> {
  const validator = createReportValidator();
  // Drops the other scopes of each report: two large files would not fit into memory together.
  const side = async (name: string): Promise<Side> => {
    const { bundle, ...loaded } = await readRunOrReport(
      name,
      cwd,
      { expected: "a region report", remedy: "; then compare DIR" },
      () => loadReport(name, cwd, validator, collector),
    );
    const report = scopeOf(name, bundle, scope);
    const processes = bundle.reports.filter(({ scope }) => /^(?:process|rank):/.test(scope)).length;
    return { ...loaded, report, processes: report.scope === "aggregate" ? processes : 0 };
  };
  return [await side(names.a), await side(names.b)];
}

interface Chosen {
  /** Empty if two report files are compared, which have one collector each. */
  readonly collector: string;
  /** Notes about the choice of the collector. */
  readonly notes: readonly string[];
}

/** The first collector, in the order in which they run, that both runs have. */
function chooseCollector({ a, b }: Names, cwd: string, wanted: string | undefined): Chosen {
  const ofA = collectorsOf(a, cwd);
  const ofB = collectorsOf(b, cwd);
  const both = (ofA ?? ofB ?? []).filter((name) => (ofB ?? ofA ?? []).includes(name));
  const [first] = wanted === undefined ? both : both.filter((name) => name === wanted);
  if (first !== undefined) {
    const isOpen = wanted === undefined && ofA !== null && ofB !== null;
    return { collector: first, notes: isOpen ? collectorNotes(first, ofA, ofB) : [] };
  }
  if (ofA === null && ofB === null) return { collector: "", notes: [] };
  const list = (found: readonly string[] | null) => found?.join(", ") ?? "a report file";
  throw new ConfigError({
    code: "profile.input",
    message:
      wanted === undefined
        ? `the runs have no collector in common: ${a} has ${list(ofA)}, ${b} has ${list(ofB)}`
        : `--collector ${wanted}: ${a} has ${list(ofA)}, ${b} has ${list(ofB)}`,
    available: both,
  });
}

export interface CompareOptions {
  /** Notes that only the caller can give. */
  readonly notes: readonly string[];
  readonly conditions: Conditions;
  readonly find: FindCalibration;
  readonly mayFail: boolean;
  readonly pairs?: PairedRatios;
}

/** @throws ConfigError as `checkGates` */
export function compare(
  a: ReportSide,
  b: ReportSide,
  { conditions, find, mayFail, pairs, ...shared }: CompareOptions,
): Comparison {
  const compared = compareReports(a.report, b.report, pairs);
  const same = a.identity === b.identity && a.report.scope === b.report.scope ? [SAME_REPORT] : [];
  const notes = [...same, ...shared.notes, ...compared.notes];
  if ((conditions.gates.length > 0 || conditions.isAuto) && !mayFail) refuseFailed(compared);
  const both = { a: a.report, b: b.report };
  const { reports, gates } = judged({ ...compared, notes }, both, conditions, find);
  return {
    names: { a: a.name, b: b.name },
    reports,
    config:
      a.configFile === null || b.configFile === null
        ? null
        : configDifference(a.configFile, b.configFile),
    gates,
  };
}

/**
 * Adds links to the pages of both reports.
 * @param directory the directory of the comparison
 */
export function linked(
  comparison: Comparison,
  sides: Readonly<Record<"a" | "b", Pick<ReportSide, "pageFile">>>,
  directory: string,
): Comparison {
  const linkOf = ({ pageFile }: Pick<ReportSide, "pageFile">) =>
    pageFile === null ? null : relative(directory, pageFile).split(sep).join("/");
  return { ...comparison, links: { a: linkOf(sides.a), b: linkOf(sides.b) } };
}

/** The page beside a report file; null if there is none. */
export function pageOf(reportFile: string): string | null {
  const page = join(dirname(reportFile), "report.html");
  return existsSync(page) ? page : null;
}

function mostOf(option: string, text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  if (!/^\d+$/.test(text)) throw usage(`--${option}: '${text}' is not a number`);
  return Number(text);
}

/**
 * The values in which the saved configurations of two runs differ. Lists of equal length, such as the command lines of
 * two checkouts, are compared item by item, since often only one argument differs.
 *
 * @throws ConfigError for a file that is no YAML
 */
export function configDifference(fileA: string, fileB: string): readonly ConfigDifference[] {
  const read = (file: string) =>
    readYaml(readFileSync(file, "utf8"), { name: file, env: process.env });
  return diffConfigs(read(fileA), read(fileB)).flatMap((difference) => rows(difference, ""));
}

function rows(difference: Difference, prefix: string): readonly ConfigDifference[] {
  const path = difference.path.map(keyText).join(".");
  const key = prefix !== "" && path !== "" ? `${prefix}.${path}` : `${prefix}${path}`;
  switch (difference.kind) {
    case "added":
      return [{ key, a: null, b: showValue(difference.after) }];
    case "removed":
      return [{ key, a: showValue(difference.before), b: null }];
    case "changed": {
      const { before, after } = difference;
      return before.kind === "list" && after.kind === "list"
        ? listRows(before, after, key)
        : [changed(before, after, key)];
    }
  }
}

function listRows(before: ListNode, after: ListNode, key: string): readonly ConfigDifference[] {
  if (before.items.length !== after.items.length) return [changed(before, after, key)];
  return before.items.flatMap((item, index) => {
    const other = after.items[index];
    return other === undefined
      ? []
      : diffConfigs(item, other).flatMap((difference) => rows(difference, `${key}[${index}]`));
  });
}

function changed(before: ConfigNode, after: ConfigNode, key: string): ConfigDifference {
  const [a, b] = showBoth(before, after);
  return { key, a, b };
}
