/** Where the numbers of a report come from. */
import { shellCommand } from "../../foundation/text/shell-words.ts";
import { code, type Table, type Text, tableOf } from "../../pages/blocks.ts";
import { NOT_MEASURED } from "../../pages/numbers.ts";
import type { NCUProfileRegionReport } from "../model/document.ts";

interface Fact {
  readonly name: string;
  readonly value: Text;
}

/** Where the numbers come from. */
export function provenanceTable(report: NCUProfileRegionReport): Table {
  const { collector, environment } = report;
  const clocks = [
    collector.wall_clock === null ? null : `wall ${collector.wall_clock}`,
    collector.kernel_clock === null ? null : `kernels ${collector.kernel_clock}`,
  ].filter((clock) => clock !== null);
  const { command } = environment;
  const facts: readonly Fact[] = [
    {
      name: "Command",
      value: command.length === 0 ? NOT_MEASURED : [code(shellCommand(command))],
    },
    { name: "Config fingerprint", value: [code(report.config_fingerprint)] },
    { name: "Collector", value: `${collector.name} ${collector.version}` },
    { name: "Clocks", value: clocks.length === 0 ? NOT_MEASURED : clocks.join(", ") },
    { name: "Device", value: environment.device ?? "the workload did not say" },
    { name: "Machine", value: machineText(environment) },
    { name: "GPUs", value: gpusText(environment) },
    { name: "hydraconf", value: environment.hydraconf_version },
    { name: "Generated", value: report.generated_at },
  ];
  return tableOf<Fact>(
    [
      { title: "Provenance", cell: ({ name }) => name },
      { title: "", cell: ({ value }) => value },
    ],
    facts,
  );
}

function gpusText({ gpus, cpu }: NCUProfileRegionReport["environment"]): string {
  if (gpus.length > 0) return gpus.join(", ");
  // An imported file that does not name its machine may come from one with GPUs.
  return cpu === "unknown" ? "unknown" : "none";
}

/** Imported files do not name the machine on which they were made. */
function machineText({ hostname, os, cpu }: NCUProfileRegionReport["environment"]): string {
  const known = [hostname, os, cpu].filter((text) => text !== "unknown");
  return known.length === 0 ? "unknown" : known.join(", ");
}
