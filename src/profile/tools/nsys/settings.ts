/** What `pipeline.nsys` needs of its own keys and of the installed nsys. */
import { probeNsight } from "../../machine/doctor/nsight.ts";
import type { DoctorFacts, SettingsRefusal, ToolFindings, ToolSettings } from "../tool.ts";
import { checkExtraOptions, traces, tracesCuda } from "./command.ts";
import { requireNsysPath } from "./program.ts";

const CAPTURE_RANGE = "pipeline.nsys.capture_range";
const TRACE = "pipeline.nsys.trace";
const TRACE_BOTH = `"${TRACE}='cuda,nvtx'"`;

const refusals: readonly SettingsRefusal[] = [
  {
    key: CAPTURE_RANGE,
    applies: ({ pipeline: { nsys } }) =>
      nsys.gating_nvtx && nsys.capture_range === "nvtx" && !traces(nsys).includes("nvtx"),
    message: `capture_range=nvtx needs nvtx in ${TRACE}`,
    hint: TRACE_BOTH,
  },
  {
    key: CAPTURE_RANGE,
    applies: ({ pipeline: { nsys } }) =>
      nsys.gating_nvtx && nsys.capture_range === "cudaProfilerApi" && !tracesCuda(nsys),
    message: `capture_range=cudaProfilerApi needs cuda in ${TRACE}`,
    hint: TRACE_BOTH,
  },
  {
    key: TRACE,
    applies: ({ pipeline: { nsys } }) => !traces(nsys).includes("nvtx"),
    message: "nvtx is missing: regions are NVTX ranges",
    hint: TRACE_BOTH,
  },
];

export const nsysSettings: ToolSettings = {
  refusals,
  checks: ({ pipeline: { nsys } }) => [
    () => checkExtraOptions(nsys),
    () => requireNsysPath("pipeline.nsys.enable"),
  ],
};

export async function examineNsys({ machine, gpu }: DoctorFacts): Promise<ToolFindings> {
  const name = "nsys";
  const check = await probeNsight(machine, name, "Nsight Systems");
  if (check.state !== "ok")
    return { checks: [check], verdicts: [{ name, works: "no", detail: "nsys is not usable" }] };
  const verdict =
    gpu.absence === null
      ? ({ works: "yes", detail: "ranges and kernels (pipeline.nsys.enable=true)" } as const)
      : ({
          works: "partly",
          detail: `ranges (pipeline.nsys.enable=true); no kernels: ${gpu.absence}`,
        } as const);
  return { checks: [check], verdicts: [{ name, ...verdict }] };
}
