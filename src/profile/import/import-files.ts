/** From files that profilers wrote to region reports: what `deep-profile import` does. */
import { createHash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { packageInfo } from "../../package-root.ts";
import type { RegionReportBundle, ReportEnvironment } from "../../report/document.ts";
import { buildRegionModel, toReportBundle } from "../regions/index.ts";
import type { Imported, Importer, ImportSource, ReadOptions } from "./importer.ts";
import { importerOf } from "./importers.ts";

export interface ImportRequest {
  readonly sources: readonly ImportSource[];
  /** Absolute path of the directory that gets the reports; exists. */
  readonly directory: string;
  readonly reader: ReadOptions["reader"];
  /** Which regions to show. */
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly aggregate: boolean;
  readonly now: Date;
  readonly say: (line: string) => void;
}

/** The reports of the files of one tool. */
export interface ImportedReport {
  readonly collector: Importer["collector"];
  /** Name of its folder in the output directory. */
  readonly folder: string;
  readonly bundle: RegionReportBundle;
}

/**
 * Reads every file before anything is reported, so that a wrong one stops the command early.
 *
 * @throws ConfigError for the first file that is of no known format or damaged
 */
export async function importFiles(request: ImportRequest): Promise<readonly ImportedReport[]> {
  const recognised = request.sources.map((source) => ({ source, importer: importerOf(source) }));
  const reports: ImportedReport[] = [];
  for (const { source, importer } of recognised) {
    const folder = freeFolder(importer.collector, reports);
    const directory = join(request.directory, folder);
    mkdirSync(directory, { recursive: true });
    request.say(`reading ${source.name}`);
    const imported = await importer.read(source, {
      reader: request.reader,
      directory,
      say: request.say,
    });
    reports.push({
      collector: importer.collector,
      folder,
      bundle: toBundle(imported, source, request),
    });
  }
  return reports;
}

/** Files of one tool may come from several runs, whose clocks have nothing to do with each other. */
function freeFolder(name: string, reports: readonly ImportedReport[]): string {
  const taken = new Set(reports.map(({ folder }) => folder));
  let free = name;
  for (let number = 2; taken.has(free); number++) free = `${name}-${number}`;
  return free;
}

function toBundle(
  imported: Imported,
  source: ImportSource,
  request: ImportRequest,
): RegionReportBundle {
  const selection = { include: request.include, exclude: request.exclude };
  if (imported.kind === "ncu") throw new Error("not reached: no importer of ncu results yet");
  const model = buildRegionModel(imported.timeline, { selection, aggregate: request.aggregate });
  return toReportBundle(model, {
    generatedAt: request.now.toISOString(),
    configFingerprint: fingerprint(request),
    collectorVersion: imported.version ?? "unknown",
    environment: unknownMachine(),
    notes: [`imported from ${source.name}`],
  });
}

/** Equal for equal requests, whatever the files hold and wherever the reports go. */
function fingerprint({ sources, reader, include, exclude, aggregate }: ImportRequest): string {
  const request = {
    import: sources.map(({ name }) => name),
    reader,
    include,
    exclude,
    aggregate,
  };
  return `sha256:${createHash("sha256").update(JSON.stringify(request)).digest("hex")}`;
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
