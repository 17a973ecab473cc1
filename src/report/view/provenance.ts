import { shellCommand } from "../../text/shell-words.ts";
import type { NCUProfileRegionReport } from "../model/document.ts";
import { NOT_MEASURED } from "./numbers.ts";

export interface ProvenanceRow {
  readonly name: string;
  /** Plain text, not escaped for anything. */
  readonly text: string;
  /** Whether it is shown as code, for copying. */
  readonly code: boolean;
}

/** Where the numbers come from. */
export function provenanceRows(report: NCUProfileRegionReport): readonly ProvenanceRow[] {
  const { collector, environment } = report;
  const clocks = [
    collector.wall_clock === null ? null : `wall ${collector.wall_clock}`,
    collector.kernel_clock === null ? null : `kernels ${collector.kernel_clock}`,
  ].filter((clock) => clock !== null);
  const row = (name: string, text: string): ProvenanceRow => ({ name, text, code: false });
  const codeRow = (name: string, text: string): ProvenanceRow => ({ name, text, code: true });
  const { command } = environment;
  return [
    command.length === 0 ? row("Command", NOT_MEASURED) : codeRow("Command", shellCommand(command)),
    codeRow("Config fingerprint", report.config_fingerprint),
    row("Collector", `${collector.name} ${collector.version}`),
    row("Clocks", clocks.length === 0 ? NOT_MEASURED : clocks.join(", ")),
    row("Device", environment.device ?? "the workload did not say"),
    row("Machine", machineText(environment)),
    row("GPUs", gpusText(environment)),
    row("hydraconf", environment.hydraconf_version),
    row("Generated", report.generated_at),
  ];
}

function gpusText({ gpus, cpu }: NCUProfileRegionReport["environment"]): string {
  if (gpus.length > 0) return gpus.join(", ");
  // An imported file that does not name its machine may still be from one with GPUs.
  return cpu === "unknown" ? "unknown" : "none";
}

/** Imported files do not name the machine they were made on. */
function machineText({ hostname, os, cpu }: NCUProfileRegionReport["environment"]): string {
  const known = [hostname, os, cpu].filter((text) => text !== "unknown");
  return known.length === 0 ? "unknown" : known.join(", ");
}
