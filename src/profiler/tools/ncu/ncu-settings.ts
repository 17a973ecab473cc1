/** Requirements of `pipeline.ncu` on its own keys and on the installed ncu. */

import { isCodedError } from "../../../engine/values/errors.ts";
import { firstFew } from "../../../foundation/text/plural.ts";
import {
  type Check,
  type Machine,
  probeNsight,
  type Verdict,
} from "../../machine/doctor/machine.ts";
import { findNsightTool } from "../../machine/find-tools.ts";
import { otherName } from "../../machine/metric-names.ts";
import { type MetricSource, openReadyMetricSource } from "../../machine/metric-source.ts";
import { RECORDED_METRICS } from "../../machine/recorded-metrics.ts";
import { measuresTogether } from "../profiler-config.ts";
import type { DoctorFacts, ToolFindings, ToolSettings } from "../tool.ts";
import { probeNcu, requireNcu } from "./run/capabilities.ts";
import { checkModes, checkOptions } from "./run/cli-options.ts";

export const ncuSettings: ToolSettings = {
  refusals: [
    {
      key: "pipeline.ncu.top_n_kernels",
      applies: ({ pipeline: { ncu } }) =>
        (ncu.top_n_kernels ?? null) !== null && measuresTogether(ncu.ncu_cli),
      message: "ncu measures a range or a graph as a whole, without telling its kernels apart",
      hint: "pipeline.ncu.top_n_kernels=null, or pipeline.ncu.ncu_cli.replay_mode=kernel without graph_profiling=graph",
    },
  ],
  checks: ({ pipeline: { ncu } }, { isPlan }) =>
    findNsightTool("ncu") === null
      ? [() => checkModes(ncu.ncu_cli), ...(isPlan ? [] : [requireNcu])]
      : [async () => checkOptions(ncu.ncu_cli, await probeNcu(requireNcu()))],
};

export async function examineNcu(facts: DoctorFacts): Promise<ToolFindings> {
  const [check, chip] = await Promise.all([
    probeNsight(facts.machine, "ncu", "Nsight Compute"),
    probeChip(facts),
  ]);
  return {
    checks: [check, ...(chip === null ? [] : [chip])],
    verdicts: [verdictOf(check, facts)],
  };
}

/** The chip of the first GPU, and what it lacks; null if that is not known. */
export async function probeChip(
  { machine, gpu: { absence } }: Pick<DoctorFacts, "machine" | "gpu">,
  open: (machine: Machine) => Promise<MetricSource> = openReadyMetricSource,
): Promise<Check | null> {
  if (absence !== null) return null;
  const name = "chip";
  try {
    const { library } = await open(machine);
    const chip = (await library?.chipOfDevice(0)) ?? null;
    if (library === null || chip === null) return null;
    const wanted = Object.keys(RECORDED_METRICS.metrics);
    const [answer] = await library.describe([chip], wanted);
    const [sampled] = await library.describe([chip], wanted, "samples");
    const inOnePass = sampled?.metrics.filter(({ passes }) => passes === 1).length ?? 0;
    const there = new Set(answer?.metrics.map((metric) => metric.name));
    const lacking = wanted.filter(
      (metric) => !there.has(metric) && !there.has(otherName(metric) ?? metric),
    );
    const has = lacking.length === 0 ? "has every metric that" : "lacks metrics that";
    const names = lacking.length === 0 ? "" : `: ${firstFew(lacking, MOST_NAMES)}`;
    return {
      name,
      state: "ok",
      detail: `${chip} ${has} presets and reports name${names}; ${inOnePass} of its ${there.size} take one pass alone at an interval (pipeline.counters.timeline)`,
    };
  } catch (error) {
    if (!isCodedError(error)) throw error;
    // The other checks tell whether CUPTI is there.
    if (error.code === "profile.metric_library") return null;
    const { message, hint } = error.details;
    return { name, state: "warning", detail: message, ...(hint !== undefined && { hint }) };
  }
}

const MOST_NAMES = 6;

function verdictOf({ state }: Check, { gpu: { absence, countersAllowed } }: DoctorFacts): Verdict {
  const name = "ncu";
  if (state !== "ok") return { name, works: "no", detail: "ncu is not usable" };
  if (absence !== null)
    return { name, works: "partly", detail: `reads reports (deep-profile import); ${absence}` };
  if (countersAllowed === false)
    return { name, works: "partly", detail: "reads reports; GPU counters are not allowed" };
  return { name, works: "yes", detail: "hardware metrics per region (pipeline.ncu.enable=true)" };
}
