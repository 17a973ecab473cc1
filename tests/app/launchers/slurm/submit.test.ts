import { mkdirSync, mkdtempSync, renameSync, rmdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { SlurmClient } from "../../../../src/app/launchers/slurm/client.ts";
import { readSettings } from "../../../../src/app/launchers/slurm/settings.ts";
import {
  readSubmissions,
  slurmFolder,
  tasksOf,
} from "../../../../src/app/launchers/slurm/submissions.ts";
import { submitJobs } from "../../../../src/app/launchers/slurm/submit.ts";
import { ConfigError } from "../../../../src/values/errors.ts";
import { factsIn } from "../../sweep/record/written.ts";

/** A Slurm that takes arrays of two jobs; `submit` is called with how many it was given before. */
function slurm(submit: (before: number) => void) {
  const submitted: string[] = [];
  const cancelled: string[] = [];
  const client: SlurmClient = {
    async submit() {
      submit(submitted.length);
      submitted.push(String(submitted.length + 1));
      return String(submitted.length);
    },
    maxArraySize: async () => 2,
    tasks: async () => [],
    recentTasks: async () => [],
    cancel: async (ids) => void cancelled.push(...ids),
    arrayOf: async () => undefined,
  };
  return { cancelled, client };
}

function sweep(settings: Readonly<Record<string, unknown>> = {}) {
  const directory = mkdtempSync(join(tmpdir(), "hydraconf-submit-"));
  const folder = join(directory, ".sweep");
  const program = { name: "prog", command: ["prog"], argv: [] };
  const submit = (client: SlurmClient) =>
    submitJobs({
      client,
      settings: readSettings(settings, join(directory, "logs/%j")),
      facts: factsIn(directory, { program }),
      folder,
      numbers: [0, 1, 2, 3],
    });
  return { folder, submit };
}

test("what gives the jobs their memory is noted with them", async () => {
  for (const [settings, memory_key] of [
    [{}, undefined],
    [{ mem_gb: 4 }, "mem_gb"],
    [{ mem_per_cpu: "4G" }, "mem_per_cpu"],
    [{ mem_gb: 4, additional_parameters: { mem: "8G" } }, "additional_parameters.mem"],
  ] as const) {
    const { folder, submit } = sweep(settings);
    await submit(slurm(() => {}).client);
    const noted = [...tasksOf(readSubmissions(folder)).values()];
    expect(noted.map((task) => task.memory_key)).toEqual([0, 1, 2, 3].map(() => memory_key));
  }
});

test("where one array is not accepted none of the others stays, and it is noted no more", async () => {
  const { folder, submit } = sweep();
  const { cancelled, client } = slurm((before) => {
    if (before === 1) throw new ConfigError({ code: "slurm.rejected", message: "no" });
  });
  await expect(submit(client)).rejects.toMatchObject({ code: "slurm.rejected" });
  expect(cancelled).toEqual(["1"]);
  expect(readSubmissions(folder).map(({ array }) => array)).toEqual(["1"]);
});

test("an array that cannot be noted any more is cancelled, like those before it, and looked for later", async () => {
  const { folder, submit } = sweep();
  const file = join(slurmFolder(folder), "submissions.jsonl");
  const { cancelled, client } = slurm((before) => {
    if (before === 0) return;
    // As with a disk that is full, or gone: nothing can be added.
    renameSync(file, `${file}.away`);
    mkdirSync(file);
  });
  await expect(submit(client)).rejects.toThrow("EISDIR");
  expect(cancelled).toEqual(["1", "2"]);
  rmdirSync(file);
  renameSync(`${file}.away`, file);
  expect(readSubmissions(folder).map(({ array }) => array)).toEqual(["1", null]);
});
