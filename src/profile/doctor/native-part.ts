/** Whether the native part stands ready, and what it can be built with here. */
import { join } from "node:path";
import { buildToolsHint } from "../machine/build-tools.ts";
import { type NativeDetection, type NativeStatus, nativeBuilder } from "../native.ts";
import type { Check } from "./findings.ts";
import type { Machine } from "./machine.ts";

export interface NativeFindings {
  readonly check: Check;
  readonly toolchain: Check;
  /** Built, or can be: without it nothing can be recorded by ourselves. */
  readonly usable: boolean;
}

/** Asks without building anything. */
export async function probeNative(machine: Machine, packageRoot: string): Promise<NativeFindings> {
  const builder = await nativeBuilder(packageRoot).catch(() => null);
  const [status, tools] = await Promise.all([
    builder?.nativeStatus(packageRoot).catch(() => null) ?? null,
    detect(machine, packageRoot, builder?.pythonCandidates(machine.env) ?? []),
  ]);
  const make = await machine.run(["make", "--version"]);
  const canBuild = tools?.compiler != null && make !== null;
  return {
    check: nativeCheck(status, canBuild, machine),
    toolchain: toolchainCheck(tools, make !== null),
    usable: status?.state === "ready" || canBuild,
  };
}

/** What the first of the Pythons that runs finds. */
async function detect(
  machine: Machine,
  packageRoot: string,
  pythons: readonly string[],
): Promise<Detection | null> {
  for (const python of pythons) {
    const found = await machine.run([python, join(packageRoot, "native", "detect.py"), "all"]);
    if (found !== null) return parseDetection(found);
  }
  return null;
}

/** As `NativeDetection`, of a machine that may have no compiler. */
type Detection = Partial<
  Omit<NativeDetection, "compiler"> & {
    readonly compiler: NativeDetection["compiler"] | null;
  }
>;

function parseDetection(text: string): Detection | null {
  try {
    return JSON.parse(text) as Detection;
  } catch {
    return null;
  }
}

function nativeCheck(
  status: NativeStatus | null,
  canBuild: boolean,
  { platform, read }: Machine,
): Check {
  const name = "native part";
  if (status?.state === "ready" && status.info !== null)
    return { name, state: "ok", detail: `built with backends ${status.info.backends.join(", ")}` };
  if (canBuild)
    return { name, state: "ok", detail: "not built yet: the first run builds it, once" };
  return {
    name,
    state: "warning",
    detail: "not built, and cannot be built here",
    hint: buildToolsHint(platform, read("/etc/os-release")),
  };
}

function toolchainCheck(tools: Detection | null, hasMake: boolean): Check {
  const name = "toolchain";
  if (tools === null)
    return { name, state: "missing", detail: "python3, which looks for the rest, does not run" };
  const { compiler, nvcc, cudnn } = tools;
  const parts = [
    compiler == null ? "no C++ compiler" : `${compiler.command} ${compiler.version ?? ""}`.trim(),
    hasMake ? null : "no make",
    nvcc == null ? "no nvcc" : `nvcc ${nvcc.version}`,
    cudnn == null ? "no cuDNN" : `cuDNN ${cudnn.version ?? "of unknown version"}`,
  ].filter((part) => part !== null);
  return { name, state: compiler == null ? "missing" : "ok", detail: parts.join(", ") };
}
