/** The contract's file, the form in which a report is stored, and reports of earlier versions in the form of the latest. */

import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { packageInfo } from "../../values/package-info.ts";
import {
  CONTRACT,
  type KernelRecord,
  type NCUProfileRegion,
  type NCUProfileRegionReport,
  type RegionReportBundle,
  type ReportScope,
  type ReportSelection,
} from "./document.ts";
import { type Placed, storedDomains } from "./region-path.ts";
import { regionKey } from "./report-files.ts";

/** Version of what `deep-profile query --json` prints, `major.minor`; a minor version only adds. */
export const QUERY_CONTRACT = "hydraconf.query/1.0";

/** Contracts without the domains of the ranges around a region. */
const WITHOUT_PATH_DOMAINS: ReadonlySet<string> = new Set([
  "hydraconf.region-report/1.0",
  "hydraconf.region-report/1.1",
]);

/** A bundle in the form of the latest contract. What an older one lacks is deduced, or null. */
export function upgraded(stored: RegionReportBundle): RegionReportBundle {
  const bundle = withAllKernels(withWholeNames(stored));
  const { contract, reports } = bundle;
  if (contract === CONTRACT) return bundle;
  const placed = WITHOUT_PATH_DOMAINS.has(contract) ? reports.map(withPathDomains) : reports;
  return { contract: CONTRACT, reports: placed.map(withSelection) };
}

/** Records of kernels in the reports after the first that are stored again though another report has them. */
const MOST_REPEATED_KERNELS = 2_000;

/** The bundle as its file holds it: of one process and one device, the long lists of kernels stand there once. */
export function withKernelsOnce(bundle: RegionReportBundle): RegionReportBundle {
  const { contract, reports } = bundle;
  const records = (report: NCUProfileRegionReport): number =>
    report.regions.reduce((sum, { kernels }) => sum + kernels.length, 0);
  if (reports.slice(1).reduce((sum, report) => sum + records(report), 0) <= MOST_REPEATED_KERNELS)
    return bundle;
  const known: { readonly scope: ReportScope; readonly kernelsOf: KernelsOf }[] = [];
  return {
    contract,
    reports: reports.map((report) => {
      const first = known.find(({ kernelsOf }) =>
        report.regions.every((region) => haveSameKernels(region.kernels, kernelsOf(region))),
      );
      if (first !== undefined)
        return {
          ...report,
          kernels_of: first.scope,
          regions: report.regions.map((region) => ({ ...region, kernels: [] })),
        };
      known.push({ scope: report.scope, kernelsOf: kernelsIn(report) });
      return report;
    }),
  };
}

type KernelsOf = (region: NCUProfileRegion) => readonly KernelRecord[] | undefined;

function kernelsIn({ regions }: NCUProfileRegionReport): KernelsOf {
  const all = new Map(regions.map((region) => [regionKey(region), region.kernels]));
  return (region) => all.get(regionKey(region));
}

/** Characters of kernel names that a file repeats before each long name stands there once. */
const MOST_REPEATED_CHARACTERS = 8_000_000;
/** Of the part of a short name that people read. */
const MOST_SHORT_NAME = 20;

/** With short names in the records, and the whole ones once, where the names would take most of the file. */
export function withNamesOnce(
  bundle: RegionReportBundle,
  mostRepeated = MOST_REPEATED_CHARACTERS,
): RegionReportBundle {
  const shortNames = new Map<string, string>();
  let all = 0;
  let distinct = 0;
  for (const { regions } of bundle.reports)
    for (const { kernels } of regions)
      for (const { kernel_name: name } of kernels) {
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

/** `void at::native::gemm<float>(float*)`, the first that is new, as `gemm#0`: what the function is called. */
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
): readonly NCUProfileRegionReport[] =>
  reports.map((report) => ({
    ...report,
    regions: report.regions.map((region) => ({
      ...region,
      kernels: region.kernels.map((kernel) => ({
        ...kernel,
        kernel_name: nameOf(kernel.kernel_name) ?? kernel.kernel_name,
      })),
    })),
  }));

/** Of equal order; what was measured of a kernel is a small object, and stands behind equal times mostly. */
const haveSameKernels = (
  some: readonly KernelRecord[],
  others: readonly KernelRecord[] | undefined,
): boolean =>
  some === others ||
  (some.length === others?.length &&
    some.every((kernel, at) => isDeepStrictEqual(kernel, others[at])));

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
      return {
        ...whole,
        regions: report.regions.map((region) => ({
          ...region,
          kernels: kernelsOf(region) ?? region.kernels,
        })),
      };
    }),
  };
}

/** A run's selection is that of any of its regions; without regions it stays unknown. */
function withSelection(report: NCUProfileRegionReport): NCUProfileRegionReport {
  const [region] = report.regions;
  if (report.selection !== undefined || region === undefined) return report;
  const { include_patterns, exclude_patterns } = region.selection;
  // By default, ncu measures only what the patterns select.
  const isFilter =
    report.collector.name === "ncu" && include_patterns.length + exclude_patterns.length > 0;
  const applies_to: ReportSelection["applies_to"] = isFilter ? "measurement" : "report";
  return { ...report, selection: { applies_to, ...region.selection } };
}

/** The domain of a range around a region is that of the report's region at its path; unknown if there are several. */
function withPathDomains(report: NCUProfileRegionReport): NCUProfileRegionReport {
  const domains = new Map<string, string | null>();
  for (const { path, domain, kind } of report.regions) {
    if (kind === "outside") continue;
    const key = JSON.stringify(path);
    const known = domains.get(key);
    domains.set(key, known === undefined || known === domain ? domain : null);
  }
  const domainAround = ({ path }: Placed, level: number): string | null =>
    domains.get(JSON.stringify(path.slice(0, level + 1))) ?? null;
  return {
    ...report,
    regions: report.regions.map((region) => {
      if (region.path_domains !== undefined || region.path.length === 1) return region;
      const around = region.path.slice(0, -1).map((_, level) => domainAround(region, level));
      return { ...region, ...storedDomains(region.domain, [...around, region.domain]) };
    }),
  };
}

/** The contract file as OpenAPI 3.1 reads it; its schemas are JSON Schema 2020-12. */
export interface ContractDocument {
  readonly components: { readonly schemas: Readonly<Record<string, ContractSchema>> };
}

/** A JSON Schema of the contract, as far as our code reads it. */
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
