/** Requirements of `pipeline.ncu` on its own keys and on the installed ncu. */

import type { Check, Verdict } from "../../machine/doctor/machine.ts";
import { probeNsight } from "../../machine/doctor/machine.ts";
import { findNsightTool } from "../../machine/find-program.ts";
import { isRangeMode } from "../config.ts";
import type { DoctorFacts, ToolFindings, ToolSettings } from "../tool.ts";
import { probeNcu, requireNcu } from "./run/capabilities.ts";
import { checkModes, checkOptions } from "./run/cli-options.ts";

export const ncuSettings: ToolSettings = {
  refusals: [
    {
      key: "pipeline.ncu.top_n_kernels",
      applies: ({ pipeline: { ncu } }) =>
        (ncu.top_n_kernels ?? null) !== null && isRangeMode(ncu.ncu_cli.replay_mode),
      message: "ncu measures a range as a whole, without telling its kernels apart",
      hint: "pipeline.ncu.top_n_kernels=null, or pipeline.ncu.ncu_cli.replay_mode=kernel",
    },
  ],
  checks: ({ pipeline: { ncu } }, { isPlan }) =>
    findNsightTool("ncu") === null
      ? [() => checkModes(ncu.ncu_cli), ...(isPlan ? [] : [requireNcu])]
      : [async () => checkOptions(ncu.ncu_cli, await probeNcu(requireNcu()))],
};

export async function examineNcu(facts: DoctorFacts): Promise<ToolFindings> {
  const check = await probeNsight(facts.machine, "ncu", "Nsight Compute");
  return { checks: [check], verdicts: [verdictOf(check, facts)] };
}

function verdictOf({ state }: Check, { gpu: { absence, countersAllowed } }: DoctorFacts): Verdict {
  const name = "ncu";
  if (state !== "ok") return { name, works: "no", detail: "ncu is not usable" };
  if (absence !== null)
    return { name, works: "partly", detail: `reads reports (deep-profile import); ${absence}` };
  if (countersAllowed === false)
    return { name, works: "partly", detail: "reads reports; GPU counters are not allowed" };
  return { name, works: "yes", detail: "hardware metrics per region (pipeline.ncu.enable=true)" };
}
