/** Requirements of `pipeline.counters`, what would run, and what works on this machine. */

import { probeCupti } from "../../machine/doctor/cupti.ts";
import type { Verdict } from "../../machine/doctor/machine.ts";
import type { ProfileConfig } from "../config.ts";
import type { DoctorFacts, ToolFindings, ToolPlan, ToolSettings } from "../tool.ts";
import { countersOf } from "./collector.ts";
import { isSum } from "./values.ts";

export const counterSettings: ToolSettings = {
  refusals: [
    {
      key: "pipeline.counters.metrics",
      applies: (config) => countersOf(config).metrics.length === 0,
      message: "no metric is to be measured",
      hint: "pipeline.counters.metrics='[gpu__time_duration.sum]'",
    },
  ],
};

export function planCounters(argv: readonly string[], config: ProfileConfig): ToolPlan {
  const others = countersOf(config).metrics.filter((metric) => !isSum(metric));
  return {
    runs: [{ command: argv }],
    notes: [
      others.length === 0
        ? "counters: the program runs once for each pass that its metrics take on the GPU's chip"
        : `counters: the program runs once for each pass and each level of nesting, since ranges cannot be summed for ${others.join(", ")}`,
    ],
  };
}

export async function examineCounters(facts: DoctorFacts): Promise<ToolFindings> {
  const cupti = await probeCupti(facts.machine);
  return { checks: [], verdicts: [verdictOf(cupti.state === "ok", facts)] };
}

function verdictOf(hasCupti: boolean, { gpu, nativeUsable }: DoctorFacts): Verdict {
  const name = "counters";
  if (!nativeUsable) return { name, works: "no", detail: "the native part is not usable" };
  if (gpu.absence !== null) return { name, works: "no", detail: gpu.absence };
  if (!hasCupti) return { name, works: "no", detail: "CUPTI was not found" };
  if (gpu.countersAllowed === false)
    return { name, works: "no", detail: "GPU counters are not allowed" };
  return {
    name,
    works: "yes",
    detail: "hardware counters by region without replay (pipeline.counters.enable=true)",
  };
}
