import {
  CONTRACT,
  type NCUProfileRegionReport,
  type RegionReportBundle,
  type ReportSelection,
} from "./document.ts";
import { type Placed, told } from "./region-path.ts";

/** Contracts that do not tell the domains of the ranges around a region. */
const WITHOUT_PATH_DOMAINS: ReadonlySet<string> = new Set([
  "hydraconf.region-report/1.0",
  "hydraconf.region-report/1.1",
]);

/** A report as the latest contract has it: what older ones do not tell is concluded, or null. */
export function upgraded(bundle: RegionReportBundle): RegionReportBundle {
  const { contract, reports } = bundle;
  if (contract === CONTRACT) return bundle;
  const placed = WITHOUT_PATH_DOMAINS.has(contract) ? reports.map(withPathDomains) : reports;
  return { contract: CONTRACT, reports: placed.map(withSelection) };
}

/** The selection of a run is that of each of its regions; one that took no region is not known. */
function withSelection(report: NCUProfileRegionReport): NCUProfileRegionReport {
  const [region] = report.regions;
  if (report.selection !== undefined || region === undefined) return report;
  const { include_patterns, exclude_patterns } = region.selection;
  // Unless told otherwise, ncu measures what the patterns take.
  const isFilter =
    report.collector.name === "ncu" && include_patterns.length + exclude_patterns.length > 0;
  const applies_to: ReportSelection["applies_to"] = isFilter ? "measurement" : "report";
  return { ...report, selection: { applies_to, ...region.selection } };
}

/** The range around a region is the one that the report has at that path, unless there are several. */
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
      return { ...region, ...told(region.domain, [...around, region.domain]) };
    }),
  };
}
