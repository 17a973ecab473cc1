import { getOrCreate } from "../../system/get-or-create.ts";
import type { NCUProfileRegion, NCUProfileRegionReport } from "../document.ts";
import { kernelsOfReport } from "../kernels/kernels-of-report.ts";
import { type KernelSource, longestFirst, sourceOfList } from "./fold-kernels.ts";

/** The lists of kernels that a page shows. */
export interface KernelSources {
  readonly ofReport: (report: NCUProfileRegionReport) => KernelSource;
  readonly ofRegion: (region: NCUProfileRegion) => KernelSource;
}

/** Looks through each list once: a page is built at several levels of detail. */
export function createKernelSources(): KernelSources {
  const reports = new Map<NCUProfileRegionReport, KernelSource>();
  const regions = new Map<NCUProfileRegion, KernelSource>();
  return {
    ofReport: (report) => getOrCreate(reports, report, () => sourceOfReport(report)),
    ofRegion: (region) => getOrCreate(regions, region, () => sourceOfList(() => region.kernels)),
  };
}

function sourceOfReport(report: NCUProfileRegionReport): KernelSource {
  const { times, calls, longest } = kernelsOfReport(report);
  return { times: longestFirst(times), calls, longest };
}
