import { expect, test } from "vitest";
import { pendingReasons } from "../../../../src/app/plugins/slurm/pending-reasons.ts";
import type { TaskReport } from "../../../../src/app/plugins/slurm/task-state.ts";

const task = (
  index: number,
  reason: string | null,
  { array = "7", state = "PENDING" }: Partial<TaskReport> = {},
): TaskReport => ({ array, index, state, reason, exitCode: null });

const textOf = (...reports: readonly TaskReport[]) => pendingReasons(reports).get("7_0")?.text;

test.each([
  ["JobHeldUser", "it is held (JobHeldUser): 'scontrol release 7_0' releases it"],
  ["JobHeldAdmin", "an administrator holds it (JobHeldAdmin): ask them"],
  ["launch failed requeued held", "a node failed to start it, and Slurm holds it"],
  ["launch_failed_requeued_held", "'scontrol release 7_0' releases it"],
  ["JobHoldMaxRequeue", "'scontrol release 7_0' releases it"],
  ["DependencyNeverSatisfied", "it waits for a dependency that can never be satisfied"],
  ["BadConstraints", "no node has the requested resources (BadConstraints): cancel it with"],
  ["PartitionTimeLimit", "--resume DIR and another hydra.launcher.timeout_min"],
  [
    "PartitionConfig",
    "its partition does not have the requested resources (PartitionConfig): cancel it with",
  ],
  ["PartitionDown", "its partition starts no jobs"],
  ["ReqNodeNotAvail, UnavailableNodes:n[1-2]", "a node that it needs is not available"],
  [
    "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions",
    "a node that it needs is not available",
  ],
  ["QOSMaxCpuPerJobLimit", "it requests more or less than a job may have"],
  ["QOSMaxCpuPerJobLimit", "another hydra.launcher.cpus_per_task"],
  ["AssocMaxMemPerJob", "another hydra.launcher.mem_gb"],
  ["QOSMaxCpuPerNode", "another hydra.launcher.cpus_per_task"],
  ["QOSMaxNodePerJobLimit", "another hydra.launcher.nodes"],
  ["QOSMinGRES", "another hydra.launcher.gres"],
  ["QOSMaxGRESPerJob", "another hydra.launcher.gres"],
  ["AssocMaxWallDurationPerJobLimit", "another hydra.launcher.timeout_min"],
  ["QOSMaxBillingPerJob", "'scontrol show job' shows what it requests"],
  ["AssocGrpCPUMinutesLimit", "the budget of its account is used up"],
])("a job that waits for '%s' is told why, and what to do", (reason, words) => {
  expect(textOf(task(0, reason))).toContain(words);
});

test.each([
  null,
  "Resources",
  "Priority",
  "BeginTime",
  "JobArrayTaskLimit",
  "QOSMaxJobsPerUserLimit",
])("a job that waits for '%s' only waits its turn", (reason) => {
  expect(textOf(task(0, reason))).toBeUndefined();
});

test("a state of its own is held, too; what runs or is over is not", () => {
  expect(textOf(task(0, null, { state: "REQUEUE_HOLD" }))).toContain("scontrol release 7_0");
  for (const state of ["RUNNING", "COMPLETED"])
    expect(textOf(task(0, "JobHeldUser", { state }))).toBeUndefined();
});

test("jobs that wait for the same have the same text, which names all of them", () => {
  const held = [task(3, "JobHeldUser"), task(0, "JobHeldUser"), task(1, "JobHeldUser")];
  const found = pendingReasons([
    ...held,
    task(2, "JobHeldAdmin"),
    task(0, "JobHeldUser", { array: "8" }),
  ]);
  expect(found.get("7_0")?.text).toContain("'scontrol release 7_[0-1,3],8_0'");
  expect(found.get("8_0")).toBe(found.get("7_3"));
  expect(found.get("7_2")?.text).toContain("(JobHeldAdmin)");
});

test.each([
  ["QOSMaxCpuPerUserLimit", "cpus_per_task"],
  ["QOSGrpCpuLimit", "cpus_per_task"],
  ["AssocGrpMemLimit", "mem_gb"],
  ["QOSMaxGRESPerUser", "gres"],
  ["QOSMaxNodePerUserLimit", "nodes"],
  ["QOSMaxMemoryPerUser", "mem_gb"],
  ["QOSMaxCpuPerAccountLimit", "cpus_per_task"],
])("%s is a turn to wait for, unless one job alone asks for more", (reason, key) => {
  const first = task(0, reason);
  expect(textOf(first, task(1, null, { state: "RUNNING" }))).toBeUndefined();
  expect(textOf(first, task(1, "Resources"))).toBeUndefined();
  const text = textOf(first, task(1, reason));
  expect(text).toContain("other jobs use up the limit, or it requests more than the limit");
  expect(text).toContain(`another hydra.launcher.${key}`);
  expect(text).toContain("'squeue --me'");
});

test("an array that waits for others of the sweep is as it should be; one that waits for nothing of it is not", () => {
  const next = task(0, "Dependency");
  expect(textOf(next, task(0, null, { array: "6", state: "RUNNING" }))).toBeUndefined();
  expect(textOf(next, task(0, "Resources", { array: "6" }))).toBeUndefined();
  expect(textOf(next)).toContain("it waits for other jobs (Dependency)");
  const held = pendingReasons([next, task(0, "JobHeldUser", { array: "6" })]);
  expect([...held.keys()].sort()).toEqual(["6_0", "7_0"]);
});
