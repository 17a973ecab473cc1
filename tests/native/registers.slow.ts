import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { afterAll, describe, expect, test } from "vitest";

/**
 * What NVIDIA's assembler says of the GPU kernels: registers and spills, which limit how many warps a multiprocessor holds.
 * docs/gpu.md has the table by kernel, made with the same command.
 */

const native = fileURLToPath(new URL("../../native", import.meta.url));
const hasNvcc = spawnSync("nvcc", ["--version"]).status === 0;
if (!hasNvcc) console.warn("SKIPPED registers of the GPU kernels: no nvcc on PATH");
const directory = mkdtempSync(join(tmpdir(), "registers-"));
afterAll(() => rmSync(directory, { recursive: true }));

/** The most registers of a kernel: 128 leave room for 16 warps on each of these architectures. */
const MOST_REGISTERS = 128;
const KERNELS = 46;

async function assembled(architecture: string): Promise<string> {
  const folder = join(native, "shallow_resnet/cuda");
  const sources = readdirSync(folder).filter((name) => name.endsWith(".cu"));
  const texts: string[] = [];
  for (const source of sources) {
    const output = join(directory, `${source}.${architecture}.o`);
    const options = ["-c", "-std=c++17", "-O3", `-I${native}`, `-arch=${architecture}`];
    const argv = [...options, "-Xptxas", "-v", join(folder, source), "-o", output];
    texts.push((await execa("nvcc", argv)).stderr);
  }
  return texts.join("\n");
}

describe.runIf(hasNvcc)("the GPU kernels", () => {
  test.each(["sm_80", "sm_90", "sm_120"])(
    "spill nothing, and leave room for other warps: %s",
    async (architecture) => {
      const text = await assembled(architecture);
      const registers = [...text.matchAll(/Used (\d+) registers/g)].map(([, count]) =>
        Number(count),
      );
      expect(registers).toHaveLength(KERNELS);
      expect(Math.max(...registers)).toBeLessThanOrEqual(MOST_REGISTERS);
      const spills = [...text.matchAll(/(\d+) bytes spill (?:stores|loads)/g)].map(([, n]) => n);
      expect(spills).toHaveLength(2 * KERNELS);
      expect(new Set(spills)).toEqual(new Set(["0"]));
    },
  );
});
