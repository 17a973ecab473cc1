/**
 * The columns of one of ncu's tables, found by their names: versions and options add columns, take
 * some away and move others.
 */
export interface TableLayout {
  /** `raw` has a column per metric, `details` a row. */
  readonly page: "raw" | "details";
  readonly headers: readonly string[];
  /** How many cells a complete row may have: all; in the details page also those before the rules. */
  readonly widths: readonly number[];
  readonly columns: IdentityColumns;
  /** Raw page: the first metric's column; they stand at the end. */
  readonly firstMetric: number;
  readonly kinds: readonly CellKind[];
}

/** Places of columns; -1 where there is none. */
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

/** How the end of a cell is told from a quote inside it, which ncu does not double. */
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

/** What every table of results begins with. */
export const HEADER_START = '"ID","Process ID",';
/** Summary pages have averages of several launches: there is nothing left to attribute. */
export const SUMMARY_HEADERS: readonly string[] = [
  '"Process ID","Process Name",',
  '"Domain","Range:PL_Type',
];

/** Null where a header lacks what results cannot be without. */
export function layoutOf(headers: readonly string[]): TableLayout | null {
  const at = (name: string) => headers.indexOf(name);
  const columns: IdentityColumns = {
    id: at("ID"),
    processId: at("Process ID"),
    processName: at("Process Name"),
    pushPop: headers.findIndex((name) => PUSH_POP.test(name)),
    startEnd: headers.findIndex((name) => START_END.test(name)),
    kernelName: at("Kernel Name"),
    context: at("Context"),
    stream: at("Stream"),
    blockSize: at("Block Size"),
    device: at("Device"),
    sectionName: at("Section Name"),
    metricName: at("Metric Name"),
    metricUnit: at("Metric Unit"),
    metricValue: at("Metric Value"),
    ruleName: at("Rule Name"),
    ruleType: at("Rule Type"),
    ruleDescription: at("Rule Description"),
    speedup: at("Estimated Speedup"),
    speedupType: at("Estimated Speedup Type"),
  };
  if (columns.id < 0 || columns.processId < 0 || columns.kernelName < 0) return null;
  const isDetails = columns.metricName >= 0 && columns.metricValue >= 0;
  const isIdentity = (name: string) =>
    IDENTITY.has(name) || PUSH_POP.test(name) || START_END.test(name);
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
        : place === columns.kernelName
          ? "kernel"
          : "plain",
    ),
  };
}
