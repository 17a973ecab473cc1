import { createKernelSelection, selectsKernels } from "../kernel-selection/index.ts";
import { createNcuAssembly, type NcuAssembly } from "../ncu/assemble/index.ts";
import { joinWallTimes } from "../ncu/join-wall-times.ts";
import type { NcuResult } from "../ncu/results.ts";
import { writeRegionTables } from "../ncu/write-region-tables.ts";
import type { RegionModel } from "../regions/index.ts";
import type { ImportRequest } from "./import-files.ts";
import type { NcuSource } from "./importer.ts";

export interface ImportedNcu {
  readonly name: string;
  readonly source: NcuSource;
}

export interface NcuImportOptions
  extends Pick<
    ImportRequest,
    "include" | "exclude" | "aggregate" | "kernels" | "pushPopScope" | "say"
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
  readonly writeRegionFiles: (
    directory: string,
    names: ReadonlyMap<string, string>,
  ) => Promise<void>;
}

/** One measurement of all files: passes of one program, or its processes. */
export async function importNcu(
  files: readonly ImportedNcu[],
  options: NcuImportOptions,
): Promise<readonly NcuModel[]> {
  const { kernels, topNames } = options;
  const selection = {
    include: kernels.include,
    exclude: kernels.exclude,
    nameBase: kernels.nameBase,
    top: topNames,
    keys: { include: "--kernel", exclude: "--kernel-exclude" },
  };
  const chosen = selectsKernels(selection) ? createKernelSelection(selection) : null;
  const assemblies = new Map<NcuResult["kind"], NcuAssembly>();
  const gpus = new Set<string>();
  const take = (result: NcuResult) => {
    if (result.deviceName !== null) gpus.add(result.deviceName);
    let assembly = assemblies.get(result.kind);
    if (assembly === undefined) {
      assembly = createNcuAssembly({
        selection: { include: options.include, exclude: options.exclude },
        aggregate: options.aggregate,
        pushPopScope: options.pushPopScope,
        recorded: options.recorded,
        rangePatterns: options.include,
        kernels: chosen,
        ...(kernels.include.length + kernels.exclude.length > 0 && {
          kernelPatterns: {
            include: kernels.include,
            exclude: kernels.exclude,
            nameBase: kernels.nameBase,
          },
        }),
      });
      assemblies.set(result.kind, assembly);
    }
    assembly.add(result);
  };

  const sections = new Map<string, readonly string[]>();
  const notes: string[] = [];
  for (const { source } of files) {
    const streamed = await source.stream(take);
    notes.push(...streamed.notes);
    for (const [name, metrics] of streamed.sections)
      sections.set(name, [...new Set([...(sections.get(name) ?? []), ...metrics])]);
  }
  const streamAgain = async (onResult: (result: NcuResult) => void) => {
    for (const { source } of files) await source.stream(onResult);
  };
  // A report of nothing says so, too.
  if (assemblies.size === 0)
    assemblies.set("kernel", createNcuAssembly({ aggregate: options.aggregate }));
  const both = assemblies.size > 1;
  return [...assemblies].sort(kernelsFirst).map(([kind, assembly]): NcuModel => {
    const own = [
      ...notes,
      ...(both ? [`the files hold kernels and ranges: this report is of the ${kind}s`] : []),
    ];
    const model = assembly.finish({ sections, notes: own });
    return {
      suffix: both && kind === "range" ? "-ranges" : "",
      model: options.recorded === null ? model : joinWallTimes(model, options.recorded),
      toolVersion: files[0]?.source.toolVersion ?? null,
      gpus: [...gpus].sort(),
      writeRegionFiles: (directory, names) =>
        writeRegionTables({ directory, names, assembly, stream: streamAgain }),
    };
  });
}

const kernelsFirst = ([a]: [NcuResult["kind"], unknown], [b]: [NcuResult["kind"], unknown]) =>
  a < b ? -1 : a > b ? 1 : 0;
