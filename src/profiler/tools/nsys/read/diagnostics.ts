/** Diagnostics of nsys in an export, with hints. */
import { agreeing, plural } from "../../../../foundation/text/plural.ts";
import type { ExportDatabase } from "./database.ts";
import {
  CALL_TABLES,
  GRAPH_TABLE,
  integer,
  KERNEL_TABLE,
  pidOf,
  processKey,
  unknownTables,
} from "./export-schema.ts";

/** Further messages of nsys would add nothing. */
const MOST_MESSAGES = 10;

const NEWER_NSYS = "set HYDRACONF_NSIGHT to the directory of a newer nsys";
/** In quotes, which a shell removes: an unquoted comma would make a sweep. */
const SOFTWARE_OVERRIDE = `"pipeline.nsys.trace='cuda-sw,nvtx'"`;
const SOFTWARE_TRACE = `${SOFTWARE_OVERRIDE} traces without the GPU's own recorder`;

/** nsys ships a CUPTI for each CUDA version that it knows, and uses the newest for an unknown driver. */
const UNSUPPORTED_DRIVER =
  /Installed CUDA driver version \((.*?)\) is not supported.*?libraries for driver version ([\d.]+\d)/;

/** The default since 2025, if the GPU supports it. */
const HARDWARE_TRACE = /Hardware tracing used for CUDA/;

interface Known {
  readonly pattern: RegExp;
  readonly remedy: string;
}

const KNOWN: readonly Known[] = [
  {
    pattern: UNSUPPORTED_DRIVER,
    remedy: `kernels may be missing: ${NEWER_NSYS}`,
  },
  {
    pattern: /incomplete CUPTI events dropped/,
    remedy: `these kernels and copies are missing: let the program end before the recording does; ${SOFTWARE_TRACE}`,
  },
  {
    pattern: /CUPTI dropped \d+ records|allocate CUPTI buffers/,
    remedy:
      "these kernels and copies are missing: record less at once (pipeline.nsys.capture_range, pipeline.nsys.trace)",
  },
  {
    pattern: /Some CUPTI events might be missing/,
    remedy:
      "a program that is killed, or that ends by _exit, takes its last kernels along: let it end by itself, or \"pipeline.nsys.extra_args=[--cuda-flush-interval,'100']\"",
  },
  {
    pattern: /CUPTI_ERROR_MULTIPLE_SUBSCRIBERS/,
    remedy:
      "the program uses its own profiler (torch.profiler, TensorFlow's), and CUPTI allows only one: disable it",
  },
  {
    pattern: /CUPTI_ERROR_INVALID_DEVICE/,
    remedy: `nsys does not know this GPU, or its driver: ${NEWER_NSYS}; in a container the host may hide the GPU's counters (deep-profile doctor)`,
  },
];

/**
 * Warnings and errors of nsys itself, such as dropped events. It warns about each helper process (a shell, `uname`)
 * that used no CUDA; such warnings are omitted for processes without any recorded event.
 *
 * @param seen keys of the processes with recorded events
 */
export function diagnosticNotes({ rows }: ExportDatabase, seen: ReadonlySet<number>): string[] {
  const columns = { severity: "severity", text: "text", process: processKey("globalPid") };
  const found = new Set<string>();
  for (const { severity, text, process } of rows(
    "DIAGNOSTIC_EVENT",
    columns,
    "severity IN (2, 3)",
  )) {
    if (typeof text !== "string") continue;
    const isError = Number(severity) === 3;
    if (!isError && seen.size > 0 && isHelper(integer(process), seen)) continue;
    found.add(`nsys ${isError ? "error" : "warning"}: ${withRemedy(text)}`);
  }
  const shown = [...found].slice(0, MOST_MESSAGES);
  return found.size > shown.length
    ? [
        ...shown,
        `nsys: ${plural(found.size - shown.length, "more message is", "more messages are")} in the file`,
      ]
    : shown;
}

function withRemedy(text: string): string {
  const words = text.replace(/\s+/g, " ").trim();
  const diagnostic = KNOWN.find(({ pattern }) => pattern.test(words));
  return diagnostic === undefined ? words : `${words.replace(/\.$/, "")}; ${diagnostic.remedy}`;
}

/** A message about no particular process has no key, or that of the whole machine, 0. */
const isHelper = (key: number | null, seen: ReadonlySet<number>): boolean =>
  key !== null && pidOf(key) !== 0 && !seen.has(key);

/** The hint if all kernels are missing, depending on how nsys traced; a general one if it does not report that. */
function remedyForNoKernels({ rows }: ExportDatabase): string {
  const texts = [...rows("DIAGNOSTIC_EVENT", { text: "text" })].map(({ text }) => String(text));
  const [, driver, supported] =
    texts.map((text) => UNSUPPORTED_DRIVER.exec(text)).find((match) => match !== null) ?? [];
  if (driver !== undefined)
    return `this nsys knows CUDA ${supported}, and the driver has ${driver}: ${NEWER_NSYS}`;
  if (texts.some((text) => HARDWARE_TRACE.test(text))) return SOFTWARE_TRACE;
  return `use an nsys as new as the driver; under WSL, add CuptiUseRawGpuTimestamps=false to the file that nsys -z names; with nsys 2025 and later, also ${SOFTWARE_OVERRIDE}`;
}

// Detects programs whose launched kernels are missing from the file: otherwise the empty list of kernels would pass for
// a fact.

const LAUNCHES =
  "nameId IN (SELECT id FROM StringIds WHERE value GLOB 'cu*LaunchKernel*' OR value GLOB 'cu*LaunchCooperative*')";

/** Any column: the existence of a row is sufficient. */
const ROW = { start: "start" };

/**
 * Notes about missing kernels. They are missing if nsys is older than the driver, and under WSL and in containers whose
 * host hides the GPU's clock: nsys ends with exit code 0 and has the API calls, but not the kernels.
 */
export function untracedNotes(database: ExportDatabase): readonly string[] {
  if (isPresent(database.rows(KERNEL_TABLE, ROW))) return [];
  if (database.tables.has(GRAPH_TABLE)) return [];
  // They may stand in a table that is not known.
  if (filledUnknownTables(database).some((table) => table.includes("KERNEL"))) return [];
  if (!database.has("StringIds", "value")) return [];
  return CALL_TABLES.some((table) => hasLaunches(database, table))
    ? [
        `the program launched kernels, but nsys recorded none of them: ${remedyForNoKernels(database)}`,
      ]
    : [];
}

/** Only successful launches: failed ones, as without a GPU, ran nothing. */
function hasLaunches(database: ExportDatabase, table: string): boolean {
  if (!database.has(table, "nameId")) return false;
  const succeeded = database.has(table, "returnValue") ? " AND returnValue = 0" : "";
  return isPresent(database.rows(table, ROW, `${LAUNCHES}${succeeded}`));
}

const filledUnknownTables = (database: ExportDatabase): readonly string[] =>
  unknownTables(database).filter((table) => isPresent(database.rows(table, ROW)));

/** A note about tables that nsys may have added: a report without their rows would pass for complete. */
export function unknownTableNotes(database: ExportDatabase): readonly string[] {
  const unknown = filledUnknownTables(database);
  const count = unknown.length;
  return count === 0
    ? []
    : [
        `the export has ${plural(count, "table")} that ${agreeing(count, "is", "are")} not known here (${unknown.join(", ")}): what ${agreeing(count, "it holds", "they hold")} is missing`,
      ];
}

function isPresent(rows: Iterable<unknown>): boolean {
  for (const _ of rows) return true;
  return false;
}
