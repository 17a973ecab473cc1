/** The file of the contract, and the stored form of reports. */

import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { packageInfo } from "../../engine/values/package-info.ts";
import type {
  KernelRecord,
  NCUProfileRegion,
  NCUProfileRegionReport,
  RegionReportBundle,
  ReportScope,
} from "./document.ts";
import { regionKey } from "./report-files.ts";

/** Version of what `deep-profile query --json` prints, `major.minor`; a minor version only adds. */
export const QUERY_CONTRACT = "hydraconf.query/1.3";

/** The versions that can be read. */
export const QUERY_CONTRACTS: readonly string[] = [QUERY_CONTRACT];

/** A bundle of which kernels or names are stored once, with all of them where they belong. */
export const wholeBundle = (stored: RegionReportBundle): RegionReportBundle =>
  withAllKernels(withWholeNames(stored));

/** Up to this number of kernel records are stored again although an earlier report has them. */
const MOST_REPEATED_KERNELS = 2_000;

/**
 * The stored form of a bundle: if reports share long lists of kernels, as those of one process and one device do, the
 * lists are stored once.
 */
export function withKernelsOnce(bundle: RegionReportBundle): RegionReportBundle {
  const { contract, reports } = bundle;
  const records = (report: NCUProfileRegionReport): number =>
    allEntries(report).reduce((sum, { kernels }) => sum + kernels.length, 0);
  if (reports.slice(1).reduce((sum, report) => sum + records(report), 0) <= MOST_REPEATED_KERNELS)
    return bundle;
  const distinct: { readonly scope: ReportScope; readonly kernelsOf: KernelsOf }[] = [];
  return {
    contract,
    reports: reports.map((report) => {
      const first = distinct.find(({ kernelsOf }) =>
        allEntries(report).every((region) => haveSameKernels(region.kernels, kernelsOf(region))),
      );
      if (first !== undefined)
        return {
          ...withEntries(report, (region) => ({ ...region, kernels: [] })),
          kernels_of: first.scope,
        };
      distinct.push({ scope: report.scope, kernelsOf: kernelsIn(report) });
      return report;
    }),
  };
}

type KernelsOf = (region: NCUProfileRegion) => readonly KernelRecord[] | undefined;

function kernelsIn(report: NCUProfileRegionReport): KernelsOf {
  const all = new Map(allEntries(report).map((region) => [regionKey(region), region.kernels]));
  return (region) => all.get(regionKey(region));
}

/** Regions and families. A family has a path of its own. */
const allEntries = ({ regions, families = [] }: NCUProfileRegionReport) =>
  families.length === 0 ? regions : [...regions, ...families];

const withEntries = (
  report: NCUProfileRegionReport,
  change: (region: NCUProfileRegion) => NCUProfileRegion,
): NCUProfileRegionReport => ({
  ...report,
  regions: report.regions.map(change),
  ...(report.families !== undefined && { families: report.families.map(change) }),
});

/** If kernel names take more characters than this in a file, each long name is stored once. */
const MOST_REPEATED_CHARACTERS = 8_000_000;
/** Maximum length of the readable part of a short name. */
const MOST_SHORT_NAME = 20;

/**
 * Replaces kernel names in the records by short ones, and stores the full names once, if the names would take most of
 * the file.
 */
export function withNamesOnce(
  bundle: RegionReportBundle,
  mostRepeated = MOST_REPEATED_CHARACTERS,
): RegionReportBundle {
  const shortNames = new Map<string, string>();
  let all = 0;
  let distinct = 0;
  for (const report of bundle.reports)
    for (const { kernels, repeats } of allEntries(report))
      for (const { kernel_name: name } of [...kernels, ...(repeats?.kernels ?? [])]) {
        all += name.length;
        if (shortNames.has(name)) continue;
        distinct += name.length;
        shortNames.set(name, shortName(name, shortNames.size));
      }
  if (all - distinct <= mostRepeated) return bundle;
  return {
    contract: bundle.contract,
    kernel_names: Object.fromEntries([...shortNames].map(([whole, short]) => [short, whole])),
    reports: renamed(bundle.reports, (name) => shortNames.get(name)),
  };
}

/**
 * The first short name that is not in use, made from the name of the function: `void at::native::gemm<float>(float*)`
 * becomes `gemm#0`.
 */
function shortName(name: string, number: number): string {
  const word = /[\p{L}_][\p{L}\p{N}_]*(?=[<(]|$)/u.exec(name)?.[0] ?? "kernel";
  return `${[...word].slice(0, MOST_SHORT_NAME).join("")}#${number}`;
}

const withWholeNames = (stored: RegionReportBundle): RegionReportBundle => {
  const { kernel_names, ...bundle } = stored;
  if (kernel_names === undefined) return stored;
  const whole = new Map(Object.entries(kernel_names));
  return { ...bundle, reports: renamed(bundle.reports, (name) => whole.get(name)) };
};

const renamed = (
  reports: readonly NCUProfileRegionReport[],
  nameOf: (name: string) => string | undefined,
): readonly NCUProfileRegionReport[] => {
  const named = <Kernel extends Pick<KernelRecord, "kernel_name">>(kernels: readonly Kernel[]) =>
    kernels.map((kernel) => ({
      ...kernel,
      kernel_name: nameOf(kernel.kernel_name) ?? kernel.kernel_name,
    }));
  return reports.map((report) =>
    withEntries(report, ({ repeats, ...region }) => ({
      ...region,
      kernels: named(region.kernels),
      ...(repeats && {
        repeats: { ...repeats, ...(repeats.kernels && { kernels: named(repeats.kernels) }) },
      }),
    })),
  );
};

/** Compares kernels in order. Times are compared before the counters, which are objects. */
const haveSameKernels = (
  some: readonly KernelRecord[],
  others: readonly KernelRecord[] | undefined,
): boolean =>
  some === others ||
  (some.length === others?.length &&
    some.every((kernel, index) => isDeepStrictEqual(kernel, others[index])));

function withAllKernels(bundle: RegionReportBundle): RegionReportBundle {
  const { contract, reports } = bundle;
  if (reports.every(({ kernels_of }) => kernels_of === undefined)) return bundle;
  return {
    contract,
    reports: reports.map((report) => {
      const { kernels_of, ...whole } = report;
      const from = reports.find(({ scope }) => scope === kernels_of);
      if (from === undefined) return report;
      const kernelsOf = kernelsIn(from);
      return withEntries(whole, (region) => ({
        ...region,
        kernels: kernelsOf(region) ?? region.kernels,
      }));
    }),
  };
}

/** The contract file in terms of OpenAPI 3.1; its schemas are JSON Schema 2020-12. */
export interface ContractDocument {
  readonly components: { readonly schemas: Readonly<Record<string, ContractSchema>> };
}

/** The keywords of a JSON Schema of the contract that our code reads. */
export interface ContractSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, ContractSchema>>;
  readonly required?: readonly string[];
}

/** The absolute path of the contract, `region-report.openapi.yaml`, in this package. */
export const contractFile = (): string =>
  join(packageInfo().root, "schemas", "region-report.openapi.yaml");
