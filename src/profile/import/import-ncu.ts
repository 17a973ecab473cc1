import { getOrCreate } from "../../system/get-or-create.ts";
import type { WriteRegionFiles } from "../collection/collector.ts";
import { createKernelSelection } from "../kernel-selection/select-kernels.ts";
import { createLabelUnifier } from "../labels/label-rules.ts";
import {
  type AssembleOptions,
  createNcuAssembly,
  type NcuAssembly,
} from "../ncu/assemble/index.ts";
import { addSections, type NcuResult, type NcuTables } from "../ncu/results.ts";
import { createStateUnifier } from "../ncu/unified-states.ts";
import { regionTableWriter } from "../ncu/write-region-tables.ts";
import type { RegionModel } from "../regions/index.ts";
import type { ImportRequest } from "./import-files.ts";
import type { NcuSource } from "./importer.ts";
import { createRepeatedResults } from "./repeated-results.ts";

export interface ImportedNcu {
  readonly name: string;
  readonly source: NcuSource;
}

export interface NcuImportOptions
  extends Pick<
    ImportRequest,
    "include" | "exclude" | "aggregate" | "labels" | "kernels" | "pushPopScope" | "say"
  > {
  /** What a recording given beside knows of regions. */
  readonly recorded: RegionModel | null;
  /** Names of the longest kernels there; null: no limit. */
  readonly topNames: readonly string[] | null;
}

export interface NcuModel {
  /** Empty, or `-ranges` where the files hold kernels and ranges, which cannot be one report. */
  readonly suffix: string;
  readonly model: RegionModel;
  readonly toolVersion: string | null;
  readonly gpus: readonly string[];
  readonly writeRegionFiles: WriteRegionFiles;
}

/** One measurement of all files: passes of one program, or its processes. */
export async function importNcu(
  files: readonly ImportedNcu[],
  options: NcuImportOptions,
): Promise<readonly NcuModel[]> {
  const unifier = createLabelUnifier(options.labels);
  const assembleOptions = { ...assembleOptionsOf(options), unifier };
  const stateOf = unifier === null ? null : createStateUnifier(unifier.labelOf);
  const unified = (result: NcuResult): NcuResult =>
    stateOf === null ? result : { ...result, nvtx: stateOf(result.nvtx) };
  const assemblies = new Map<NcuResult["kind"], NcuAssembly>();
  const gpus = new Set<string>();
  const repeated = createRepeatedResults();
  const { sections, notes } = await streamAll(files, (result, file) => {
    repeated.see(file, result);
    if (result.deviceName !== null) gpus.add(result.deviceName);
    getOrCreate(assemblies, result.kind, () => createNcuAssembly(assembleOptions)).add(
      unified(result),
    );
  });
  // A report of nothing says so, too.
  if (assemblies.size === 0)
    assemblies.set("kernel", createNcuAssembly({ aggregate: options.aggregate }));
  const both = assemblies.size > 1;
  return [...assemblies].sort(kernelsFirst).map(([kind, assembly]): NcuModel => {
    const own = both ? [`the files hold kernels and ranges: this report covers the ${kind}s`] : [];
    return {
      suffix: both && kind === "range" ? "-ranges" : "",
      model: assembly.finish({ sections, notes: [...notes, ...repeated.notes(), ...own] }),
      toolVersion: files[0]?.source.toolVersion ?? null,
      gpus: [...gpus].sort(),
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

/** The results of all files, and what the files say of them together. */
async function streamAll(
  files: readonly ImportedNcu[],
  onResult: (result: NcuResult, file: string) => void,
): Promise<NcuTables> {
  const sections = new Map<string, readonly string[]>();
  const notes: string[] = [];
  for (const { name, source } of files) {
    const streamed = await source.stream((result) => onResult(result, name));
    notes.push(...streamed.notes);
    addSections(sections, streamed.sections);
  }
  return { sections, notes };
}

const kernelsFirst = ([a]: [NcuResult["kind"], unknown], [b]: [NcuResult["kind"], unknown]) =>
  a < b ? -1 : a > b ? 1 : 0;
