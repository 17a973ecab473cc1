import type { ParsedCommand } from "../../command-line/parse.ts";
import { packageInfo } from "../../values/package-info.ts";
import { probeGpu } from "../machine/doctor/gpu.ts";
import { type Findings, type Machine, thisMachine } from "../machine/doctor/machine.ts";
import { probeNative } from "../machine/doctor/native-part.ts";
import { requireOpenFiles } from "../machine/files.ts";
import { TOOLS } from "../tools/table.ts";
import type { ProfilingTool } from "../tools/tool.ts";
import { renderFindings, renderSummary } from "./render-findings.ts";
import type { SubcommandIo } from "./subcommand.ts";

/** What `deep-profile doctor` does. */
export async function showDoctor(
  command: ParsedCommand,
  io: SubcommandIo,
  tools: readonly ProfilingTool[] = TOOLS,
): Promise<number> {
  requireOpenFiles();
  const findings = await examine(thisMachine(io.env), tools);
  const render = command.has("verbose") ? renderFindings : renderSummary;
  io.console.stdout(
    command.has("json")
      ? `${JSON.stringify(findings, null, 2)}\n`
      : render(findings, { color: io.console.stdoutColor === true }),
  );
  return canProfile(findings) ? 0 : 1;
}

/** Examines everything that profiling can use. Runs small programs only, each for seconds at most. */
export async function examine(
  machine: Machine,
  tools: readonly ProfilingTool[] = TOOLS,
): Promise<Findings> {
  const { root, version } = packageInfo();
  const [native, gpu] = await Promise.all([probeNative(machine, root), probeGpu(machine)]);
  const facts = { machine, gpu, nativeUsable: native.usable };
  const found = await Promise.all(tools.map(({ doctor }) => doctor(facts)));
  const node = `${process.version} on ${process.platform} ${process.arch}`;
  return {
    version,
    checks: [
      { name: "Node", state: "ok", detail: node },
      native.check,
      native.toolchain,
      gpu.driver,
      gpu.permissions,
      ...found.flatMap(({ checks }) => checks),
    ],
    collectors: found.flatMap(({ verdicts }) => verdicts),
  };
}

/** Whether there is any way to profile at all. */
export const canProfile = ({ collectors }: Findings): boolean =>
  collectors.some(({ works }) => works !== "no");
