/**
 * The region report contract as TypeScript types: a module without dependencies, so that anyone can import it. The
 * types are made from `schemas/region-report.openapi.yaml`, the same contract for other languages. Times are
 * milliseconds.
 */
import type {
  KernelHardware,
  KernelRecord,
  NCUProfileRegion,
  NCUProfileRegionReport,
} from "./report-types.ts";

export type * from "./report-types.ts";

/** Version of the contract, `major.minor`; a minor version only adds. */
export const CONTRACT = "hydraconf.region-report/1.6";

/** The versions that can be read: all that a release has written. */
export const CONTRACTS: readonly string[] = ["hydraconf.region-report/1.5", CONTRACT];

/** `aggregate`, `rank:<n>` (since 1.5), `process:<pid>` or `device:<id>` with the id `cuda:N` or `cpu`. */
export type ReportScope = NCUProfileRegionReport["scope"];

/** `cuda:N` or `cpu`. */
export type DeviceName = KernelRecord["device"];

/**
 * The resource that is nearest to its peak; `latency` if both are below 60 %, `both` if they differ by less than 10
 * points.
 */
export type Limit = NonNullable<KernelHardware["limited_by"]>;

/** The resource of a multiprocessor that prevents another block. */
export type OccupancyLimit = KernelHardware["occupancy_limited_by"][number];

/** What a thread does, as samples of it tell. */
export type ThreadState = keyof NonNullable<NCUProfileRegion["thread_samples"]>["states"];
