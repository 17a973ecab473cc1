/** Whether the native part is built, and which tools for building it exist here. */
import { join } from "node:path";
import {
  buildToolsHint,
  type NativeDetection,
  type NativeStatus,
  nativeBuilder,
} from "../native.ts";
import type { Check, Machine } from "./machine.ts";

export interface NativeFindings {
  readonly check: Check;
  readonly toolchain: Check;
  /** Built, or can be: without it our own recorder does not work. */
  readonly usable: boolean;
}

/** Queries the state without building anything. */
export async function probeNative(machine: Machine, packageRoot: string): Promise<NativeFindings> {
  const builder = await nativeBuilder(packageRoot).catch(() => null);
  const statusOf = async (parts: "all" | "recorder") =>
    (await builder?.nativeStatus(packageRoot, { parts }).catch(() => null)) ?? null;
  const [all, recorder, { tools, lacking }] = await Promise.all([
    statusOf("all"),
    statusOf("recorder"),
    detect(machine, packageRoot, builder),
  ]);
  const make = await machine.run(["make", "--version"]);
  const canBuild = tools?.compiler != null && make !== null;
  return {
    check: nativeCheck(all?.state === "ready" ? all : recorder, canBuild, machine),
    toolchain: toolchainCheck(tools, lacking, make !== null),
    usable: recorder?.state === "ready" || canBuild,
  };
}

/** The tools that the Python of a build finds; without Python, why there is none. */
async function detect(
  machine: Machine,
  packageRoot: string,
  builder: NativeBuilder | null,
): Promise<{ readonly tools: Detection | null; readonly lacking: string }> {
  const lacking = "python3, which looks for the rest, does not run";
  if (builder === null) return { tools: null, lacking };
  const { path, tooOld } = await builder.findPython(machine.env, machine.run);
  if (path === null)
    return { tools: null, lacking: tooOld.length > 0 ? builder.pythonNeeded(tooOld) : lacking };
  const found = await machine.run([path, join(packageRoot, "native", "detect.py"), "all"]);
  return { tools: found === null ? null : parseDetection(found), lacking };
}

type NativeBuilder = Awaited<ReturnType<typeof nativeBuilder>>;

/** As `NativeDetection`, for a machine that may have no compiler. */
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
    return { name, state: "ok", detail: builtText(status.info) };
  if (canBuild) return { name, state: "ok", detail: "not built yet: the first run builds it" };
  return {
    name,
    state: "warning",
    detail: "not built, and cannot be built on this machine",
    hint: buildToolsHint(platform, read("/etc/os-release")),
  };
}

const builtText = ({ backends }: NonNullable<NativeStatus["info"]>): string =>
  backends.length === 0
    ? "the recorder is built; the first run of the built-in workload builds that"
    : `built with backends ${backends.join(", ")}`;

function toolchainCheck(tools: Detection | null, lacking: string, hasMake: boolean): Check {
  const name = "toolchain";
  if (tools === null) return { name, state: "missing", detail: lacking };
  const { compiler, nvcc, cudnn } = tools;
  const parts = [
    compiler == null ? "no C++ compiler" : `${compiler.command} ${compiler.version ?? ""}`.trim(),
    hasMake ? null : "no make",
    nvcc == null ? "no nvcc" : `nvcc ${nvcc.version}`,
    cudnn == null ? "no cuDNN" : `cuDNN ${cudnn.version ?? "of unknown version"}`,
  ].filter((part) => part !== null);
  return { name, state: compiler == null ? "missing" : "ok", detail: parts.join(", ") };
}
