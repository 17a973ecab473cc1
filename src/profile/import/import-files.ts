/** From files that profilers wrote to region reports: what `deep-profile import` does. */
import { createHash } from "node:crypto";
import { basename, dirname, join, parse } from "node:path";
import { makeDirectory } from "../../make-directory.ts";
import { packageInfo } from "../../package-root.ts";
import type { RegionReportBundle, ReportEnvironment } from "../../report/document.ts";
import { ConfigError } from "../../values/errors.ts";
import { topKernelNames } from "../kernel-selection/index.ts";
import { joinTables } from "../ncu/run/read-pass.ts";
import { buildRegionModel, type RegionModel, toReportBundle } from "../regions/index.ts";
import { combineRuns } from "../repeats/across-runs.ts";
import { type ImportedNcu, importNcu } from "./import-ncu.ts";
import type { Imported, Importer, ImportSource, ReadOptions } from "./importer.ts";
import { importerOf } from "./importers.ts";

export interface ImportRequest {
  readonly sources: readonly ImportSource[];
  /** Absolute path of the directory that gets the reports; exists. */
  readonly directory: string;
  readonly reader: ReadOptions["reader"];
  readonly locale: ReadOptions["locale"];
  /** Which regions to show. */
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly aggregate: boolean;
  readonly kernels: KernelChoice;
  /** `process`: kernels of threads without ranges belong to those of another thread. */
  readonly pushPopScope: "thread" | "process";
  readonly now: Date;
  readonly say: (line: string) => void;
}

/** Which kernels of ncu count. */
export interface KernelChoice {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly nameBase: "function" | "demangled" | "mangled";
  /** Only so many, by GPU time in a recording given beside; null: all. */
  readonly top: number | null;
}

/** The reports of the files of one tool. */
export interface ImportedReport {
  readonly collector: Importer["collector"];
  /** Name of its folder in the output directory. */
  readonly folder: string;
  readonly bundle: RegionReportBundle;
  /** Writes what belongs into the folders of single regions, by `regionKey`. */
  readonly writeRegionFiles?: (directories: ReadonlyMap<string, string>) => Promise<void>;
}

type TimelineFile = { readonly source: ImportSource; readonly importer: Importer } & Extract<
  Imported,
  { kind: "timeline" }
>;

/** Recordings that make one report: one, or the repeats of a run. */
interface Series {
  readonly collector: Importer["collector"];
  readonly folder: string;
  readonly toolVersion: string | null;
  readonly names: readonly string[];
  readonly models: readonly RegionModel[];
}

/**
 * Reads every file before anything is reported. All of ncu's files are one measurement, of several
 * passes or processes; a recording beside them gives calls and wall times, and the order of ranges.
 *
 * @throws ConfigError for the first file that is of no known format or damaged
 */
export async function importFiles(request: ImportRequest): Promise<readonly ImportedReport[]> {
  const recognised = request.sources.map((source) => ({ source, importer: importerOf(source) }));
  const folders = createFolders(request.directory);
  const timelines: TimelineFile[] = [];
  const ncu: ImportedNcu[] = [];
  const prefixes = tablePrefixes(recognised);
  const series = new Map<string, Series>();
  let ncuFolder: string | null = null;
  for (const { source, importer } of recognised) {
    const isNcu = importer.collector === "ncu";
    const id = source.repeatOf === null ? null : `${importer.collector} ${source.repeatOf}`;
    const known = id === null ? undefined : series.get(id);
    const folder: string = (isNcu ? ncuFolder : known?.folder) ?? folders.take(importer.collector);
    if (isNcu) ncuFolder = folder;
    request.say(`reading ${source.name}`);
    const imported = await importer.read(source, {
      reader: request.reader,
      locale: request.locale,
      allThreads: request.pushPopScope === "process",
      directory: folders.pathOf(folder),
      prefix: id === null ? (prefixes.get(source) ?? "") : `${basename(dirname(source.path))}.`,
      say: request.say,
    });
    if (imported.kind === "ncu") {
      ncu.push({ name: source.name, source: imported.source });
      continue;
    }
    timelines.push({ source, importer, ...imported });
    series.set(id ?? folder, {
      collector: importer.collector,
      folder,
      toolVersion: imported.toolVersion,
      names: [...(known?.names ?? []), source.name],
      models: [...(known?.models ?? []), modelOf(imported.timeline, request)],
    });
  }
  const reports = [...series.values()].map(
    ({ collector, folder, toolVersion, names, models }): ImportedReport => ({
      collector,
      folder,
      bundle: bundleOf(combineRuns(models).model, request, { toolVersion, gpus: [], names }),
    }),
  );
  if (ncu.length === 0 || ncuFolder === null) return reports;
  if (prefixes.size > 1)
    for (const note of await joinTables(folders.pathOf(ncuFolder), [...prefixes.values()]))
      request.say(note);
  const ofNcu = await importNcu(ncu, {
    ...request,
    recorded: recordedModel(timelines, request),
    topNames: topNames(timelines, request),
  });
  return [
    ...ofNcu.map(({ suffix, model, toolVersion, gpus, writeRegionFiles }): ImportedReport => {
      const folder = suffix === "" ? (ncuFolder as string) : folders.take(`ncu${suffix}`);
      const path = folders.pathOf(folder);
      const names = ncu.map(({ name }) => name);
      return {
        collector: "ncu",
        folder,
        bundle: bundleOf(model, request, { toolVersion, gpus, names }),
        writeRegionFiles: (directories) => writeRegionFiles(join(path, "regions"), directories),
      };
    }),
    ...reports,
  ];
}

/** How the tables of each of ncu's files are called: plainly where there is one, else after the file. */
function tablePrefixes(
  files: readonly { readonly source: ImportSource; readonly importer: Importer }[],
): ReadonlyMap<ImportSource, string> {
  const sources = files.flatMap(({ source, importer }) =>
    importer.collector === "ncu" ? [source] : [],
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
  timeline: TimelineFile["timeline"],
  { include, exclude, aggregate }: ImportRequest,
): RegionModel => buildRegionModel(timeline, { selection: { include, exclude }, aggregate });

/** The first recording given knows the paths; nothing of it is left out, whatever is shown. */
function recordedModel(
  timelines: readonly TimelineFile[],
  request: ImportRequest,
): RegionModel | null {
  const [first] = timelines;
  if (first === undefined) return null;
  return modelOf(first.timeline, { ...request, include: [], exclude: [], aggregate: true });
}

function topNames(
  timelines: readonly TimelineFile[],
  { kernels: { top } }: ImportRequest,
): readonly string[] | null {
  if (top === null) return null;
  if (timelines.length === 0)
    throw new ConfigError({
      code: "app.usage",
      message: "--top-kernels needs a recording or an export of nsys beside ncu's files",
    });
  return topKernelNames(
    timelines.map(({ timeline }) => timeline),
    top,
  );
}

interface Provenance {
  readonly toolVersion: string | null;
  readonly gpus: readonly string[];
  readonly names: readonly string[];
}

function bundleOf(
  model: RegionModel,
  request: ImportRequest,
  { toolVersion, gpus, names }: Provenance,
): RegionReportBundle {
  return toReportBundle(model, {
    generatedAt: request.now.toISOString(),
    configFingerprint: fingerprint(request),
    collectorVersion: toolVersion ?? "unknown",
    environment: { ...unknownMachine(), gpus },
    notes: [`imported from ${names.join(", ")}`],
  });
}

/** Folders of one output directory: one per file of a tool, since clocks of runs differ. */
function createFolders(directory: string) {
  const taken = new Set<string>();
  return {
    take(name: string): string {
      let free = name;
      for (let number = 2; taken.has(free); number++) free = `${name}-${number}`;
      taken.add(free);
      makeDirectory(join(directory, free));
      return free;
    },
    pathOf: (folder: string) => join(directory, folder),
  };
}

/** Equal for equal requests, whatever the files hold and wherever the reports go. */
function fingerprint(request: ImportRequest): string {
  const { sources, directory: _directory, now: _now, say: _say, ...options } = request;
  const text = JSON.stringify({ import: sources.map(({ name }) => name), ...options });
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}

/** The files say little of the machine they were recorded on, and it need not be this one. */
const unknownMachine = (): ReportEnvironment => ({
  hostname: "unknown",
  os: "unknown",
  cpu: "unknown",
  gpus: [],
  command: [],
  device: null,
  hydraconf_version: packageInfo().version,
});
