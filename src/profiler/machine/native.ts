/** The native part: whether it is built, for what, and how to build it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type * as NativeBuild from "../../../native/build.d.mts";
import { packageInfo } from "../../engine/values/package-info.ts";
import { importFile } from "../../foundation/system/import-file.ts";
import type { StopSignal } from "../../foundation/system/platform-types.ts";
import { interruptOf } from "./stop-signals.ts";
import { ToolError } from "./tool-error.ts";

export type NativeDetection = NativeBuild.NativeDetection;
export type NativeStatus = NativeBuild.NativeStatus;

/** The compiled programs, and how they were built. */
export interface NativePart {
  /** Not there if only the recorder was required. */
  readonly shallowResnet: string;
  readonly regionRecorder: string;
  /** Asks NVIDIA's library about metrics of chips. */
  readonly chipMetrics: string;
  readonly info: NativeBuild.NativeBuildInfo;
  /** Where it was built just now; null if it was ready. */
  readonly builtIn: string | null;
}

/** The GPU features of this build of the built-in workload. */
export type GpuPart = NativeBuild.NativeGpuPart;

export const gpuPart = (native: NativePart): GpuPart => native.info.gpu;

/**
 * The native part, built now if it is missing or older than its sources.
 *
 * @param say receives lines during a build, and nothing otherwise
 * @param stop aborts the build without leaving files
 * @param gpus compute capabilities of the GPUs that the workload may run on, `[90]` for 9.0. If the last build targeted
 * the machine's GPUs at that time, and these were not among them, it is built again.
 * @param parts `recorder` for programs other than the built-in workload
 * @throws ToolError `profile.native_build` with the compiler's last lines, or because it was stopped
 */
export async function requireNative(
  say: (line: string) => void,
  stop?: StopSignal,
  gpus: readonly number[] = [],
  parts: NativeBuild.NativeParts = "all",
): Promise<NativePart> {
  const { root } = packageInfo();
  const builder = await nativeBuilder(root);
  try {
    const { binDir, info, built } = await readyNative(builder, {
      root,
      log: say,
      gpus,
      parts,
      ...(stop && { signal: stop }),
    });
    return {
      shallowResnet: join(binDir, "shallow_resnet"),
      regionRecorder: join(binDir, "region_recorder.so"),
      chipMetrics: join(binDir, "chip_metrics"),
      info,
      builtIn: built ? binDir : null,
    };
  } catch (error) {
    if (stop?.aborted) throw stopped(stop);
    if (!(error instanceof builder.NativeBuildError)) throw error;
    throw new ToolError({
      tool: "native build",
      code: "profile.native_build",
      message: error.message,
      hint: error.hint ?? buildToolsHint(process.platform, osRelease()),
      cause: error,
    });
  }
}

const stopped = (stop: StopSignal): ToolError =>
  new ToolError({
    tool: "native build",
    code: "profile.native_build",
    message: `stopped by ${interruptOf(stop)} while the native part was built; nothing was measured`,
    hint: "the next run builds it",
  });

function osRelease(): string | null {
  try {
    return readFileSync("/etc/os-release", "utf8");
  } catch {
    return null;
  }
}

/** Loads the builder: plain JavaScript next to the sources that it builds, outside of every bundle. */
export const nativeBuilder = async (root: string): Promise<typeof NativeBuild> =>
  (await importFile(pathToFileURL(join(root, "native", "build.mjs")).href)) as typeof NativeBuild;

/** If the build is ready, skips the search for compilers and toolkits, which is slow. */
async function readyNative(
  builder: typeof NativeBuild,
  request: NativeBuild.NativeBuildRequest & { readonly gpus: readonly number[] },
) {
  const { state, binDir, info } = await builder.nativeStatus(request.root, request);
  if (state === "ready" && info !== null && builder.servesGpus(info, request.gpus))
    return { binDir, info, built: false };
  return builder.buildNative(request);
}

/** How to install python3, make and a C++17 compiler, which build the native part. */
interface BuildTools {
  /** Values of `ID` or `ID_LIKE` in /etc/os-release. */
  readonly systems: readonly string[];
  readonly command: string;
}

const BUILD_TOOLS: readonly BuildTools[] = [
  { systems: ["debian", "ubuntu"], command: "apt-get install python3 make g++" },
  { systems: ["alpine"], command: "apk add build-base python3" },
  { systems: ["fedora", "rhel", "centos", "amzn"], command: "dnf install gcc-c++ make python3" },
  { systems: ["suse", "opensuse", "sles"], command: "zypper install gcc-c++ make python3" },
  { systems: ["arch"], command: "pacman -S gcc make python" },
];

/** Apple's command line tools contain all three. */
const MACOS_COMMAND = "xcode-select --install";

/**
 * The hint for a missing build tool, with the command for this system if it is known.
 *
 * @param platform Node's name: `linux`
 * @param osRelease the text of /etc/os-release; null if it does not exist
 */
export function buildToolsHint(platform: string, osRelease: string | null): string {
  const what = "install python3, make and a C++17 compiler";
  const command = platform === "darwin" ? MACOS_COMMAND : linuxCommand(osRelease ?? "");
  return command === undefined ? what : `${what}: ${command}`;
}

/** A system's own name takes precedence over those that it resembles, nearest first. */
function linuxCommand(osRelease: string): string | undefined {
  const names = [...wordsOf(osRelease, "ID"), ...wordsOf(osRelease, "ID_LIKE")];
  return names
    .map((name) => BUILD_TOOLS.find(({ systems }) => systems.includes(name)))
    .find((found) => found !== undefined)?.command;
}

/** `ID_LIKE="rhel fedora"`: quotes are optional. */
function wordsOf(osRelease: string, key: string): string[] {
  const line = osRelease.split("\n").find((text) => text.startsWith(`${key}=`)) ?? "";
  return line
    .slice(key.length + 1)
    .split(/[\s"']+/)
    .filter((word) => word !== "");
}
