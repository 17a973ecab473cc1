import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { cpuQuota, usableCpus } from "../../../../src/app/launch/local/cpus.ts";
import { onThisMachine, withinSlots } from "../../../../src/app/launch/local/machine-slots.ts";
import { readLocalSettings } from "../../../../src/app/launch/local/settings.ts";

/** A machine whose files say this. */
function machine(files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), "hydraconf-cpus-"));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), `${text}\n`);
  }
  return root;
}

const V1 = (top: string) =>
  `31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
34 31 0:31 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset
32 31 0:29 ${top} /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu,cpuacct`;
const V2 = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate";

test.each([
  [
    "version 2, in a container",
    {
      "proc/self/cgroup": "0::/",
      "proc/self/mountinfo": V2,
      "sys/fs/cgroup/cpu.max": "150000 100000",
    },
    1.5,
  ],
  [
    "version 2, where a group around it gives less",
    {
      "proc/self/cgroup": "0::/user.slice/job",
      "proc/self/mountinfo": V2,
      "sys/fs/cgroup/user.slice/cpu.max": "200000 100000",
      "sys/fs/cgroup/user.slice/job/cpu.max": "max 100000",
    },
    2,
  ],
  [
    "version 1",
    {
      "proc/self/cgroup": "5:cpuset:/\n4:cpu,cpuacct:/half\n0::/",
      "proc/self/mountinfo": V1("/"),
      "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1",
      "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000",
      "sys/fs/cgroup/cpu/half/cpu.cfs_quota_us": "50000",
      "sys/fs/cgroup/cpu/half/cpu.cfs_period_us": "100000",
    },
    0.5,
  ],
  [
    "version 1, in a container that sees its own group alone",
    {
      "proc/self/cgroup": "4:cpu,cpuacct:/docker/7f",
      "proc/self/mountinfo": V1("/docker/7f"),
      "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "300000",
      "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000",
    },
    3,
  ],
  ["no control groups", {}, Number.POSITIVE_INFINITY],
])("the share of the CPUs that control groups leave: %s", (_, files, share) => {
  expect(cpuQuota(machine(files))).toBe(share);
});

test("a process may use what it may run on, no more than its share, and at least one", () => {
  const share = (quota: string) =>
    machine({
      "proc/self/cgroup": "0::/",
      "proc/self/mountinfo": V2,
      "sys/fs/cgroup/cpu.max": quota,
    });
  expect(usableCpus(share("max 100000"))).toBe(availableParallelism());
  expect(usableCpus(share("1000 100000"))).toBe(1);
  expect(usableCpus(share(`${availableParallelism()}00001 100000`))).toBe(availableParallelism());
});

describe("resources", () => {
  /** The environment of a machine whose nvidia-smi does this. */
  function withNvidiaSmi(script: string) {
    const bin = mkdtempSync(join(tmpdir(), "hydraconf-smi-"));
    const file = join(bin, "nvidia-smi");
    writeFileSync(file, `#!/bin/sh\n${script}\n`);
    chmodSync(file, 0o755);
    return { PATH: `${bin}:${process.env["PATH"] ?? ""}` };
  }
  const four = withNvidiaSmi("printf '0\\n1\\n2\\n3\\n'");
  const placed = (
    resources: Readonly<Record<string, unknown>>,
    env: Readonly<Record<string, string>> = four,
  ) => onThisMachine(readLocalSettings({ n_jobs: 99, resources }), env);
  const all = ["0", "1", "2", "3"];

  test.each([
    [[0, 1], { slots: ["0", "1"], perJob: 1, perSlot: 1 }, 2],
    ["auto", { slots: all, perJob: 1, perSlot: 1 }, 4],
    [2, { slots: all, perJob: 2, perSlot: 1 }, 2],
    [3, { slots: all, perJob: 3, perSlot: 1 }, 1],
    [0.5, { slots: all, perJob: 1, perSlot: 2 }, 8],
    [0.3, { slots: all, perJob: 1, perSlot: 3 }, 12],
    [{ per_job: 2, jobs_per_slot: 2 }, { slots: all, perJob: 2, perSlot: 2 }, 4],
    [{ slots: ["0,1", "2,3"] }, { slots: ["0,1", "2,3"], perJob: 1, perSlot: 1 }, 2],
  ])("gpu: %j", (asked, resource, jobs) => {
    const settings = placed({ gpu: asked });
    expect(settings.resources.get("gpu")).toEqual(resource);
    expect(withinSlots(settings).jobs).toBe(jobs);
  });

  test("GPUs are those that CUDA may see, where the environment says which", () => {
    const seen = (CUDA_VISIBLE_DEVICES: string) =>
      placed({ gpu: "auto" }, { ...four, CUDA_VISIBLE_DEVICES }).resources.get("gpu")?.slots;
    expect(seen("2,3")).toEqual(["2", "3"]);
    expect(seen("GPU-1a, 0,-1,2")).toEqual(["GPU-1a", "0"]);
    expect(() => seen("-1")).toThrow("CUDA_VISIBLE_DEVICES is '-1'");
  });

  test.each([
    [{ PATH: "/nowhere" }, "nvidia-smi is not on PATH"],
    [withNvidiaSmi("echo 'No devices were found'"), "nvidia-smi shows none: No devices were found"],
    [
      withNvidiaSmi("echo 'NVIDIA-SMI has failed: no driver'; exit 9"),
      "nvidia-smi: NVIDIA-SMI has failed: no driver",
    ],
  ])("without a GPU the reason is told: %#", (env, message) => {
    expect(() => placed({ gpu: 1 }, env)).toThrow(message);
  });

  test.each([
    [{ gpu: 5 }, "resources.gpu cannot be '5': it must be at most 4"],
    [{ gpu: { slots: ["0,1", "1"], per_job: 2 } }, "it must be at most 1"],
    [{ gpu: [1, 1] }, "jobs_per_slot"],
    [{ gpu: 1.5 }, "a part of one"],
    [{ gpu: { slots: [0], perjob: 1 } }, "one of slots, per_job and jobs_per_slot"],
    [{ gpu: { slots: [0], per_job: 0 } }, "resources.gpu.per_job cannot be '0'"],
    [{ port: 2 }, "a list of slots"],
    [{ port: "auto" }, "a list of slots"],
    [{ port: { per_job: 2 } }, "resources.port.slots"],
  ])("%j is refused", (resources, message) => {
    expect(() => placed(resources)).toThrow(message);
  });
});
