/** Checks of the recorder on a machine: the native part, and CUPTI, which it needs for kernels. */
import { probeCupti } from "../../machine/doctor/cupti.ts";
import type { Check, Verdict } from "../../machine/doctor/machine.ts";
import type { DoctorFacts, ToolFindings } from "../tool.ts";

export async function examineRecorder(facts: DoctorFacts): Promise<ToolFindings> {
  const cupti = await probeCupti(facts.machine);
  return { checks: [cupti], verdicts: [ofRanges(facts), ofKernels(facts, cupti)] };
}

const ofRanges = ({ nativeUsable: usable }: DoctorFacts): Verdict => ({
  name: "recorder",
  works: usable ? "yes" : "no",
  detail: usable
    ? "wall time of every NVTX range, and CPU operations"
    : "the native part cannot be built",
});

function ofKernels({ nativeUsable, gpu }: DoctorFacts, cupti: Check): Verdict {
  const name = "recorder with kernels";
  if (!nativeUsable) return { name, works: "no", detail: "the native part cannot be built" };
  if (gpu.absence !== null) return { name, works: "no", detail: gpu.absence };
  return cupti.state === "ok"
    ? { name, works: "yes", detail: "kernels and GPU time per region" }
    : { name, works: "no", detail: "CUPTI was not found" };
}
