/** Makes region reports from files that profilers wrote, for `deep-profile import`. */
import { realpathSync } from "node:fs";
import { basename, dirname, join, parse } from "node:path";
import { ConfigError } from "../../engine/values/errors.ts";
import { makeDirectory } from "../../foundation/system/files.ts";
import { getOrCreate } from "../../foundation/system/get-or-create.ts";
import { regionsFolder } from "../../report/model/report-files.ts";
import { buildRegionModel } from "../analysis/build.ts";
import { topKernelNames } from "../analysis/kernel-selection.ts";
import { rankNumbers, timelineOfRanks } from "../analysis/ranks.ts";
import type { RegionModel } from "../analysis/region-model.ts";
import { combineRuns } from "../analysis/repeats.ts";
import type { RecordedMachine, Timeline } from "../model/timeline.ts";
import type { ImportSource } from "../tools/importer.ts";
import { joinTables } from "../tools/ncu/run/import-pass.ts";
import { duplicatesAmong } from "../tools/source-file.ts";
import type { ImportTool } from "../tools/tool.ts";
import { IMPORT_TOOLS } from "../tools/tool-table.ts";
import { type ImportedNcu, type ImportRequest, importNcu } from "./import-ncu.ts";
import { type ImportedReport, importedBundle } from "./imported-bundle.ts";
import { importerOf, type LoadedImporter, loadImporters } from "./importers.ts";

/**
 * Reads all files before anything is reported. All files of ncu are one measurement with several passes or processes; a
 * recording in addition provides calls and wall times, and the order of ranges.
 *
 * @throws ConfigError for the first file that is damaged or of an unknown format
 */
export async function importFiles(request: ImportRequest): Promise<readonly ImportedReport[]> {
  const folders = createFolders(request.directory);
  const { recordings: read, ncu } = await readSources(request, folders);
  const recordings = joinRanks(read, request);
  const reports = recordingReports(recordings, request);
  return ncu === null
    ? reports
    : [...(await ncuReports(ncu, recordings, request, folders)), ...reports];
}

/** A file with a timeline. */
interface Recording {
  readonly collector: string;
  /** The folder of its report, which the repeats of a run share. */
  readonly folder: string;
  readonly name: string;
  readonly toolVersion: string | null;
  readonly machine: RecordedMachine | null;
  readonly timeline: Timeline;
  readonly isIncomplete?: true;
}

/** All of ncu's files. */
interface NcuFiles {
  readonly folder: string;
  readonly files: readonly ImportedNcu[];
  /** The prefixes of the names of their tables. */
  readonly prefixes: readonly string[];
}

interface ReadSources {
  readonly recordings: readonly Recording[];
  readonly ncu: NcuFiles | null;
}

async function readSources(request: ImportRequest, folders: Folders): Promise<ReadSources> {
  const sources = await onlyOnce(request);
  const importers = await loadImporters(request.tools ?? IMPORT_TOOLS);
  const recognised = sources.map((source) => ({ source, importer: importerOf(source, importers) }));
  const prefixes = tablePrefixes(recognised);
  const shared = new Map<string, string>();
  const recordings: Recording[] = [];
  const ncu: ImportedNcu[] = [];
  for (const { source, importer } of recognised) {
    const { tool } = importer;
    const collector = tool.name;
    const { name, path, repeatOf } = source;
    const together = sharedReport(tool, repeatOf);
    const folder =
      (together === null ? undefined : shared.get(together)) ?? folders.take(collector);
    if (together !== null) shared.set(together, folder);
    request.say(`reading ${name}`);
    const imported = await importer.read(source, {
      reader: request.reader,
      numberFormat: request.numberFormat,
      allThreads: request.pushPopScope === "process",
      directory: folders.pathOf(folder),
      prefix: repeatOf === null ? (prefixes.get(source) ?? "") : `${basename(dirname(path))}.`,
      withTool: request.withTool,
      say: request.say,
    });
    if (imported.kind === "ncu") ncu.push({ name, source: imported.source });
    else recordings.push({ collector, folder, name, ...imported });
  }
  const folder = shared.get("ncu");
  const ofNcu =
    folder === undefined ? null : { folder, files: ncu, prefixes: [...prefixes.values()] };
  return { recordings, ncu: ofNcu };
}

/** Drops duplicate files: kernels would count twice, or reports appear twice. */
async function onlyOnce({ sources, say }: ImportRequest): Promise<readonly ImportSource[]> {
  // Repeats of a run all count, even if they are equal.
  const copies = await duplicatesAmong(sources.filter(({ repeatOf }) => repeatOf === null));
  const kept = new Map<string, ImportSource>();
  for (const source of sources) {
    const { name } = source;
    const place = realpathSync(source.path);
    const same = kept.get(place);
    const copied = same ?? copies.get(source);
    if (copied === undefined) kept.set(place, source);
    else if (same === undefined)
      say(`${name} has the same content as ${copied.name} and is read once`);
    else
      say(
        `${name} is ${same.name === name ? "given twice" : `the same file as ${same.name}`} and is read once`,
      );
  }
  return [...kept.values()];
}

/**
 * The key that files of one report have in common: those of one measurement, or the repeats of a run. Null for other
 * files.
 */
function sharedReport(tool: ImportTool, repeatOf: string | null): string | null {
  if (tool.import.isOneMeasurement) return tool.name;
  return repeatOf === null ? null : `${tool.name} ${repeatOf}`;
}

function recordingReports(
  recordings: readonly Recording[],
  request: ImportRequest,
): readonly ImportedReport[] {
  const byFolder = new Map<string, Recording[]>();
  for (const recording of recordings)
    getOrCreate(byFolder, recording.folder, () => []).push(recording);
  return [...byFolder].flatMap(([folder, repeats]): readonly ImportedReport[] => {
    const last = repeats.at(-1);
    if (last === undefined) return [];
    const { model } = combineRuns(repeats.map(({ timeline }) => modelOf(timeline, request)));
    const bundle = importedBundle(model, request, {
      toolVersion: last.toolVersion,
      machine: last.machine,
      names: repeats.map(({ name }) => name),
    });
    const incomplete = repeats.flatMap(({ name, isIncomplete }) => (isIncomplete ? [name] : []));
    return [{ collector: last.collector, folder, bundle, incomplete, timeline: last.timeline }];
  });
}

async function ncuReports(
  { folder, files, prefixes }: NcuFiles,
  recordings: readonly Recording[],
  request: ImportRequest,
  folders: Folders,
): Promise<readonly ImportedReport[]> {
  if (prefixes.length > 1)
    for (const note of await joinTables(folders.pathOf(folder), prefixes)) request.say(note);
  const models = await importNcu(files, {
    ...request,
    recorded: recordedModel(recordings, request),
    topNames: topNames(recordings, request),
  });
  const names = files.map(({ name }) => name);
  return models.map(
    ({ suffix, model, toolVersion, gpus, incomplete, writeRegionFiles }): ImportedReport => {
      const subfolder = suffix === "" ? folder : folders.take(`ncu${suffix}`);
      const regions = regionsFolder(folders.pathOf(subfolder));
      return {
        collector: "ncu",
        folder: subfolder,
        bundle: importedBundle(model, request, {
          toolVersion,
          machine: { hostname: null, os: null, cpu: null, gpus },
          names,
        }),
        incomplete,
        writeRegionFiles: (directories) => writeRegionFiles(regions, directories),
      };
    },
  );
}

/** Combines recordings of one tool, a file per rank, if they are of one run. */
function joinRanks(recordings: readonly Recording[], request: ImportRequest): readonly Recording[] {
  const byTool = new Map<string, Recording[]>();
  for (const recording of recordings)
    getOrCreate(byTool, recording.collector, () => []).push(recording);
  return [...byTool].flatMap(([collector, files]): readonly Recording[] => {
    const [first] = files;
    const isRepeated = new Set(files.map(({ folder }) => folder)).size < files.length;
    if (first === undefined || files.length < 2 || isRepeated) return files;
    const numbers = ranksOf(collector, files, request);
    if (numbers === null) return files;
    request.say(`${files.length} ${FILES_OF_RANKS[collector]} are read as the ranks of one run`);
    const timeline = timelineOfRanks(
      files.map(({ timeline, machine }, index) => ({
        rank: numbers[index] ?? index,
        timeline,
        host: machine?.hostname ?? "",
      })),
    );
    const incomplete = files.some(({ isIncomplete }) => isIncomplete);
    return [
      {
        ...first,
        name: files.map(({ name }) => name).join(", "),
        timeline,
        ...(incomplete && { isIncomplete: true }),
      },
    ];
  });
}

/** Files of which each may be of one rank, as messages name them. */
const FILES_OF_RANKS: Readonly<Record<string, string>> = {
  nsys: "exports of nsys",
  pytorch: "traces of PyTorch",
};

/** What the files say themselves, else their names, else their order if the user says so; null for unrelated files. */
function ranksOf(
  collector: string,
  files: readonly Recording[],
  { ranks = false }: ImportRequest,
): readonly number[] | null {
  if (FILES_OF_RANKS[collector] === undefined) return null;
  const recorded = files.flatMap(({ timeline }) => timeline.processes[0]?.rank?.rank ?? []);
  if (new Set(recorded).size === files.length) return recorded;
  return rankNumbers(files.map(({ name }) => basename(name))) ?? (ranks ? [...files.keys()] : null);
}

/**
 * The prefixes of the tables of each file of one measurement: empty for a single file, otherwise from the file names.
 */
function tablePrefixes(
  files: readonly { readonly source: ImportSource; readonly importer: LoadedImporter }[],
): ReadonlyMap<ImportSource, string> {
  const sources = files.flatMap(({ source, importer }) =>
    importer.tool.import.isOneMeasurement ? [source] : [],
  );
  if (sources.length <= 1) return new Map(sources.map((source) => [source, ""]));
  const taken = new Set<string>();
  return new Map(
    sources.map((source) => {
      const stem = parse(source.path).name;
      let free = stem;
      for (let number = 2; taken.has(free); number++) free = `${stem}-${number}`;
      taken.add(free);
      return [source, `${free}.`];
    }),
  );
}

const modelOf = (
  timeline: Timeline,
  { include, exclude, aggregate, labels }: ImportRequest,
): RegionModel =>
  buildRegionModel(timeline, {
    selection: { include, exclude },
    aggregate,
    ...(labels && { labels }),
  });

/** Paths are taken from the first recording, with all its regions, whatever is shown. */
function recordedModel(
  recordings: readonly Recording[],
  request: ImportRequest,
): RegionModel | null {
  const [first] = recordings;
  if (first === undefined) return null;
  return modelOf(first.timeline, { ...request, include: [], exclude: [], aggregate: true });
}

function topNames(
  recordings: readonly Recording[],
  { kernels: { top } }: ImportRequest,
): readonly string[] | null {
  if (top === null) return null;
  if (recordings.length === 0)
    throw new ConfigError({
      code: "app.usage",
      message: "--top-kernels needs a recording or an nsys export in addition to ncu's files",
    });
  return topKernelNames(
    recordings.map(({ timeline }) => timeline),
    top,
  );
}

interface Folders {
  /** Creates a folder with this name, or the next free one. */
  take(name: string): string;
  /** The absolute path of a folder. */
  pathOf(folder: string): string;
}

/** The folders of one output directory: one per file of a tool, since clocks differ between runs. */
function createFolders(directory: string): Folders {
  const taken = new Set<string>();
  return {
    take(name) {
      let free = name;
      for (let number = 2; taken.has(free); number++) free = `${name}-${number}`;
      taken.add(free);
      makeDirectory(join(directory, free));
      return free;
    },
    pathOf: (folder) => join(directory, folder),
  };
}
