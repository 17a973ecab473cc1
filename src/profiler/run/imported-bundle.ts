/** The reports of imported files. */
import { createHash } from "node:crypto";
import { basename, join } from "node:path";
import { packageInfo } from "../../engine/values/package-info.ts";
import { isError } from "../../foundation/system/builtin-types.ts";
import { dateTime } from "../../foundation/text/date-time.ts";
import type { RegionReportBundle, ReportEnvironment } from "../../report/model/document.ts";
import type { RunSection } from "../../report/view/run-summary.ts";
import { FILES_BESIDE_PAGE, writeReports, writeRunReports } from "../../report/write-reports.ts";
import type { LabelRules } from "../analysis/labels.ts";
import type { RegionModel } from "../analysis/region-model.ts";
import { toReportBundle } from "../analysis/to-report.ts";
import type { RecordedMachine, Timeline } from "../model/timeline.ts";
import { encodeTimeline } from "./encode-timeline.ts";
import type { ImportRequest } from "./import-ncu.ts";
import { labelsShown, TRACE_FILES, writeTraces } from "./write-run.ts";

/** The reports of the files of one tool. */
export interface ImportedReport {
  readonly collector: string;
  /** Name of its folder in the output directory. */
  readonly folder: string;
  readonly bundle: RegionReportBundle;
  /** Names of files that are truncated or damaged, so that the report lacks some of their results. */
  readonly incomplete?: readonly string[];
  /** The timeline; absent if the tool does not record one. */
  readonly timeline?: Timeline;
  /** Writes additional files into the folders of single regions, by `regionKey`. */
  readonly writeRegionFiles?: (directories: ReadonlyMap<string, string>) => Promise<void>;
}

/** The origin of a report's numbers, as far as the files contain it. */
interface Provenance {
  readonly toolVersion: string | null;
  readonly machine: RecordedMachine | null;
  readonly names: readonly string[];
}

/** The report of an import: facts about the run are unknown, or taken from the request. */
export function importedBundle(
  model: RegionModel,
  request: ImportRequest,
  { toolVersion, machine, names }: Provenance,
): RegionReportBundle {
  return toReportBundle(model, {
    generatedAt: dateTime(request.now),
    configFingerprint: fingerprint(request),
    collectorVersion: toolVersion ?? "unknown",
    environment: environmentOf(machine),
    notes: [`${IMPORTED_FROM}${names.join(", ")}`],
  });
}

const IMPORTED_FROM = "imported from ";

/** The title of a page that no command made. */
const sourceOf = ({ reports: [main] }: RegionReportBundle): { readonly source?: string } => {
  const note = main?.notes.find((each) => each.startsWith(IMPORTED_FROM));
  if (note === undefined) return {};
  const names = note.slice(IMPORTED_FROM.length).split(", ");
  return { source: names.map((name) => basename(name)).join(", ") };
};

/** Equal for equal requests, independent of the contents of the files and the output directory. */
function fingerprint(request: ImportRequest): string {
  const {
    sources,
    directory: _directory,
    now: _now,
    say: _say,
    tools: _tools,
    ...options
  } = request;
  const text = JSON.stringify({ import: sources.map(({ name }) => name), ...options });
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}

/** The files contain little about the machine on which they were recorded, which may be another one. */
const environmentOf = (machine: RecordedMachine | null): ReportEnvironment => ({
  hostname: machine?.hostname ?? "unknown",
  os: machine?.os ?? "unknown",
  cpu: machine?.cpu ?? "unknown",
  gpus: machine?.gpus ?? [],
  command: [],
  device: null,
  hydraconf_version: packageInfo().version,
});

export interface WrittenImport {
  /** Absolute paths, the main one first. */
  readonly reports: readonly string[];
  /** Files that could not be written, one line each. */
  readonly problems: readonly string[];
}

/** An import has no config; its page links to the files beside it. */
const PAGE = { config: [], files: [...FILES_BESIDE_PAGE, "../../report.md"] };

export interface WriteImportOptions {
  readonly html: boolean;
  /** Whether traces for viewers are written, too. */
  readonly trace?: boolean;
  /** The rules that unify the labels of regions. */
  readonly labels?: LabelRules;
}

/** Writes the reports of an import like those of a run: per collector, and in total. */
export async function writeImported(
  reports: readonly ImportedReport[],
  directory: string,
  { html, trace = false, labels }: WriteImportOptions,
): Promise<WrittenImport> {
  const sections: RunSection[] = [];
  const bundles: string[] = [];
  const pages: string[] = [];
  const problems: string[] = [];
  const traces: string[] = [];
  for (const { collector, folder, bundle, timeline, writeRegionFiles } of reports) {
    if (trace && timeline !== undefined)
      traces.push(...(await writeTraces(timeline, join(directory, folder))));
    const written = await writeReports(bundle, join(directory, folder), {
      beside: reports.flatMap((other) => (other.bundle === bundle ? [] : [other.bundle])),
      ...(html && {
        html: {
          ...PAGE,
          ...sourceOf(bundle),
          ...(timeline !== undefined && {
            timeline: encodeTimeline(timeline, labelsShown(bundle, labels)),
          }),
          files:
            trace && timeline !== undefined
              ? [...PAGE.files, ...TRACE_FILES.map((name) => `../${name}`)]
              : PAGE.files,
        },
      }),
    });
    try {
      await writeRegionFiles?.(written.regionDirectories);
    } catch (error) {
      // The reports are complete: a failure of additional files must not discard them.
      if (!isError(error)) throw error;
      problems.push(`tables of the regions of ${collector}: ${error.message}`);
    }
    sections.push({
      collector,
      directory: folder,
      bundle,
      html: written.html !== null,
      regionDirectories: written.regionDirectories,
    });
    bundles.push(written.json);
    if (written.html !== null) pages.push(written.html);
    problems.push(...written.problems);
  }
  const overview = join(directory, "report.md");
  const ofRun = await writeRunReports(directory, { sections, notes: [] });
  return {
    reports: [
      overview,
      ...pages,
      ...bundles,
      ...ofRun.filter((file) => file !== overview),
      ...traces,
    ],
    problems,
  };
}
