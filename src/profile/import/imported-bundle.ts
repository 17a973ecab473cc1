import { createHash } from "node:crypto";
import { dateTime } from "../../report/date-time.ts";
import type { RegionReportBundle, ReportEnvironment } from "../../report/document.ts";
import { packageInfo } from "../../values/package-info.ts";
import type { RecordedMachine } from "../nsys/read/machine.ts";
import { type RegionModel, toReportBundle } from "../regions/index.ts";
import type { ImportRequest } from "./import-files.ts";

/** Where a report's numbers come from, as far as the files say it. */
interface Provenance {
  readonly toolVersion: string | null;
  readonly machine: RecordedMachine | null;
  readonly names: readonly string[];
}

/** The report of an import: what a run knows of itself is unknown, or is told from the request. */
export function importedBundle(
  model: RegionModel,
  request: ImportRequest,
  { toolVersion, machine, names }: Provenance,
): RegionReportBundle {
  return toReportBundle(model, {
    generatedAt: dateTime(request.now),
    configFingerprint: fingerprint(request),
    collectorVersion: toolVersion ?? "unknown",
    environment: environmentOf(machine),
    notes: [`imported from ${names.join(", ")}`],
  });
}

/** Equal for equal requests, whatever the files hold and wherever the reports go. */
function fingerprint(request: ImportRequest): string {
  const { sources, directory: _directory, now: _now, say: _say, ...options } = request;
  const text = JSON.stringify({ import: sources.map(({ name }) => name), ...options });
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}

/** The files say little of the machine they were recorded on, and it need not be this one. */
const environmentOf = (machine: RecordedMachine | null): ReportEnvironment => ({
  hostname: machine?.hostname ?? "unknown",
  os: machine?.os ?? "unknown",
  cpu: machine?.cpu ?? "unknown",
  gpus: machine?.gpus ?? [],
  command: [],
  device: null,
  hydraconf_version: packageInfo().version,
});
