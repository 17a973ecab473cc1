import { expect, test } from "vitest";
import { rejected } from "../../../../src/app/launchers/slurm/refusals.ts";
import { sbatchOptions } from "../../../../src/app/launchers/slurm/sbatch-options.ts";
import { readSettings } from "../../../../src/app/launchers/slurm/settings.ts";

const GRES = "sbatch: error: Invalid generic resource (gres) specification";
const MEMORY = `sbatch: error: Memory specification can not be satisfied
sbatch: error: Batch job submission failed: Requested node configuration is not available`;
const request = { size: 1, cwd: "/w", log: { folder: "/w/log", name: "%A_%a.log" } };

/** The key that a refusal of sbatch is about, of a sweep with these settings. */
const keyOf = (words: string, settings: Readonly<Record<string, unknown>>) =>
  rejected(words, sbatchOptions(readSettings(settings, "/w/%j"), request)).details.key;

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
])("sbatch's '%s' is about the key that was set: %j", (words, settings, key) => {
  expect(keyOf(words, settings)).toBe(`hydra.launcher.${key}`);
});
