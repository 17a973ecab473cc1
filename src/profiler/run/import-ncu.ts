/** Imports files of Nsight Compute: passes or processes of one program. */
import { getOrCreate } from "../../foundation/system/get-or-create.ts";
import { createKernelSelection } from "../analysis/kernel-selection.ts";
import { createLabelUnifier, type LabelRules } from "../analysis/labels.ts";
import type { RegionModel } from "../analysis/region-model.ts";
import { addSections, type NcuResult, type NcuTables } from "../model/counters.ts";
import type { ImportSource, NcuResults, ReadOptions } from "../tools/importer.ts";
import {
  type AssembleOptions,
  createNcuAssembly,
  type NcuAssembly,
} from "../tools/ncu/assemble/assembly.ts";
import { asRecorded } from "../tools/ncu/read-results.ts";
import { createStateUnifier } from "../tools/ncu/run/measured-states.ts";
import { regionTableWriter } from "../tools/ncu/write-region-tables.ts";
import { inputError } from "../tools/source-file.ts";
import type { ImportTool, WriteRegionFiles } from "../tools/tool.ts";

/** A request to make reports of files. */
export interface ImportRequest {
  readonly sources: readonly ImportSource[];
  /** Absolute path of the existing directory for the reports. */
  readonly directory: string;
  readonly reader: ReadOptions["reader"];
  readonly numberFormat: ReadOptions["numberFormat"];
  /** The regions to show. */
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly aggregate: boolean;
  /** Rules that unify labels; without them, labels are those of the program. */
  readonly labels?: LabelRules;
  readonly kernels: KernelChoice;
  /** With `process`, kernels of threads without ranges belong to the ranges of another thread. */
  readonly pushPopScope: "thread" | "process";
  /** Whether exports of nsys are of ranks, in their order; otherwise only if their names say so. */
  readonly ranks?: boolean;
  readonly now: Date;
  readonly withTool: ReadOptions["withTool"];
  readonly say: (line: string) => void;
  /** Default: those of the table. */
  readonly tools?: readonly ImportTool[];
}

/** The kernels of ncu that count. */
export interface KernelChoice {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly nameBase: "function" | "demangled" | "mangled";
  /** Restricts them to this many kernels with the most GPU time in a recording that is also given; null for all. */
  readonly top: number | null;
}

export interface ImportedNcu {
  readonly name: string;
  readonly source: NcuResults;
}

export interface NcuImportOptions
  extends Pick<
    ImportRequest,
    "include" | "exclude" | "aggregate" | "labels" | "kernels" | "pushPopScope" | "say"
  > {
  /** The regions of a recording that is also given. */
  readonly recorded: RegionModel | null;
  /** Names of the longest kernels in it; null for no restriction. */
  readonly topNames: readonly string[] | null;
}

export interface NcuModel {
  /** Empty, or `-ranges` if the files contain kernels and ranges, which cannot be in one report. */
  readonly suffix: string;
  readonly model: RegionModel;
  readonly toolVersion: string | null;
  readonly gpus: readonly string[];
  /** Names of files that are truncated or damaged. */
  readonly incomplete: readonly string[];
  readonly writeRegionFiles: WriteRegionFiles;
}

/**
 * All files are one measurement: passes of one program, or its processes.
 *
 * @throws ConfigError `profile.input` if nothing could be read, since all files are truncated or damaged, and no
 * recording is given
 */
export async function importNcu(
  files: readonly ImportedNcu[],
  options: NcuImportOptions,
): Promise<readonly NcuModel[]> {
  const unifier = createLabelUnifier(options.labels);
  const assembleOptions = {
    ...assembleOptionsOf(options),
    unifier,
    ...(options.labels && { labels: options.labels }),
  };
  const labelOf = asRecorded(unifier, options.recorded ?? null);
  const stateOf = labelOf === null ? null : createStateUnifier(labelOf);
  const unified = (result: NcuResult): NcuResult =>
    stateOf === null ? result : { ...result, nvtx: stateOf(result.nvtx) };
  const assemblies = new Map<NcuResult["kind"], NcuAssembly>();
  const gpus = new Set<string>();
  const repeated = createRepeatedResults();
  const { sections, notes, incomplete } = await streamAll(files, (result, file) => {
    repeated.see(file, result);
    if (result.deviceName !== null) gpus.add(result.deviceName);
    getOrCreate(assemblies, result.kind, () => createNcuAssembly(assembleOptions)).add(
      unified(result),
    );
  });
  const [first] = incomplete;
  const isNothing = assemblies.size === 0 && options.recorded === null;
  if (isNothing && first !== undefined && incomplete.length === files.length)
    throw inputError(
      first,
      "nothing could be read: the report is truncated or damaged before its first complete result",
      "measure again, or copy the file again if a copy was interrupted",
    );
  // An empty report says that nothing was measured.
  if (assemblies.size === 0)
    assemblies.set("kernel", createNcuAssembly({ aggregate: options.aggregate }));
  const both = assemblies.size > 1;
  return [...assemblies].sort(kernelsFirst).map(([kind, assembly]): NcuModel => {
    const ownNotes = both
      ? [`the files hold kernels and ranges: this report covers the ${kind}s`]
      : [];
    return {
      suffix: both && kind === "range" ? "-ranges" : "",
      model: assembly.finish({ sections, notes: [...notes, ...repeated.notes(), ...ownNotes] }),
      toolVersion: files[0]?.source.toolVersion ?? null,
      gpus: [...gpus].sort(),
      incomplete,
      writeRegionFiles: regionTableWriter(assembly, (onResult) =>
        streamAll(files, (result) => onResult(unified(result))),
      ),
    };
  });
}

function assembleOptionsOf(options: NcuImportOptions): AssembleOptions {
  const { include, exclude, aggregate, pushPopScope, recorded, kernels, topNames } = options;
  const kernelPatterns = {
    include: kernels.include,
    exclude: kernels.exclude,
    nameBase: kernels.nameBase,
  };
  const isByPatterns = kernels.include.length + kernels.exclude.length > 0;
  return {
    selection: { include, exclude },
    aggregate,
    pushPopScope,
    recorded,
    rangePatterns: include,
    kernels: createKernelSelection({
      ...kernelPatterns,
      top: topNames,
      keys: { include: "--kernel", exclude: "--kernel-exclude" },
    }),
    ...(isByPatterns && { kernelPatterns }),
  };
}

/** The results of all files, and facts about all of them. */
async function streamAll(
  files: readonly ImportedNcu[],
  onResult: (result: NcuResult, file: string) => void,
): Promise<NcuTables & Pick<NcuModel, "incomplete">> {
  const sections = new Map<string, readonly string[]>();
  const notes: string[] = [];
  const incomplete: string[] = [];
  for (const { name, source } of files) {
    const streamed = await source.stream((result) => onResult(result, name));
    notes.push(...streamed.notes);
    addSections(sections, streamed.sections);
    if (streamed.isIncomplete === true) incomplete.push(name);
  }
  return { sections, notes, incomplete };
}

const kernelsFirst = ([a]: [NcuResult["kind"], unknown], [b]: [NcuResult["kind"], unknown]) =>
  a < b ? -1 : a > b ? 1 : 0;

/** Detects different tables of one report, which would count each kernel several times. */
interface RepeatedResults {
  see(file: string, result: NcuResult): void;
  notes(): readonly string[];
}

/** The number of results of each file that are compared: tables of one report have equal first results. */
const MOST = 1000;

function createRepeatedResults(): RepeatedResults {
  const fileOf = new Map<string, string>();
  const seen = new Map<string, number>();
  const repeats = new Map<string, { readonly files: readonly string[]; readonly what: string }>();

  return {
    see(file, { kind, processId, id, kernelName }) {
      const count = seen.get(file) ?? 0;
      if (kind !== "kernel" || count >= MOST) return;
      seen.set(file, count + 1);
      const key = `${processId} ${id} ${kernelName}`;
      const first = fileOf.get(key);
      if (first === undefined) fileOf.set(key, file);
      else if (first !== file && !repeats.has(`${first}\0${file}`))
        repeats.set(`${first}\0${file}`, {
          files: [first, file],
          what: `result ${id} of process ${processId}`,
        });
    },
    notes: () =>
      [...repeats.values()].map(
        ({ files, what }) =>
          `${files.join(" and ")} both have ${what}: if both are tables of one report, its kernels count twice; give only one of them`,
      ),
  };
}
