import { readFileSync } from "node:fs";
import os from "node:os";
import { ARM_PROCESSORS } from "./arm-processors.ts";

/** What the processor of this machine is called; "unknown" where the system does not tell. */
export function processorName(): string {
  const named = process.platform === "linux" ? processorNameIn(cpuinfo()) : null;
  return named ?? (os.cpus()[0]?.model.trim() || "unknown");
}

/**
 * The name in the text of Linux's /proc/cpuinfo: the `model name`, or on Arm, which has numbers in its place, the names
 * of its kinds of cores in the order in which they stand there, with their revision: `Neoverse-V2 r0p0`. Null where the
 * text has neither. native/common/processor_name.cc does the same; a test keeps the two in step.
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
      // Ends the lines of one processor.
      case "CPU revision":
        if (core.implementer !== null) kinds.add(armName(core.implementer, core, Number(value)));
    }
  }
  return kinds.size === 0 ? null : [...kinds].join(" + ");
}

/** One kind of core, as the lines of one processor tell it. */
interface ArmCore {
  readonly implementer: number | null;
  readonly variant: number;
  readonly part: number;
}

const NO_CORE: ArmCore = { implementer: null, variant: 0, part: 0 };

function armName(implementer: number, { variant, part }: ArmCore, revision: number): string {
  const known = ARM_PROCESSORS.find(([by, which]) => by === implementer && which === part)?.[2];
  const hex = (number: number, digits: number) => number.toString(16).padStart(digits, "0");
  const name = known ?? `ARM implementer 0x${hex(implementer, 2)} part 0x${hex(part, 3)}`;
  return `${name} r${variant}p${revision}`;
}

function cpuinfo(): string {
  try {
    return readFileSync("/proc/cpuinfo", "utf8");
  } catch {
    return "";
  }
}
