import type { ParsedCommand } from "../../command-line/parse.ts";
import { packageInfo } from "../../values/package-info.ts";
import { requireOpenFiles } from "../machine/files.ts";
import { type GpuFindings, probeGpu } from "./doctor/gpu.ts";
import {
  type Check,
  type Findings,
  type Machine,
  thisMachine,
  type Verdict,
} from "./doctor/machine.ts";
import { probeNative } from "./doctor/native-part.ts";
import { renderFindings, renderSummary } from "./doctor/render.ts";
import { probeCupti, probeTool } from "./doctor/tools.ts";
import type { SubcommandIo } from "./subcommand.ts";

/** What `deep-profile doctor` does. */
export async function showDoctor(command: ParsedCommand, io: SubcommandIo): Promise<number> {
  requireOpenFiles();
  const findings = await examine(thisMachine(io.env));
  const render = command.has("verbose") ? renderFindings : renderSummary;
  io.console.stdout(
    command.has("json")
      ? `${JSON.stringify(findings, null, 2)}\n`
      : render(findings, { color: io.console.stdoutColor === true }),
  );
  return canProfile(findings) ? 0 : 1;
}

/** Looks at everything that profiling can use. Runs small programs only, each for seconds at most. */
export async function examine(machine: Machine): Promise<Findings> {
  const { root, version } = packageInfo();
  const [native, gpu, cupti, nsys, ncu] = await Promise.all([
    probeNative(machine, root),
    probeGpu(machine),
    probeCupti(machine),
    probeTool(machine, "nsys"),
    probeTool(machine, "ncu"),
  ]);
  return {
    version,
    checks: [
      {
        name: "Node",
        state: "ok",
        detail: `${process.version} on ${process.platform} ${process.arch}`,
      },
      native.check,
      native.toolchain,
      gpu.driver,
      gpu.permissions,
      cupti,
      nsys,
      ncu,
    ],
    collectors: [
      recorder(native.usable),
      recorderWithKernels(native.usable, gpu, cupti),
      nsysVerdict(nsys, gpu),
      ncuVerdict(ncu, gpu),
    ],
  };
}

/** Whether there is any way to profile at all. */
export const canProfile = ({ collectors }: Findings): boolean =>
  collectors.some(({ works }) => works !== "no");

const recorder = (usable: boolean): Verdict => ({
  name: "recorder",
  works: usable ? "yes" : "no",
  detail: usable
    ? "wall time of every NVTX range, and CPU operations"
    : "the native part cannot be built",
});

function recorderWithKernels(usable: boolean, gpu: GpuFindings, cupti: Check): Verdict {
  const name = "recorder with kernels";
  if (!usable) return { name, works: "no", detail: "the native part cannot be built" };
  if (gpu.absence !== null) return { name, works: "no", detail: gpu.absence };
  return cupti.state === "ok"
    ? { name, works: "yes", detail: "kernels and GPU time per region" }
    : { name, works: "no", detail: "CUPTI was not found" };
}

function nsysVerdict({ state }: Check, gpu: GpuFindings): Verdict {
  const name = "nsys";
  if (state !== "ok") return { name, works: "no", detail: "nsys is not usable" };
  return gpu.absence === null
    ? { name, works: "yes", detail: "ranges and kernels (pipeline.nsys.enable=true)" }
    : {
        name,
        works: "partly",
        detail: `ranges (pipeline.nsys.enable=true); no kernels: ${gpu.absence}`,
      };
}

function ncuVerdict({ state }: Check, { absence, countersAllowed }: GpuFindings): Verdict {
  const name = "ncu";
  if (state !== "ok") return { name, works: "no", detail: "ncu is not usable" };
  if (absence !== null)
    return { name, works: "partly", detail: `reads reports (deep-profile import); ${absence}` };
  if (countersAllowed === false)
    return { name, works: "partly", detail: "reads reports; GPU counters are not allowed" };
  return { name, works: "yes", detail: "hardware metrics per region (pipeline.ncu.enable=true)" };
}
