/** The CPUs that this process may use. */
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join, relative } from "node:path";
import { isBelow } from "../../../foundation/system/files.ts";

/**
 * How many CPUs this process may use: those of its affinity mask (`taskset`, a scheduler), limited by the CPU quota of
 * its control groups (`docker run --cpus=2`, Kubernetes), which Node 20 ignores.
 *
 * @param root the directory that contains `/proc` and `/sys`
 */
export const usableCpus = (root = "/"): number =>
  Math.max(1, Math.min(availableParallelism(), Math.ceil(cpuQuota(root))));

/** The CPU quota in CPUs: the smallest of this process's control groups; infinite without any. */
export function cpuQuota(root: string): number {
  const mounts = linesOf(join(root, "proc/self/mountinfo")).map(mountIn);
  const shares = linesOf(join(root, "proc/self/cgroup")).flatMap((line) => {
    // `4:cpu,cpuacct:/docker/7f` in version 1, `0::/user.slice` in version 2.
    const [, controllers = "", path = ""] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    const mount = mounts.find(({ kind, options }) =>
      controllers === ""
        ? kind === "cgroup2"
        : kind === "cgroup" && isOfCpu(controllers) && isOfCpu(options),
    );
    return mount === undefined
      ? []
      : groupsOf(path, mount).map((group) => shareOf(join(root, group)));
  });
  return Math.min(...shares, Number.POSITIVE_INFINITY);
}

const isOfCpu = (controllers: string): boolean => controllers.split(",").includes("cpu");

interface Mount {
  readonly kind: string;
  /** The control group that is mounted at `point`: in a container without a cgroup namespace, its own. */
  readonly top: string;
  readonly point: string;
  readonly options: string;
}

/** A line of `/proc/self/mountinfo`: `32 31 0:29 /top /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu`. */
function mountIn(line: string): Mount {
  const [mount = "", after = ""] = line.split(" - ");
  const [, , , top = "", point = ""] = mount.split(" ");
  const [kind = "", , options = ""] = after.split(" ");
  return { kind, top, point, options };
}

/** The directories of a group and of its ancestors, as far as they are mounted. */
function groupsOf(path: string, { point, top }: Mount): readonly string[] {
  const below = relative(top, path);
  const found: string[] = [];
  // Groups outside of the mounted tree cannot be read.
  for (let directory = isBelow(path, top) ? below || "." : "."; ; directory = dirname(directory)) {
    found.push(join(point, directory));
    if (directory === ".") return found;
  }
}

/** Version 2: `max 100000` or `200000 100000`; version 1 has a file for each, and -1 for no quota. */
function shareOf(group: string): number {
  const both = linesOf(join(group, "cpu.max"))[0]?.split(" ");
  const [quota, period] = both ?? [
    linesOf(join(group, "cpu.cfs_quota_us"))[0],
    linesOf(join(group, "cpu.cfs_period_us"))[0],
  ];
  const share = Number(quota) / Number(period);
  return share > 0 ? share : Number.POSITIVE_INFINITY;
}

/** Empty if the file does not exist: other systems have no control groups. */
function linesOf(file: string): readonly string[] {
  try {
    return readFileSync(file, "utf8").trimEnd().split("\n");
  } catch {
    return [];
  }
}
