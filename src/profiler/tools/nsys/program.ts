/** Finds and runs the installed `nsys`, and explains its failures. */
import { askProgram } from "../../../foundation/system/ask-program.ts";
import { probeNsight } from "../../machine/doctor/machine.ts";
import { chosenFolderNote, findNsightTool } from "../../machine/find-tools.ts";
import { askTool, type ToolControl, type ToolWork } from "../../machine/run-tool.ts";
import { ToolError } from "../../machine/tool-error.ts";
import type { DoctorFacts, SettingsRefusal, ToolFindings, ToolSettings } from "../tool.ts";
import { checkExtraOptions, traces, tracesCuda } from "./command.ts";

// The installed `nsys`: its path, version and options.

export interface NsysTool {
  readonly path: string;
  /** E.g. `2023.4.4.54`. */
  readonly version: string;
  /** Long options of its `profile` command, without dashes. */
  readonly options: ReadonlySet<string>;
}

/** A version query that takes longer indicates that nsys does not work at all. */
const PROBE_TIMEOUT_MS = 60_000;

/** @throws ToolError `nsys.not_found` */
export function requireNsysPath(why: string): string {
  const path = findNsightTool("nsys");
  if (path !== null) return path;
  throw new ToolError({
    tool: "nsys",
    code: "nsys.not_found",
    message: `${why}: nsys (Nsight Systems) was not found${chosenFolderNote("nsys")}`,
    hint: "install NVIDIA Nsight Systems (also part of the CUDA toolkit) and put nsys on PATH, or set HYDRACONF_NSIGHT to its directory",
  });
}

/**
 * Asks nsys for its version and options, which differ between versions.
 *
 * @throws ToolError `nsys.not_found`, `nsys.failed` if it does not answer
 */
export async function probeNsys(why: string): Promise<NsysTool> {
  const path = requireNsysPath(why);
  const [version, help] = await Promise.all([
    askNsys(path, ["--version"]),
    askNsys(path, ["profile", "--help"]),
  ]);
  return {
    path,
    version: /version (\d[\d.]*\d)/.exec(version)?.[1] ?? version.trim(),
    options: new Set(
      [...help.matchAll(/^\s*(?:\([^)]*\)\s*)?(?:-\w, )?--([a-z][a-z-]*)/gm)].map(
        ([, name = ""]) => name,
      ),
    ),
  };
}

async function askNsys(path: string, args: readonly string[]): Promise<string> {
  const { failed, stdout, stderr, why } = await askProgram({
    argv: [path, ...args],
    limitMs: PROBE_TIMEOUT_MS,
  });
  if (!failed) return stdout;
  throw new ToolError({
    tool: "nsys",
    code: "nsys.failed",
    message: `${path} ${args.join(" ")} does not work: ${lastLine(stderr) || why}`,
  });
}

/** The output of an nsys command, successful or not. */
export interface NsysAnswer {
  readonly failed: boolean;
  /** Standard output and standard error, without progress bars. */
  readonly text: string;
}

export async function callNsys(
  argv: readonly string[],
  work: ToolWork,
  control: ToolControl,
): Promise<NsysAnswer> {
  const { failed, stdout } = await askTool({ argv, stdout: "with stderr" }, work, control);
  return { failed, text: withoutProgress(stdout) };
}

/** nsys redraws its progress bars with carriage returns, or prints them one after the other. */
export const withoutProgress = (text: string): string =>
  text
    .replace(/(\[\d+\/\d+\] |Processing \d+ events: )\[[= ]*\d+%[= ]*\][^\n[]*/g, "")
    .replaceAll("\r", "")
    .trim();

const lastLine = (text: string): string => text.trimEnd().split("\n").at(-1)?.trim() ?? "";

// Error messages of nsys, their meaning, and a hint.

interface Failure {
  /** A message that only nsys prints. */
  readonly pattern: RegExp;
  /**
   * A message of the system, which programs print, too: it counts as nsys's only in output of nsys alone, or in a line
   * that names nsys.
   */
  readonly words?: RegExp;
  readonly means: string;
  readonly hint: string;
}

/** Printed if nothing was recorded, e.g. because a capture range never began. */
export const NO_REPORTS = /No reports were generated/;

/** The first match counts: causes before consequences. */
const FAILURES: readonly Failure[] = [
  {
    pattern:
      /newer than (?:your|the) current version|created (?:in|by) .* which is newer|Invalid version prefix|Qdstrm version .* not supported/i,
    means:
      "the report was written by another version of Nsight Systems than the nsys that reads it",
    hint: "read it with an nsys at least as new (set HYDRACONF_NSIGHT to its directory), or give an export made by such an nsys: nsys export --type sqlite REPORT.nsys-rep",
  },
  {
    pattern: /ProtobufParseException|parseProtobufFromStream/,
    words: /LZ4 decompression failed|Section Table|ReportFile.*(?:corrupt|truncated)/i,
    means: "the report is damaged or truncated",
    hint: "copy it again, completely; if the .qdstrm file was kept, QdstrmImporter -i FILE.qdstrm makes the report again",
  },
  {
    pattern: /boost::filesystem.*No space left on device/i,
    words: /No space left on device/i,
    means: "the disk is full",
    hint: "nsys writes to TMPDIR first: set it to a directory with more space, or record less (pipeline.nsys.capture_range)",
  },
  {
    pattern: /Wrong event order/,
    means: "nsys recorded, but cannot make a report: it considers the order of the events wrong",
    hint: `use nsys 2024.2 or later (set HYDRACONF_NSIGHT to its directory); its QdstrmImporter -i FILE.qdstrm may also read the .qdstrm file, which is kept; "pipeline.nsys.trace='cuda,nvtx'" and a capture range give fewer events`,
  },
  {
    pattern: /TimeConversion\.cpp|ConvertGpuTicksToSyncNs/,
    means: "nsys could not convert the times of this GPU, which happens if the host hides the GPU",
    hint: "another version of nsys may convert them (set HYDRACONF_NSIGHT to its directory); pipeline.nsys.trace=nvtx records only ranges, and the recorder takes its GPU times from CUPTI",
  },
  {
    pattern: /Already under profiling/,
    means: "another tool holds the GPU counters that the options request",
    hint: "dcgmi profile --pause, or remove --gpu-metrics-devices from pipeline.nsys.extra_args: kernels and ranges need no counters",
  },
  {
    pattern: /importer binary and its dependencies were not found/i,
    means: "nsys recorded, but its importer, which makes the report, does not run",
    hint: "install all of Nsight Systems, including its host part; the .qdstrm file can be imported later",
  },
  {
    pattern: /Importer error|importation of the QDSTRM/i,
    means: "nsys recorded, but failed to make the report",
    hint: `the .qdstrm file is kept: the QdstrmImporter -i FILE.qdstrm of a newer Nsight Systems may read it; or record less (pipeline.nsys.capture_range, "pipeline.nsys.trace='cuda,nvtx'")`,
  },
  {
    pattern: /does not have permission to access NVIDIA .*Performance Counters|ERR_NVGPUCTRPERM/i,
    means: "this user may not read the GPU counters that the options request",
    hint: "remove --gpu-metrics-devices from pipeline.nsys.extra_args: kernels and ranges need no counters; deep-profile doctor shows how to allow users to read them",
  },
  {
    pattern: /^(?:usage: nsys |Try 'nsys |Illegal --)/m,
    words: /unrecogni[sz]ed option|Invalid (?:value|argument)/i,
    means: "nsys does not accept an option or its value",
    hint: "check pipeline.nsys and pipeline.nsys.extra_args; nsys profile --help lists the options of this version",
  },
  {
    pattern: /requires? (?:root|administrat\w+) privileges/i,
    words: /Permission denied|not permitted/i,
    means: "nsys lacks a permission",
    hint: "pipeline.nsys.sample=none needs no permission; sampling needs kernel.perf_event_paranoid of 2 or less (sudo sysctl kernel.perf_event_paranoid=2)",
  },
  {
    pattern: /Connection to Agent lost|daemon (?:crashed|is not running)/i,
    means: "nsys lost its own agent process",
    hint: "run it again; with a capture range, pipeline.nsys.capture_range_end=stop lets the program finish",
  },
  {
    pattern: NO_REPORTS,
    means: "nsys had nothing to report",
    hint: "the program may have ended or been killed before nsys could start or write; the output is in nsys/stderr.txt",
  },
];

/** A line of nsys: with its name, that of its files, or of the library that it uses for system calls. */
const OWN_LINE = /^.*(?:\bnsys\b|nsight|boost::|\.qdstrm).*$/gim;

/**
 * Makes an error from nsys's output when there is no report.
 *
 * @param speakers whose output it is: nsys does not mark its lines
 */
export function nsysFailure(
  what: string,
  said: string,
  speakers: "nsys" | "nsys and program" = "nsys",
): ToolError {
  const isAlone = speakers === "nsys";
  const message = isAlone ? said : (said.match(OWN_LINE) ?? []).join("\n");
  const failure = FAILURES.find(({ pattern, words }) => pattern.test(said) || words?.test(message));
  const last = lastLine(said);
  const unknown =
    last === ""
      ? "nsys printed nothing"
      : isAlone
        ? `nsys says: ${last}`
        : `last line of their output: ${last}`;
  return new ToolError({
    tool: "nsys",
    code: "nsys.failed",
    message: `${what}: ${failure?.means ?? unknown}`,
    hint: failure?.hint,
  });
}

/** A recording limited to ranges that never began. */
export const emptyCapture = (range: string): ToolError =>
  new ToolError({
    tool: "nsys",
    code: "nsys.failed",
    message: `nsys recorded nothing: ${range}`,
    hint: "a run with the recorder lists the program's ranges (pipeline.nsys.enable=false); pipeline.nsys.capture_range=none records the whole run",
  });

interface Warning {
  readonly pattern: RegExp;
  readonly note: string;
}

/** Messages in a successful recording. */
const WARNINGS: readonly Warning[] = [
  {
    pattern:
      /CPU (?:IP\/backtrace )?sampling (?:not supported|will be disabled|requires)|perf event paranoid level|CPU (?:kernel )?IP\/backtrace samples|=system-wide requires root privileges/i,
    note: "nsys could not sample the CPU (kernel.perf_event_paranoid): range and kernel times are not affected",
  },
  {
    pattern: /CPU context switch tracing (?:not supported|will be disabled)/i,
    note: "nsys could not trace context switches: regions are not affected",
  },
  {
    pattern: /One or more process(?:es)? it created re-?parented/i,
    note: 'nsys waited for processes that the program left running; "pipeline.nsys.extra_args=[--wait,primary]" makes it end with the program',
  },
];

/** Notes about what is missing from the recording, or why it took long. */
export const nsysWarnings = (said: string): readonly string[] =>
  WARNINGS.flatMap(({ pattern, note }) => (pattern.test(said) ? [note] : []));

// Requirements of `pipeline.nsys` on its own keys and on the installed nsys.

const CAPTURE_RANGE = "pipeline.nsys.capture_range";
const TRACE = "pipeline.nsys.trace";
const TRACE_BOTH = `"${TRACE}='cuda,nvtx'"`;

const refusals: readonly SettingsRefusal[] = [
  {
    key: CAPTURE_RANGE,
    applies: ({ pipeline: { nsys } }) =>
      nsys.gating_nvtx && nsys.capture_range === "nvtx" && !traces(nsys).includes("nvtx"),
    message: `capture_range=nvtx needs nvtx in ${TRACE}`,
    hint: TRACE_BOTH,
  },
  {
    key: CAPTURE_RANGE,
    applies: ({ pipeline: { nsys } }) =>
      nsys.gating_nvtx && nsys.capture_range === "cudaProfilerApi" && !tracesCuda(nsys),
    message: `capture_range=cudaProfilerApi needs cuda in ${TRACE}`,
    hint: TRACE_BOTH,
  },
  {
    key: TRACE,
    applies: ({ pipeline: { nsys } }) => !traces(nsys).includes("nvtx"),
    message: "nvtx is missing: regions are NVTX ranges",
    hint: TRACE_BOTH,
  },
];

export const nsysSettings: ToolSettings = {
  refusals,
  checks: ({ pipeline: { nsys } }, { isPlan }) => [
    () => checkExtraOptions(nsys),
    ...(isPlan ? [] : [() => requireNsysPath("pipeline.nsys.enable")]),
  ],
};

export async function examineNsys({ machine, gpu }: DoctorFacts): Promise<ToolFindings> {
  const name = "nsys";
  const check = await probeNsight(machine, name, "Nsight Systems");
  if (check.state !== "ok")
    return { checks: [check], verdicts: [{ name, works: "no", detail: "nsys is not usable" }] };
  const verdict =
    gpu.absence === null
      ? ({ works: "yes", detail: "ranges and kernels (pipeline.nsys.enable=true)" } as const)
      : ({
          works: "partly",
          detail: `ranges (pipeline.nsys.enable=true); no kernels: ${gpu.absence}`,
        } as const);
  return { checks: [check], verdicts: [{ name, ...verdict }] };
}
