import type { RegionReportBundle } from "./document.ts";

/** A bundle as the text of its file: readable, keys in the order of the contract, one final newline. */
export const renderBundleJson = (bundle: RegionReportBundle): string =>
  `${JSON.stringify(bundle, null, 2)}\n`;
