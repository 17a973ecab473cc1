import { CONTRACT, type NCUProfileRegionReport, type RegionReportBundle } from "./document.ts";
import { type Placed, told } from "./region-path.ts";

/** Contracts that do not tell the domains of the ranges around a region. */
const WITHOUT_PATH_DOMAINS: ReadonlySet<string> = new Set([
  "hydraconf.region-report/1.0",
  "hydraconf.region-report/1.1",
]);

/** A report as the latest contract has it: what older ones do not tell is concluded, or null. */
export const upgraded = (bundle: RegionReportBundle): RegionReportBundle =>
  WITHOUT_PATH_DOMAINS.has(bundle.contract)
    ? { contract: CONTRACT, reports: bundle.reports.map(withPathDomains) }
    : bundle;

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
