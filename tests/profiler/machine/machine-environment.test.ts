import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os, { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  ARM_PROCESSORS,
  processorName,
  processorNameIn,
} from "../../../src/profiler/machine/machine-environment.ts";
import { availableClients, buildFixture } from "../../native/fixtures.ts";

/** The lines that Linux on arm64 has for one processor. */
const arm = (processor: number, implementer: string, part: string, variant = 0, revision = 0) =>
  `processor\t: ${processor}
BogoMIPS\t: 2000.00
Features\t: fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm sve
CPU implementer\t: ${implementer}
CPU architecture: 8
CPU variant\t: 0x${variant.toString(16)}
CPU part\t: ${part}
CPU revision\t: ${revision}

`;

const X86 = `processor\t: 0
vendor_id\t: GenuineIntel
cpu family\t: 6
model\t\t: 143
model name\t: Intel(R) Xeon(R) Platinum 8480C
stepping\t: 8
flags\t\t: fpu vme de pse tsc: msr
`;

const CASES: readonly (readonly [what: string, cpuinfo: string, name: string | null])[] = [
  ["x86-64", X86, "Intel(R) Xeon(R) Platinum 8480C"],
  ["Grace", arm(0, "0x41", "0xd4f") + arm(1, "0x41", "0xd4f"), "Neoverse-V2 r0p0"],
  ["Graviton 4, by its revision", arm(0, "0x41", "0xd4f", 0, 1), "Neoverse-V2 r0p1"],
  ["Graviton 3", arm(0, "0x41", "0xd40", 1, 1), "Neoverse-V1 r1p1"],
  ["Graviton 2 and Altra", arm(0, "0x41", "0xd0c", 3, 1), "Neoverse-N1 r3p1"],
  ["Jetson Orin", arm(0, "0x41", "0xd42", 0, 1), "Cortex-A78AE r0p1"],
  ["Jetson Xavier", arm(0, "0x4e", "0x004"), "Carmel r0p0"],
  ["AmpereOne", arm(0, "0xc0", "0xac3"), "Ampere-1 r0p0"],
  [
    "kinds of cores side by side, as they stand there",
    arm(0, "0x41", "0xd87", 0, 1) + arm(1, "0x41", "0xd85") + arm(2, "0x41", "0xd87", 0, 1),
    "Cortex-A725 r0p1 + Cortex-X925 r0p0",
  ],
  ["a part of the future", arm(0, "0x41", "0xdff", 1, 2), "ARM implementer 0x41 part 0xdff r1p2"],
  ["a maker of the future", arm(0, "0x7", "0x1"), "ARM implementer 0x07 part 0x001 r0p0"],
  [
    "one known part of another maker",
    arm(0, "0xc0", "0xd4f"),
    "ARM implementer 0xc0 part 0xd4f r0p0",
  ],
  [
    "32-bit Arm",
    `model name\t: ARMv7 Processor rev 3 (v7l)\n${arm(0, "0x41", "0xd08", 0, 3)}`,
    "ARMv7 Processor rev 3 (v7l)",
  ],
  ["RISC-V", "processor\t: 0\nhart\t\t: 1\nisa\t\t: rv64imafdc\nuarch\t\t: sifive,u74-mc\n", null],
  ["a name without letters", `model name\t: \n${arm(0, "0x41", "0xd4f")}`, "Neoverse-V2 r0p0"],
  ["nothing", "", null],
];

describe("the name in /proc/cpuinfo", () => {
  it.each(CASES)("%s", (_, cpuinfo, name) => {
    expect(processorNameIn(cpuinfo)).toBe(name);
  });
});

it("of this machine is what its system says", () => {
  const name = processorName();
  expect(name).not.toBe("");
  if (process.platform === "linux")
    expect(name).toBe(processorNameIn(readFileSync("/proc/cpuinfo", "utf8")) ?? "unknown");
  if (process.arch === "x64") expect(name).toBe(os.cpus()[0]?.model.trim());
});

describe.runIf(availableClients("names of processors in the native part").length > 0)(
  "the native part",
  () => {
    it("knows the same processors", async () => {
      const program = await buildNames();
      const hex = (number: number, digits: number) => number.toString(16).padStart(digits, "0");
      expect(execFileSync(program, ["--known"], { encoding: "utf8" })).toBe(
        ARM_PROCESSORS.map(
          ([implementer, part, name]) => `0x${hex(implementer, 2)} 0x${hex(part, 3)} ${name}\n`,
        ).join(""),
      );
    });

    it("finds the same names", async () => {
      const program = await buildNames();
      const folder = mkdtempSync(join(tmpdir(), "cpuinfo-"));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      const files = CASES.map(([, cpuinfo], index) => {
        const file = join(folder, String(index));
        writeFileSync(file, cpuinfo);
        return file;
      });
      const names = execFileSync(program, files, { encoding: "utf8" }).trimEnd().split("\n");
      // The last one is nothing, and its line was trimmed away.
      expect([...names, ""]).toEqual(CASES.map(([, , name]) => name ?? ""));
    });
  },
);

const source = new URL("../../../native/common/processor_name.cc", import.meta.url).pathname;
const buildNames = () => buildFixture("processor_name.cc", "own client", [source]);
