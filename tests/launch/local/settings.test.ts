import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { cpuQuota, usableCpus } from "../../../src/launch/local/settings.ts";

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
