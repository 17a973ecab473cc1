import { expect, test } from "vitest";
import { sbatchOptions } from "../../../../src/app/plugins/slurm/batch-script.ts";
import { busyBy, rejected } from "../../../../src/app/plugins/slurm/slurm-errors.ts";
import { readSlurmSettings } from "../../../../src/app/plugins/slurm/slurm-settings.ts";

const GRES = "sbatch: error: Invalid generic resource (gres) specification";
const MEMORY = `sbatch: error: Memory specification can not be satisfied
sbatch: error: Batch job submission failed: Requested node configuration is not available`;
const ACCOUNT =
  "sbatch: error: Batch job submission failed: Invalid account or account/partition combination specified";
const log = { folder: "/w/log", name: "%A_%a.log" };
const request = { size: 1, parallelism: 1, cwd: "/w", log };

/** The key that a refusal of sbatch is about, of a sweep with these settings. */
const keyOf = (words: string, settings: Readonly<Record<string, unknown>>) =>
  rejected(words, sbatchOptions(readSlurmSettings(settings, "/w/%j"), request)).details.key;

test.each([
  [GRES, { gres: "gpu:1" }, "gres"],
  [GRES, { gpus_per_node: 1, mem_gb: 4 }, "gpus_per_node"],
  [GRES, { gpus_per_task: 1 }, "gpus_per_task"],
  [GRES, { mem_per_gpu: "4G" }, "mem_per_gpu"],
  [GRES, { additional_parameters: { gpus: 2 } }, "additional_parameters.gpus"],
  [
    GRES,
    { additional_parameters: { gpus_per_socket: 2 } },
    "additional_parameters.gpus_per_socket",
  ],
  [GRES, {}, "gres"],
  [MEMORY, { mem_gb: 9999 }, "mem_gb"],
  [MEMORY, { mem_per_cpu: "999G" }, "mem_per_cpu"],
  [MEMORY, { additional_parameters: { mem: "999G" } }, "additional_parameters.mem"],
  [MEMORY, { additional_parameters: { mem: "999G" }, mem_gb: 4 }, "additional_parameters.mem"],
  [MEMORY, { additional_parameters: { "mem-bind": "local" }, mem_gb: 9999 }, "mem_gb"],
  [
    "sbatch: fatal: --mem, --mem-per-cpu, and --mem-per-gpu are mutually exclusive.",
    { mem_gb: 1, mem_per_cpu: "1G" },
    "mem_gb",
  ],
  ["sbatch: error: invalid partition specified: x", { partition: "x" }, "partition"],
  // As sbatch 22.05 says it with accounting by slurmdbd.
  [ACCOUNT, { account: "x", partition: "main" }, "account"],
  [ACCOUNT, { partition: "gpu" }, "partition"],
  [ACCOUNT, {}, "account"],
  ["sbatch: error: Batch job submission failed: Invalid qos specification", { qos: "x" }, "qos"],
  [
    "sbatch: error: Batch job submission failed: Invalid license specification",
    { additional_parameters: { licenses: "matlab" } },
    "additional_parameters.licenses",
  ],
  [
    "sbatch: error: Batch job submission failed: Requested reservation is invalid",
    { additional_parameters: { reservation: "r" } },
    "additional_parameters.reservation",
  ],
])("sbatch's '%s' is about the key that was set: %j", (words, settings, key) => {
  expect(keyOf(words, settings)).toBe(`hydra.launcher.${key}`);
});

test.each([
  "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation",
  "sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)",
  "sbatch: error: Slurm temporarily unable to accept job, sleeping and retrying.\nsbatch: error: Batch job submission failed: Resource temporarily unavailable",
  "sbatch: error: Batch job submission failed: Zero Bytes were transmitted or received",
  "sbatch: error: Batch job submission failed: Slurm backup controller in standby mode",
  "slurm_load_ctl_conf error: Unable to contact slurm controller (connect failure)",
])("'%s' may be another answer another time", (words) => {
  expect(busyBy(words)?.code).toBe("slurm/busy");
});

test.each([
  "sbatch: error: invalid partition specified: x",
  "sbatch: error: Batch job submission failed: Requested partition configuration not available now",
  "sbatch: error: Batch job submission failed: Required partition not available (inactive or drain)",
  "sbatch: fatal: Could not establish a configuration source",
])("'%s' is for good", (words) => {
  expect(busyBy(words)).toBeUndefined();
});

const POLICY =
  "sbatch: error: Batch job submission failed: Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)";

test.each([
  `sbatch: error: QOSMaxSubmitJobPerUserLimit\n${POLICY}`,
  `sbatch: error: AssocMaxSubmitJobLimit\n${POLICY}`,
  `sbatch: error: AssocGrpSubmitJobsLimit\n${POLICY}`,
  POLICY,
])("a limit of jobs that may be submitted is no wrong account or QOS: '%s'", (words) => {
  const { details } = rejected(words, []);
  expect(details.hint).toContain("hydra.sweeper.max_batch_size=N");
});

test.each([
  ["QOSMaxWallDurationPerJobLimit", {}, "timeout_min"],
  ["AssocMaxWallDurationPerJobLimit", {}, "timeout_min"],
  ["QOSGrpCpuLimit", { cpus_per_task: 2 }, "cpus_per_task"],
  ["QOSMinCpuNotSatisfied", { gpus_per_node: 1, cpus_per_gpu: 2 }, "cpus_per_gpu"],
  ["QOSMinCpuNotSatisfied", {}, "cpus_per_task"],
  ["AssocMaxMemPerJob", { mem_per_cpu: "9G" }, "mem_per_cpu"],
  ["QOSMaxGRESPerJob", { gpus_per_node: 8 }, "gpus_per_node"],
  ["AssocMaxNodePerJobLimit", {}, "nodes"],
  ["AssocGrpBillingMinutes", {}, "account"],
])(
  "a limit of a job is no limit of jobs that may be submitted: %s with %j",
  (limit, settings, key) => {
    const options = sbatchOptions(readSlurmSettings(settings, "/w/%j"), request);
    const { details } = rejected(`sbatch: error: ${limit}\n${POLICY}`, options);
    expect(details.key).toBe(`hydra.launcher.${key}`);
    expect(details.hint).toContain("sacctmgr show qos");
    expect(details.hint).not.toContain("max_batch_size");
  },
);
