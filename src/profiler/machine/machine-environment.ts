/** The machine of a run: host, processor, GPUs, versions. */
import { readFileSync } from "node:fs";
import os from "node:os";
import type { DevicePeaks } from "../../report/view/layer-work.ts";
import type { Gpu } from "./gpu.ts";

/**
 * The machine and versions of a run, as `env.json`. Never the process environment: it holds
 * secrets.
 */
export interface MachineEnvironment {
  readonly hostname: string;
  readonly os: string;
  readonly kernel: string;
  readonly arch: string;
  readonly cpu: string;
  readonly cpu_count: number;
  readonly memory_bytes: number;
  readonly gpus: readonly Gpu[];
  readonly node: string;
  readonly hydraconf: string;
  /** How the native part was built; null if this run did not need it. */
  readonly native: unknown;
  /** The peak rates of the run's device, if the workload could measure them. */
  readonly peaks?: DevicePeaks;
}

export function describeMachine(
  gpus: readonly Gpu[],
  versions: { readonly hydraconf: string; readonly native: unknown },
): MachineEnvironment {
  return {
    hostname: os.hostname(),
    os: `${os.type()} ${os.release()}`,
    kernel: os.version(),
    arch: os.arch(),
    cpu: processorName(),
    cpu_count: os.cpus().length,
    memory_bytes: os.totalmem(),
    gpus,
    node: process.version,
    hydraconf: versions.hydraconf,
    native: versions.native,
  };
}

/** The name of this machine's processor; "unknown" if the system does not report it. */
export function processorName(): string {
  const named = process.platform === "linux" ? processorNameIn(cpuinfo()) : null;
  return named ?? (os.cpus()[0]?.model.trim() || "unknown");
}

/**
 * The name in the text of Linux's /proc/cpuinfo: the `model name`; on Arm, which has numbers instead, the names of its
 * kinds of cores in the order of the text, with their revision: `Neoverse-V2 r0p0`. Null if the text has neither.
 * native/common/processor_name.cc does the same; a test keeps the two in step.
 */
export function processorNameIn(text: string): string | null {
  const kinds = new Set<string>();
  let core: ArmCore = NO_CORE;
  for (const line of text.split("\n")) {
    const colon = line.indexOf(":");
    if (colon < 0) continue;
    const value = line.slice(colon + 1).trim();
    switch (line.slice(0, colon).trim()) {
      case "model name":
        if (value !== "") return value;
        break;
      case "CPU implementer":
        core = { ...NO_CORE, implementer: Number(value) };
        break;
      case "CPU variant":
        core = { ...core, variant: Number(value) };
        break;
      case "CPU part":
        core = { ...core, part: Number(value) };
        break;
      // The last line of one processor.
      case "CPU revision":
        if (core.implementer !== null) kinds.add(armName(core.implementer, core, Number(value)));
    }
  }
  return kinds.size === 0 ? null : [...kinds].join(" + ");
}

/** A kind of core, from the lines of one processor. */
interface ArmCore {
  readonly implementer: number | null;
  readonly variant: number;
  readonly part: number;
}

const NO_CORE: ArmCore = { implementer: null, variant: 0, part: 0 };

function armName(implementer: number, { variant, part }: ArmCore, revision: number): string {
  const model = ARM_PROCESSORS.find(([by, which]) => by === implementer && which === part)?.[2];
  const hex = (number: number, digits: number) => number.toString(16).padStart(digits, "0");
  const name = model ?? `ARM implementer 0x${hex(implementer, 2)} part 0x${hex(part, 3)}`;
  return `${name} r${variant}p${revision}`;
}

function cpuinfo(): string {
  try {
    return readFileSync("/proc/cpuinfo", "utf8");
  } catch {
    return "";
  }
}

/**
 * Names of Arm processors as in lscpu (util-linux); /proc/cpuinfo has only numbers: implementer and part, bits 31 to 24
 * and 15 to 4 of the register MIDR_EL1. native/common/arm_processors.hpp holds the same names; a test keeps the two in
 * step.
 */
export const ARM_PROCESSORS: readonly (readonly [
  implementer: number,
  part: number,
  name: string,
])[] = [
  // Arm
  [0x41, 0xd03, "Cortex-A53"],
  [0x41, 0xd05, "Cortex-A55"],
  [0x41, 0xd07, "Cortex-A57"],
  [0x41, 0xd08, "Cortex-A72"],
  [0x41, 0xd0b, "Cortex-A76"],
  [0x41, 0xd0c, "Neoverse-N1"],
  [0x41, 0xd40, "Neoverse-V1"],
  [0x41, 0xd42, "Cortex-A78AE"],
  [0x41, 0xd49, "Neoverse-N2"],
  [0x41, 0xd4f, "Neoverse-V2"],
  [0x41, 0xd83, "Neoverse-V3AE"],
  [0x41, 0xd84, "Neoverse-V3"],
  [0x41, 0xd85, "Cortex-X925"],
  [0x41, 0xd87, "Cortex-A725"],
  [0x41, 0xd8e, "Neoverse-N3"],
  // Cavium and Marvell
  [0x43, 0x0af, "ThunderX2-99xx"],
  // Fujitsu
  [0x46, 0x001, "A64FX"],
  // HiSilicon
  [0x48, 0xd01, "TaiShan-v110"],
  // NVIDIA
  [0x4e, 0x000, "Denver"],
  [0x4e, 0x003, "Denver 2"],
  [0x4e, 0x004, "Carmel"],
  [0x4e, 0x010, "Olympus"],
  // Qualcomm
  [0x51, 0x001, "Oryon"],
  // Apple, where Linux runs on it
  [0x61, 0x022, "Icestorm-M1"],
  [0x61, 0x023, "Firestorm-M1"],
  [0x61, 0x032, "Blizzard-M2"],
  [0x61, 0x033, "Avalanche-M2"],
  // Microsoft
  [0x6d, 0xd49, "Azure-Cobalt-100"],
  // Ampere
  [0xc0, 0xac3, "Ampere-1"],
  [0xc0, 0xac4, "Ampere-1a"],
];
