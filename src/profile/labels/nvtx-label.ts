import type { RangeKind } from "../timeline/timeline.ts";

/** A kind of range that a program opens, whatever it is nested in. */
export interface NvtxLabel {
  /** Empty for NVTX's default domain. */
  readonly domain: string;
  /** As reports show it. */
  readonly name: string;
  readonly kind: RangeKind;
  /** Where label rules gave it that name: regular expressions of what the program calls it. */
  readonly written?: readonly string[];
}
