/** `deep-profile query`: answers a question about a run for people or, with `--json`, for programs. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { type CommandLine, usage } from "../../app/command-line/command-line.ts";
import { CONFIG_TOOLS, type McpTool, serveMcp } from "../../app/command-line/mcp.ts";
import { type ParsedCommand, parseCommandLine } from "../../app/command-line/parse.ts";
import { ConfigError, nearest } from "../../engine/values/errors.ts";
import { readablePath } from "../../foundation/system/files.ts";
import { getOrCreate, once } from "../../foundation/system/get-or-create.ts";
import { terminalWidth } from "../../foundation/system/standard-streams.ts";
import { QUERY_CONTRACT } from "../../report/model/contract.ts";
import type { RegionReportBundle } from "../../report/model/document.ts";
import { blockLines } from "../../report/render/terminal.ts";
import { createReportValidator } from "../../report/validation/validate.ts";
import { medianOfRuns } from "../../report/view/notes.ts";
import { REGION_SORTS } from "../../report/view/report-tables.ts";
import { answeringSection } from "../../report/view/run-summary.ts";
import type { WithTool } from "../machine/stop-signals.ts";
import { eachHostCall, hostCallKind } from "../model/host-calls.ts";
import {
  forEachRange,
  type ProcessTimeline,
  runInterval,
  type Timeline,
} from "../model/timeline.ts";
import { readRunOrReport } from "../run/importers.ts";
import { readSavedRun } from "../run/read-run.ts";
import { rereadRun } from "../run/reread-run.ts";
import { inputError } from "../tools/source-file.ts";
import { REPORT_FOLDERS, TOOLS } from "../tools/tool-table.ts";
import { calibrationFinder } from "./calibration-files.ts";
import { compareNamed } from "./compare-runs.ts";
import { createKeptRuns } from "./kept-runs.ts";
import { collectorsOf, loadReport, scopeOf } from "./load-report.ts";
import { type Asked, OWN_OPTIONS, QUESTIONS, type Question } from "./questions.ts";
import {
  counterRow,
  counterValues,
  firstEvents,
  type Slice,
  type SliceEvent,
  type SliceRequest,
  threadRow,
} from "./slice.ts";
import type { SubcommandIo } from "./subcommand.ts";
import { traceSlice } from "./trace-slice.ts";

const DEFAULT_LIMIT = 20;
/** The limit suits people, and agents with a small context: reports have everything. */
const MOST_ITEMS = 1000;
/** The size of an answer in JSON unless another is asked for: what an agent can read. */
const DEFAULT_BYTES = 50_000;
/** The maximum length of a text: names of templates can fill screens. */
const MOST_TEXT = 1000;

/** Executes `deep-profile query`. */
export async function queryRun(
  command: ParsedCommand,
  io: SubcommandIo,
  withTool: WithTool,
  load: typeof loadRun = loadRun,
): Promise<number> {
  const [run = "", name = "summary", target = ""] = command.positionals;
  const question = questionOf(name, target);
  refuseUnread(question, command);
  const limit = command.count("limit") ?? DEFAULT_LIMIT;
  const bytes = command.count("bytes") ?? DEFAULT_BYTES;
  const offset = cursorOf(command.value("cursor"));
  if (limit > MOST_ITEMS) throw usage(`--limit: at most ${MOST_ITEMS}; reports have everything`);
  const chosen = { collector: command.value("collector"), scope: command.value("scope") };
  const { bundle, beside } = await load(run, io.cwd, chosen.collector);
  const report = scopeOf(run, bundle, chosen.scope);
  // An answer that is too long is asked for again: what it needs is read once.
  const timeline = once(() => timelineOf(run, report.collector.name, io, withTool));
  const compared = oncePerName((other) =>
    compareNamed({ a: run, b: other }, io.cwd, {
      ...chosen,
      find: calibrationFinder(undefined, io),
    }),
  );
  const asked: Asked = {
    ...{ run, report, bundle, beside, target, limit, offset },
    regions: command.values("region"),
    kernels: command.values("kernel"),
    metrics: command.values("metric"),
    sort: command.choice("sort", REGION_SORTS, "exclusive"),
    ...timesOf(command.value("from"), command.value("to")),
    timeline: async (request) => {
      const trace = traceOf(run, report.collector.name, io.cwd);
      return trace === null
        ? timelineSlice(await timeline(), request)
        : traceSlice(readablePath(trace, io.cwd), trace, request);
    },
    compareWith: compared,
  };
  // A comparison says itself what its numbers are from.
  const median = question.name === "compare" ? null : medianOfRuns(report.notes);
  if (command.has("json")) {
    const text = await fitted(asked, bytes, async (some) => {
      const { answer, items } = await question.ask(some);
      const end = items === undefined ? 0 : some.offset + items.shown;
      return JSON.stringify(
        {
          contract: QUERY_CONTRACT,
          question: question.name,
          run,
          collector: report.collector.name,
          scope: report.scope,
          ...(median !== null && { median_of_runs: median }),
          ...(items !== undefined && { total: items.total, shown: items.shown }),
          ...(items !== undefined && end < items.total && { next: String(end) }),
          answer,
        },
        shortTexts,
        2,
      );
    });
    io.console.stdout(`${text}\n`);
    return 0;
  }
  const { items, blocks } = await question.ask(asked);
  const end = offset + (items?.shown ?? 0);
  const isCut = items !== undefined && (offset > 0 || end < items.total);
  const page = { width: terminalWidth(io.env), color: io.console.stdoutColor === true };
  for (const line of blockLines(blocks, page)) io.console.stdout(`${line}\n`);
  if (median !== null) io.console.stdout(`numbers are from the median run of ${median}\n`);
  if (isCut)
    io.console.stdout(
      `${items.shown} of ${items.total}${end < items.total ? `; more with --limit N, at most ${MOST_ITEMS}, or --cursor ${end}` : ""}\n`,
    );
  return 0;
}

/** The text of an answer of at most so many bytes, with fewer items if need be; of one item, however long it is. */
async function fitted(
  asked: Asked,
  bytes: number,
  textOf: (asked: Asked) => Promise<string>,
): Promise<string> {
  let { limit } = asked;
  for (;;) {
    const text = await textOf({ ...asked, limit });
    const size = Buffer.byteLength(text);
    if (size <= bytes || limit <= 1) return text;
    limit = Math.max(1, Math.min(limit - 1, Math.floor((limit * bytes) / size)));
  }
}

function cursorOf(text: string | undefined): number {
  if (text === undefined) return 0;
  if (!/^\d{1,15}$/.test(text))
    throw usage(`--cursor: '${text}' is not a cursor`, "take it from 'next' of an earlier answer");
  return Number(text);
}

function oncePerName<T>(create: (name: string) => Promise<T>): (name: string) => Promise<T> {
  const made = new Map<string, Promise<T>>();
  return (name) => getOrCreate(made, name, () => create(name));
}

const shortTexts = (_: string, value: unknown): unknown =>
  typeof value === "string" && value.length > MOST_TEXT ? `${value.slice(0, MOST_TEXT)}…` : value;

function questionOf(name: string, target: string): Question {
  const names = QUESTIONS.map((question) => question.name);
  const question = QUESTIONS.find((candidate) => candidate.name === name);
  if (question === undefined)
    throw new ConfigError({
      code: "app.usage",
      message: `'${name}' is no question`,
      hint: `questions: ${names.join(", ")}`,
      nearest: nearest(name, names),
    });
  if (question.takes !== undefined && target === "")
    throw usage(
      `${name} needs ${question.takes}: deep-profile query RUN ${name} ${question.takes}`,
    );
  if (question.takes === undefined && target !== "")
    throw usage(`${name} takes nothing behind it, but '${target}' is there`);
  return question;
}

/** An option that has no effect would be mistaken for one that has. */
function refuseUnread({ name, reads }: Question, command: ParsedCommand): void {
  const unread = OWN_OPTIONS.find((option) => command.has(option) && !reads.includes(option));
  if (unread === undefined) return;
  const readers = QUESTIONS.filter((question) => question.reads.includes(unread));
  throw usage(
    `--${unread}: '${name}' does not read it`,
    `questions that do: ${readers.map((question) => question.name).join(", ")}`,
  );
}

function timesOf(from: string | undefined, to: string | undefined): Pick<Asked, "fromMs" | "toMs"> {
  const [fromMs, toMs] = [timeOf("from", from), timeOf("to", to)];
  if (fromMs !== null && toMs !== null && toMs < fromMs)
    throw usage(`--to: ${to} is before --from ${from}`);
  return { fromMs, toMs };
}

function timeOf(option: string, text: string | undefined): number | null {
  if (text === undefined) return null;
  if (!/^\d+(?:\.\d+)?$/.test(text))
    throw usage(`--${option}: '${text}' is not a time in milliseconds`);
  return Number(text);
}

interface LoadedRun {
  readonly bundle: RegionReportBundle;
  /** Reports of the run's other collectors. */
  readonly beside: readonly RegionReportBundle[];
}

/** @param collector default: the collector that recorded most about time */
async function loadRun(
  run: string,
  cwd: string,
  collector: string | undefined,
): Promise<LoadedRun> {
  const validator = createReportValidator();
  return readRunOrReport(run, cwd, { expected: "a run or a region report" }, () => {
    const found = collectorsOf(run, cwd) ?? [""];
    if (collector !== undefined && !found.includes(collector))
      throw new ConfigError({
        code: "profile.input",
        message: `--collector ${collector}: ${run} has ${found.join(", ") || "a report of one"}`,
        available: found,
      });
    const sections = found.map((name) => ({
      name,
      bundle: loadReport(run, cwd, validator, name).bundle,
    }));
    const chosen =
      collector === undefined
        ? answeringSection(sections)
        : sections.find(({ name }) => name === collector);
    if (chosen === undefined) throw inputError(run, "it holds no results of a run");
    const beside = sections.flatMap((section) => (section === chosen ? [] : [section.bundle]));
    return { bundle: chosen.bundle, beside };
  });
}

/** The trace of an import, which has no recording beside it; null without one. */
function traceOf(run: string, collector: string, cwd: string): string | null {
  const directory = resolve(cwd, run);
  if (existsSync(resolve(directory, "run.json"))) return null;
  const files = [resolve(directory, collector, "trace.json"), resolve(directory, "trace.json")];
  return files.find((file) => existsSync(file)) ?? null;
}

/** The timeline of a collector of a run, read from its raw files. */
async function timelineOf(
  run: string,
  collector: string,
  { cwd, console }: SubcommandIo,
  withTool: WithTool,
): Promise<Timeline> {
  const runDirectory = resolve(cwd, run);
  if (!existsSync(resolve(runDirectory, "run.json")))
    throw inputError(
      run,
      "it holds reports only, and a timeline is read from the recordings of a run",
      "ask the directory of a run, or of an import with its timeline: deep-profile import FILE --trace",
    );
  const saved = readSavedRun(runDirectory, cwd);
  const only = {
    ...saved,
    collectors: saved.collectors.filter((collection) => collection.collector === collector),
  };
  const { collections } = await rereadRun(only, {
    runDirectory,
    withTool,
    tools: TOOLS,
    labels: null,
    say: (line) => console.stderr(`${line}\n`),
  });
  for (const { measured } of collections)
    if (measured?.kind === "timeline") return measured.timeline;
  throw inputError(run, `${collector} records no times`, "ask with --collector recorder or nsys");
}

const MS = 1e6;

/** The events between two times, including those that began before or ended after. */
export function timelineSlice(timeline: Timeline, { fromMs, toMs, limit }: SliceRequest): Slice {
  const { processes } = timeline;
  const { startNs: originNs, endNs: lastNs } = runInterval(timeline);
  const least = originNs + (fromMs ?? 0) * MS;
  const most = toMs === null ? Number.POSITIVE_INFINITY : originNs + toMs * MS;
  let total = 0;
  const kept = firstEvents<Event>(limit, ({ startNs }) => startNs);
  for (const process of processes)
    forEachEvent(process, (event) => {
      if (event.endNs < least || event.startNs > most) return;
      total++;
      kept.add(event);
    });
  for (const process of processes)
    for (const series of process.counters ?? []) {
      const found = counterValues(series, least, Math.min(most, process.endNs));
      if (found === null) continue;
      total++;
      const { threadId, domain } = series;
      const row = threadId === null ? counterRow(process.pid, domain) : rowsOf(process)(threadId);
      kept.add({ ...found, row });
    }
  return {
    events: kept.first().map(({ kind, name, row, startNs, endNs, counter }) => ({
      kind,
      name,
      row,
      start_ms: (startNs - originNs) / MS,
      end_ms: (endNs - originNs) / MS,
      ...(counter !== undefined && { counter }),
    })),
    total,
    spanMs: (lastNs - originNs) / MS,
  };
}

interface Event extends Pick<SliceEvent, "kind" | "name" | "row" | "counter"> {
  readonly startNs: number;
  readonly endNs: number;
}

const rowsOf =
  ({ pid, threadNames }: ProcessTimeline) =>
  (id: number): string =>
    threadRow(pid, id, threadNames?.get(id));

function forEachEvent(process: ProcessTimeline, visit: (event: Event) => void): void {
  const thread = rowsOf(process);
  forEachRange(process, ({ name, threadId, startNs, endNs }) =>
    visit({ kind: "range", name, row: thread(threadId), startNs, endNs: endNs ?? process.endNs }),
  );
  for (const { name, threadId, timeNs } of process.marks)
    visit({ kind: "mark", name, row: thread(threadId), startNs: timeNs, endNs: timeNs });
  for (const { kind = "kernel", name, device, stream, startNs, endNs } of process.kernels)
    visit({ kind, name, row: `cuda:${device}, stream ${stream ?? "?"}`, startNs, endNs });
  for (const { kind, threadId, startNs, endNs } of process.synchronizations ?? [])
    visit({ kind: "wait", name: `wait for a ${kind}`, row: thread(threadId), startNs, endNs });
  for (const { api, name, threadId, startNs, endNs } of eachHostCall(process.hostCalls))
    visit({ kind: hostCallKind(api), name, row: thread(threadId), startNs, endNs });
}

const ITEMS = { type: "array", items: { type: "string", pattern: "^[^-]" } } as const;

/** The same questions as a tool for clients of the Model Context Protocol. */
const QUERY_TOOL: McpTool = {
  name: "query_run",
  description: `Answer a question about a profiled run: ${QUESTIONS.map(
    ({ name, summary, takes }) =>
      `${name}${takes === undefined ? "" : ` (target: ${takes})`}: ${summary}`,
  ).join("; ")}.`,
  inputs: {
    run: { type: "string", pattern: "^[^-]", description: "a run directory or a report.json" },
    question: { enum: QUESTIONS.map(({ name }) => name) },
    target: { type: "string", pattern: "^[^-]", description: "of why and compare" },
    region: { ...ITEMS, description: "globs of region names" },
    kernel: { ...ITEMS, description: "globs of kernel names" },
    metric: { ...ITEMS, description: "globs of metrics to add to regions" },
    sort: { enum: REGION_SORTS },
    limit: { type: "integer", minimum: 1, maximum: MOST_ITEMS },
    cursor: {
      type: "string",
      pattern: "^\\d{1,15}$",
      description: "'next' of an answer that has not all items: the same question goes on there",
    },
    bytes: { type: "integer", minimum: 1, description: "the longest answer (default: 50000)" },
    from: { type: "number", minimum: 0, description: "milliseconds, of a timeline" },
    to: { type: "number", minimum: 0, description: "milliseconds, of a timeline" },
    collector: { enum: REPORT_FOLDERS },
    scope: { type: "string", pattern: "^[^-]" },
  },
  required: ["run", "question"],
  argv: ({ run, question, target, directory: _, ...options }) => [
    ...["query", String(run), String(question), ...(target === undefined ? [] : [String(target)])],
    ...Object.entries(options).flatMap(([name, value]) =>
      [value].flat().flatMap((item) => [`--${name}`, String(item)]),
    ),
    "--json",
  ],
  files: ({ run, question, target }) => [
    String(run),
    ...(question === "compare" && target !== undefined ? [String(target)] : []),
  ],
};

/** Questions that more than the reports of one run answer. */
const READS_MORE: readonly string[] = ["timeline", "compare"];

/** Answers questions about runs that were asked before without reading these again. */
function answerKept(line: CommandLine, io: SubcommandIo): NonNullable<McpTool["kept"]> {
  const runs = createKeptRuns<LoadedRun>();
  return async (argv, cwd) => {
    try {
      const command = parseCommandLine(line, argv.slice(1));
      const [run = "", question = ""] = command.positionals;
      const collector = command.value("collector");
      if (READS_MORE.includes(question)) return null;
      const loaded = await runs.get(run, cwd, collector ?? "", () => loadRun(run, cwd, collector));
      if (loaded === null) return null;
      let text = "";
      const console = { stdout: (part: string) => (text += part), stderr: () => {} };
      await queryRun(command, { ...io, cwd, console }, noTool, async () => loaded);
      return text;
    } catch {
      // A command of its own says what is wrong.
      return null;
    }
  };
}

const noTool: WithTool = () => {
  throw new Error("reports are read without tools");
};

/** `deep-profile mcp`. @param line that of `deep-profile query` */
export const serveQueries = (
  args: readonly string[],
  line: CommandLine,
  io: SubcommandIo,
): Promise<number> => {
  const tools = [{ ...QUERY_TOOL, kept: answerKept(line, io) }, ...CONFIG_TOOLS];
  return serveMcp("deep-profile", tools, args, io);
};
