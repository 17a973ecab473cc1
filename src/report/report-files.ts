import { join } from "node:path";

/** The folder of a collector's reports, with one of each region below it. */
export const regionsFolder = (collectorDirectory: string): string =>
  join(collectorDirectory, "regions");

/** The report of all its regions. */
export const regionReportFile = (collectorDirectory: string): string =>
  join(regionsFolder(collectorDirectory), "report.json");
