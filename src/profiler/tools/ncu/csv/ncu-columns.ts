/** The columns of ncu's tables, found by their names. */
import { ConfigError } from "../../../../engine/values/errors.ts";
import { agreeing } from "../../../../foundation/text/plural.ts";

/** The columns of one of ncu's tables, found by name: versions and options add, remove and move columns. */
export interface TableLayout {
  /** `raw` has a column per metric, `details` a row. */
  readonly page: "raw" | "details";
  readonly headers: readonly string[];
  /** The cell counts of a complete row: all columns; in the details page also those before the rules. */
  readonly widths: readonly number[];
  readonly columns: IdentityColumns;
  /** Raw page: the index of the first metric's column; metrics come last. */
  readonly firstMetric: number;
  readonly kinds: readonly CellKind[];
}

/** Indices of columns; -1 for an absent one. */
export interface IdentityColumns {
  readonly id: number;
  readonly processId: number;
  readonly processName: number;
  readonly pushPop: number;
  readonly startEnd: number;
  readonly kernelName: number;
  readonly context: number;
  readonly stream: number;
  readonly blockSize: number;
  readonly device: number;
  readonly sectionName: number;
  readonly metricName: number;
  readonly metricUnit: number;
  readonly metricValue: number;
  readonly ruleName: number;
  readonly ruleType: number;
  readonly ruleDescription: number;
  readonly speedup: number;
  readonly speedupType: number;
}

/** How to distinguish the end of a cell from a quote inside it, which ncu does not double. */
export type CellKind = "plain" | "nvtx" | "kernel";

const IDENTITY = new Set([
  "ID",
  "Process ID",
  "Process Name",
  "Host Name",
  "Kernel Name",
  "Kernel Time",
  "Context",
  "Stream",
  "Block Size",
  "Grid Size",
  "Device",
  "CC",
]);
const PUSH_POP = /^thread Domain:/;
const START_END = /^Id:Domain:/;

/** The beginning of every table of results. */
export const HEADER_START = '"ID","Process ID",';
/** Summary pages have averages over several launches, which cannot be attributed. */
export const SUMMARY_HEADERS: readonly string[] = [
  '"Process ID","Process Name",',
  '"Domain","Range:PL_Type',
];

const NEEDED = ["ID", "Process ID", "Kernel Name"];
/** A table with one of these is a details page, which requires the last two. */
const OF_DETAILS = [
  "Section Name",
  "Body Item Label",
  "Metric Unit",
  "Metric Name",
  "Metric Value",
];
const OF_RULES = [
  "Rule Name",
  "Rule Type",
  "Rule Description",
  "Estimated Speedup Type",
  "Estimated Speedup",
];

/** The required columns that a header lacks. */
export function lackingColumns(headers: readonly string[]): readonly string[] {
  const isDetails = OF_DETAILS.some((name) => headers.includes(name));
  return [...NEEDED, ...(isDetails ? OF_DETAILS.slice(-2) : [])].filter(
    (name) => !headers.includes(name),
  );
}

const isIdentity = (name: string): boolean =>
  IDENTITY.has(name) || PUSH_POP.test(name) || START_END.test(name);

/** How many columns of a header have one of ncu's names, except metrics. */
export const knownColumns = (headers: readonly string[]): number =>
  headers.filter((name) => isIdentity(name) || OF_DETAILS.includes(name)).length;

/** The order of ncu's own tables: identifying columns first, metrics or rules last. */
export function asNcuOrders(headers: readonly string[]): readonly number[] {
  const ranks = headers.map(rankOf);
  return headers.map((_, place) => place).sort((a, b) => (ranks[a] ?? 0) - (ranks[b] ?? 0));
}

function rankOf(name: string): number {
  const front = ["ID", "Process ID", "Process Name", "Host Name"].indexOf(name);
  if (front >= 0) return front;
  if (PUSH_POP.test(name) || START_END.test(name)) return 4;
  if (name === "Kernel Name") return 5;
  if (isIdentity(name)) return 6;
  if (OF_DETAILS.includes(name)) return name === "Metric Value" ? 8 : 7;
  return OF_RULES.includes(name) ? 9 : 10;
}

/** Null if a header lacks required columns. */
export function layoutOf(headers: readonly string[]): TableLayout | null {
  const columnOf = (name: string) => headers.indexOf(name);
  const columns: IdentityColumns = {
    id: columnOf("ID"),
    processId: columnOf("Process ID"),
    processName: columnOf("Process Name"),
    pushPop: headers.findIndex((name) => PUSH_POP.test(name)),
    startEnd: headers.findIndex((name) => START_END.test(name)),
    kernelName: columnOf("Kernel Name"),
    context: columnOf("Context"),
    stream: columnOf("Stream"),
    blockSize: columnOf("Block Size"),
    device: columnOf("Device"),
    sectionName: columnOf("Section Name"),
    metricName: columnOf("Metric Name"),
    metricUnit: columnOf("Metric Unit"),
    metricValue: columnOf("Metric Value"),
    ruleName: columnOf("Rule Name"),
    ruleType: columnOf("Rule Type"),
    ruleDescription: columnOf("Rule Description"),
    speedup: columnOf("Estimated Speedup"),
    speedupType: columnOf("Estimated Speedup Type"),
  };
  if (lackingColumns(headers).length > 0) return null;
  const isDetails = columns.metricName >= 0;
  const metric = headers.findIndex((name) => !isIdentity(name));
  return {
    page: isDetails ? "details" : "raw",
    headers,
    widths:
      isDetails && columns.ruleName > columns.metricValue
        ? [columns.metricValue + 1, headers.length]
        : [headers.length],
    columns,
    firstMetric: metric < 0 ? headers.length : metric,
    kinds: headers.map((_, place) =>
      place === columns.pushPop || place === columns.startEnd
        ? "nvtx"
        : place === columns.kernelName && isIdentity(headers[place + 1] ?? "")
          ? "kernel"
          : "plain",
    ),
  };
}

/**
 * The error of a table of ncu without required columns.
 *
 * @param columns the absent columns
 */
export const lackingError = (name: string, columns: readonly string[]): ConfigError =>
  new ConfigError({
    code: "profile.input",
    message: `${name} is a table of ncu's results that lacks the required ${agreeing(columns.length, "column", "columns")} ${columns.join(", ")}`,
    hint: "none of them may be missing, in whatever order: ncu --import FILE.ncu-rep --csv --page raw --print-units base prints them all",
  });
