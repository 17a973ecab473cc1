import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createGpuQueries, resolveDevice, visibleGpus } from "../../../src/profiler/machine/gpu.ts";

const machine = ["A", "B", "C"].map((name) => ({
  name,
  driverVersion: "580",
  uuid: `GPU-${name.toLowerCase()}123`,
}));

describe("visibleGpus", () => {
  it.each([
    [undefined, ["A", "B", "C"]],
    ["2,0", ["C", "A"]],
    ["GPU-b1", ["B"]],
    // None: how programs are kept off GPUs.
    ["", []],
    ["-1", []],
    // What stands behind an entry that names no GPU does not count.
    ["0,7,1", ["A"]],
    // CUDA takes one slice of a partitioned GPU, and no second device beside it.
    ["MIG-5c8e9ab2-0000", ["A (MIG)"]],
    ["MIG-GPU-b123/1/0,MIG-GPU-c123/1/0", ["B (MIG)"]],
  ])("CUDA_VISIBLE_DEVICES=%s gives %j, numbered anew", (visible, names) => {
    const gpus = visibleGpus(machine, visible);
    expect(gpus.map(({ name }) => name)).toEqual(names);
    expect(gpus.map(({ index }) => index)).toEqual(names.map((_, i) => i));
  });
});

describe("questions to the driver", () => {
  const answering = (script: string) => {
    const bin = mkdtempSync(join(tmpdir(), "smi-"));
    const smi = join(bin, "nvidia-smi");
    writeFileSync(smi, `#!/bin/sh\n${script}\n`);
    chmodSync(smi, 0o755);
    vi.stubEnv("PATH", `${bin}:${process.env["PATH"]}`);
    onTestFinished(() => {
      vi.unstubAllEnvs();
      rmSync(bin, { recursive: true });
    });
    return createGpuQueries();
  };

  it.each([
    ["each kind once", "printf '9.0\\n12.0\\n9.0\\n'", [90, 120]],
    [
      "none of a driver that does not know the question",
      `echo 'Field "compute_cap" is not a valid field to query.'; exit 2`,
      [],
    ],
    ["none of a GPU that does not tell", "echo '[N/A]'", []],
  ])("give capabilities: %s", async (_, script, capabilities) => {
    expect(await answering(script).capabilities()).toEqual(capabilities);
  });

  it("are asked once, however many jobs want the answers", async () => {
    const asked = join(mkdtempSync(join(tmpdir(), "smi-")), "asked");
    const queries = answering(`echo "$1" >> '${asked}'; echo '0, H200, 580, GPU-1'`);
    for (let job = 0; job < 3; job++) {
      expect((await queries.gpus()).map(({ name }) => name)).toEqual(["H200"]);
      await queries.capabilities();
    }
    const questions = readFileSync(asked, "utf8").trim().split("\n");
    expect(questions.map((one) => one.replace(/,.*/, ""))).toEqual([
      "--query-gpu=index",
      "--query-gpu=compute_cap",
    ]);
  });
});

const gpu = { index: 0, name: "H200", driverVersion: "580" };

describe("resolveDevice", () => {
  it.each([
    ["auto", [], true, "cpu"],
    ["auto", [gpu], true, "cuda:0"],
    // A build without a GPU backend runs on the CPU of a GPU machine.
    ["auto", [gpu], false, "cpu"],
    ["cpu", [gpu], true, "cpu"],
    ["cuda:0", [gpu], true, "cuda:0"],
  ] as const)("%s with GPUs %j (backend: %s) is %s", (requested, gpus, backend, device) => {
    expect(resolveDevice(requested, gpus, backend)).toBe(device);
  });

  it("refuses a GPU that is not there and says what is", () => {
    expect(() => resolveDevice("cuda:1", [gpu], true)).toThrow(
      expect.objectContaining({
        code: "profile.device",
        details: expect.objectContaining({ key: "device", available: ["auto", "cpu", "cuda:0"] }),
      }),
    );
  });
});
