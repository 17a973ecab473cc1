import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join, relative } from "node:path";

/**
 * How many CPUs this process may use at a time: those that it may run on (`taskset`, Slurm), and no more than the share of their time
 * that its control groups leave it (`docker run --cpus=2`, Kubernetes), which Node 20 does not look at.
 *
 * @param root where `/proc` and `/sys` are
 */
export const usableCpus = (root = "/"): number =>
  Math.max(1, Math.min(availableParallelism(), Math.ceil(cpuQuota(root))));

/** CPUs' worth of time: the least that one of the control groups gives in which this process is; infinite without any. */
export function cpuQuota(root: string): number {
  const mounts = linesOf(join(root, "proc/self/mountinfo")).flatMap(mountIn);
  const shares = linesOf(join(root, "proc/self/cgroup")).flatMap((line) => {
    // `4:cpu,cpuacct:/docker/7f`, `0::/user.slice`: the latter is of version 2.
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
  /** The control group that is to be seen at `point`: in a container without a namespace for them, its own. */
  readonly top: string;
  readonly point: string;
  readonly options: string;
}

/** A line of `/proc/self/mountinfo`: `32 31 0:29 /top /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu`. */
function mountIn(line: string): readonly Mount[] {
  const [before = "", after = ""] = line.split(" - ");
  const [, , , top, point] = before.split(" ");
  const [kind = "", , options = ""] = after.split(" ");
  return kind.startsWith("cgroup") && top !== undefined && point !== undefined
    ? [{ kind, top, point, options }]
    : [];
}

/** The directories of a group and of those around it, as far as they are to be seen. */
function groupsOf(path: string, { point, top }: Mount): readonly string[] {
  const below = relative(top, path);
  const found: string[] = [];
  // What lies outside of what is mounted cannot be asked.
  for (let at = below.startsWith("..") ? "." : below || "."; ; at = dirname(at)) {
    found.push(join(point, at));
    if (at === ".") return found;
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

/** None of a file that is not there: on other systems there are no control groups. */
function linesOf(file: string): readonly string[] {
  try {
    return readFileSync(file, "utf8").trimEnd().split("\n");
  } catch {
    return [];
  }
}
