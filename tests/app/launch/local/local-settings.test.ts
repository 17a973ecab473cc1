import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { cpuQuota, usableCpus } from "../../../../src/app/launch/local/cpus.ts";
import { readLocalSettings } from "../../../../src/app/launch/local/local-settings.ts";
import { onThisMachine, withinSlots } from "../../../../src/app/launch/local/machine-slots.ts";

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
      "proc/self/cgroup": "5:cpuset:/\n12:cpu,cpuacct:/half\n0::/",
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
  [
    "both versions, where the second counts no CPUs",
    {
      "proc/self/cgroup": "5:cpuset:/lower\n4:cpu,cpuacct:/\n0::/job",
      "proc/self/mountinfo": `${V1("/")}\n${V2.replace("/sys/fs/cgroup", "/sys/fs/cgroup/unified")}`,
      "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "400000",
      "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000",
      // What no group of this process says.
      "sys/fs/cgroup/cpuset/cpu.cfs_quota_us": "1",
      "sys/fs/cgroup/cpuset/cpu.cfs_period_us": "100000",
      "sys/fs/cgroup/cpu/lower/cpu.cfs_quota_us": "1",
      "sys/fs/cgroup/cpu/lower/cpu.cfs_period_us": "100000",
      "sys/fs/cgroup/cpu.max": "1 100000",
      "sys/fs/cgroup/cpu/job/cpu.cfs_quota_us": "1",
      "sys/fs/cgroup/cpu/job/cpu.cfs_period_us": "100000",
    },
    4,
  ],
  [
    "a group outside of what is mounted",
    {
      "proc/self/cgroup": "0::/other/job",
      "proc/self/mountinfo": V2.replace(" / ", " /mine "),
      "sys/fs/cgroup/cpu.max": "250000 100000",
    },
    2.5,
  ],
  [
    "lines that say nothing",
    { "proc/self/cgroup": "nonsense", "proc/self/mountinfo": "30 23\n" },
    Number.POSITIVE_INFINITY,
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

describe("settings of the local launcher", () => {
  test("are those of one process for each CPU, without a limit, if none are set", () => {
    expect(readLocalSettings({})).toEqual({
      jobs: -1,
      timeLimit: null,
      retries: 0,
      resources: new Map(),
      reusesWorkers: null,
      slotScope: "machine",
    });
  });

  test.each([
    [{ n_jobs: 3n }, { jobs: 3 }],
    [{ n_jobs: -2 }, { jobs: -2 }],
    [{ timeout_min: 0.5 }, { timeLimit: 30_000 }],
    [{ timeout_min: 2n }, { timeLimit: 120_000 }],
    [{ timeout_min: null }, { timeLimit: null }],
    [{ max_retries: 2n }, { retries: 2 }],
    [{ max_retries: null }, { retries: 0 }],
    [{ reuse_workers: true }, { reusesWorkers: true }],
    [{ reuse_workers: false }, { reusesWorkers: false }],
    [{ reuse_workers: null }, { reusesWorkers: null }],
    [{ warm: null }, { reusesWorkers: null }],
    [{ warm: true }, { reusesWorkers: null }],
    [{ slot_scope: "sweep" }, { slotScope: "sweep" }],
    [{ slot_scope: "machine" }, { slotScope: "machine" }],
    [{ slot_scope: null }, { slotScope: "machine" }],
  ])("%o are read", (section, expected) => {
    expect(readLocalSettings(section)).toMatchObject(expected);
  });

  test.each([
    [{ n_jobs: 0n }, "n_jobs cannot be '0': it must be a number of processes"],
    [{ n_jobs: 1.5 }, "n_jobs cannot be '1.5'"],
    [{ n_jobs: "many" }, "n_jobs cannot be 'many'"],
    [{ timeout_min: 0 }, "timeout_min cannot be '0': it must be more than 0, or null"],
    [{ timeout_min: -1 }, "timeout_min cannot be '-1'"],
    [{ timeout_min: "soon" }, "timeout_min cannot be 'soon'"],
    [{ max_retries: -1n }, "max_retries cannot be '-1': it must be a whole number, 0 or more"],
    [{ max_retries: 0.5 }, "max_retries cannot be '0.5'"],
    [{ reuse_workers: "yes" }, "reuse_workers cannot be 'yes': it must be true, false, or null"],
    [{ warm: "yes" }, "warm cannot be 'yes'"],
    [{ warm: 1n }, "warm cannot be '1': it must be true, false, or null"],
    [{ slot_scope: "user" }, "slot_scope cannot be 'user': it must be machine or sweep"],
  ])("%o are refused", (section, message) => {
    expect(() => readLocalSettings(section)).toThrow(message);
  });

  test("of processes count those that are not to be used from the CPUs, down to one", () => {
    const cpus = usableCpus();
    const jobsOf = (n_jobs: number) => onThisMachine(readLocalSettings({ n_jobs }), {}).jobs;
    expect([-1, -2, -1 - cpus, 1, 7].map(jobsOf)).toEqual([cpus, Math.max(1, cpus - 1), 1, 1, 7]);
  });
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
    [1n, { slots: all, perJob: 1, perSlot: 1 }, 4],
    [{ slots: "auto", per_job: 2n }, { slots: all, perJob: 2, perSlot: 1 }, 2],
    [{ slots: ["a,b", "b"], per_job: 2 }, { slots: ["a,b", "b"], perJob: 2, perSlot: 1 }, 1],
    [{ slots: ["0,1", "2,3"] }, { slots: ["0,1", "2,3"], perJob: 1, perSlot: 1 }, 2],
  ])("gpu: %o", (asked, resource, jobs) => {
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
    [{ gpu: { slots: ["10,11", "11"], per_job: 2 } }, "it must be at most 1"],
    [{ gpu: { slots: ["GPU-1", "GPU-1,GPU-2"], per_job: 2 } }, "it must be at most 1"],
    [{ gpu: 0 }, "a number of GPUs"],
    [{ gpu: -0.5 }, "a number of GPUs"],
    [{ gpu: "1" }, "a number of GPUs"],
    [{ gpu: true }, "a number of GPUs"],
    [{ gpu: { jobs_per_slot: 1.5 } }, "resources.gpu.jobs_per_slot cannot be '1.5'"],
    [{ gpu: [] }, "a list of slots"],
    [{ port: 2 }, "a list of slots"],
    [{ port: "auto" }, "a list of slots"],
    [{ port: { per_job: 2 } }, "resources.port.slots"],
    [{ port: null }, "resources.port cannot be 'null'"],
    [{ gpu: Number.NaN }, "a number of GPUs"],
  ])("%j is refused", (resources, message) => {
    expect(() => placed(resources)).toThrow(message);
  });
});
