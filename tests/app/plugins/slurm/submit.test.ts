import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { SlurmClient } from "../../../../src/app/plugins/slurm/client.ts";
import { busy, noAnswer } from "../../../../src/app/plugins/slurm/slurm-errors.ts";
import { readSlurmSettings } from "../../../../src/app/plugins/slurm/slurm-settings.ts";
import {
  readSubmissions,
  slurmFolder,
  tasksOf,
} from "../../../../src/app/plugins/slurm/submissions.ts";
import {
  passOnShares,
  planArrays,
  submitJobs,
  withRetry,
} from "../../../../src/app/plugins/slurm/submit.ts";
import {
  begun,
  ended,
  type JobState,
  writeJobState,
} from "../../../../src/app/record/job-state.ts";
import { ConfigError } from "../../../../src/engine/values/errors.ts";
import { runs } from "../../../runs.ts";
import { factsIn } from "../../record/written.ts";

describe("arrays of a sweep", () => {
  const settings = readSlurmSettings({}, "/s/%j");
  const ofJobs = (...counts: readonly number[]) =>
    counts.map((count) => ({ settings, numbers: Array.from({ length: count }, (_, at) => at) }));

  test("run side by side where the limit leaves place for all jobs", () => {
    const arrays = planArrays(ofJobs(5, 1), 2, 6);
    expect(arrays.map(({ numbers }) => numbers)).toEqual([[0], [1, 2], [3, 4], [0]]);
    expect(arrays.every(({ after, parallelism }) => after === undefined && parallelism === 6)).toBe(
      true,
    );
  });

  test("share a smaller limit out by their jobs, and none waits for another", () => {
    const arrays = planArrays(ofJobs(8, 2), 4, 7);
    expect(arrays.map(({ after, parallelism }) => [after, parallelism])).toEqual([
      [undefined, 2],
      [undefined, 3],
      [undefined, 2],
    ]);
  });

  const running = (...arrays: readonly (readonly [left: number, parallelism: number])[]) =>
    arrays.map(([left, parallelism], at) => ({ array: String(at), left, parallelism }));

  test("pass on what they do not need of the limit to those whose jobs wait", () => {
    const given = (...arrays: readonly (readonly [number, number])[]) =>
      passOnShares(running(...arrays), 8).map(({ array, parallelism }) => [array, parallelism]);
    // One of three has ended, which had two.
    expect(given([20, 3], [20, 3])).toEqual([
      ["0", 4],
      ["1", 4],
    ]);
    // One has a slow job left, and the other no more jobs than it gets.
    expect(given([1, 4], [5, 4])).toEqual([["1", 5]]);
    expect(given([9, 8], [9, 8])).toEqual([]);
    expect(given([3, 8])).toEqual([]);
  });

  test("never run more jobs at a time than the limit by it, and leave nothing idle", () => {
    const array = fc.tuple(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 9 }));
    fc.assert(
      fc.property(fc.array(array, { minLength: 1, maxLength: 6 }), (shares) => {
        const arrays = running(...shares);
        const before = arrays.reduce((sum, one) => sum + Math.min(one.left, one.parallelism), 0);
        const limit = before + 7;
        const more = new Map(passOnShares(arrays, limit).map((one) => [one.array, one]));
        const after = arrays.map((one) => more.get(one.array) ?? one);
        const sum = after.reduce((all, one) => all + Math.min(one.left, one.parallelism), 0);
        const left = arrays.reduce((all, one) => all + one.left, 0);
        expect(sum).toBe(Math.min(limit, left));
      }),
      { numRuns: runs(200) },
    );
  });

  test("wait for each other only where there are more of them than jobs may run", () => {
    const arrays = planArrays(ofJobs(5), 1, 2);
    expect(arrays.map(({ after }) => after)).toEqual([undefined, undefined, 0, 1, 2]);
  });

  test("have each job once, never more at a time than the limit, and all of it while none has ended", () => {
    const counts = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 6 });
    const small = fc.integer({ min: 1, max: 60 });
    fc.assert(
      fc.property(counts, small, small, (jobs, size, limit) => {
        const groups = ofJobs(...jobs);
        const arrays = planArrays(groups, size, limit);
        expect(arrays.flatMap(({ numbers }) => numbers)).toEqual(
          groups.flatMap(({ numbers }) => numbers),
        );
        expect(Math.max(...arrays.map(({ numbers }) => numbers.length))).toBeLessThanOrEqual(size);
        for (const [at, { after = -1 }] of arrays.entries()) expect(after).toBeLessThan(at);
        const first = arrays.filter(({ after }) => after === undefined);
        const all = jobs.reduce((sum, count) => sum + count, 0);
        const sum = first.reduce((before, { parallelism }) => before + parallelism, 0);
        if (all > limit) expect(sum).toBe(limit);
        // Of those that wait, each comes for one that has ended, and runs no more than that one did.
        const waited = arrays.flatMap(({ after }) => after ?? []);
        expect(new Set(waited).size).toBe(waited.length);
      }),
      { numRuns: runs(200) },
    );
  });
});

describe("submit", () => {
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
      setParallelism: async () => true,
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
    const said: string[] = [];
    const read = readSlurmSettings(settings, join(directory, "logs/%j"));
    const submit = (client: SlurmClient) =>
      submitJobs({
        client,
        settings: read,
        facts: factsIn(directory, { program }),
        folder,
        groups: [{ settings: read, numbers: [0, 1, 2, 3] }],
        retry: { say: (line) => void said.push(line), pause: async () => {} },
      });
    return { folder, said, submit };
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

  test("if one array is refused, the others are cancelled and its note is removed", async () => {
    const { folder, submit } = sweep();
    const { cancelled, client } = slurm((before) => {
      if (before === 1) throw new ConfigError({ code: "slurm/rejected", message: "no" });
    });
    await expect(submit(client)).rejects.toMatchObject({ code: "slurm/rejected" });
    expect(cancelled).toEqual(["1"]);
    expect(readSubmissions(folder).map(({ array }) => array)).toEqual(["1"]);
  });

  test("an array that can no longer be noted is cancelled, like those before it, and searched for later", async () => {
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

  const busySlurm = () => busy("Socket timed out on send/recv operation");

  test("a Slurm that takes nothing for now is asked again, and nothing is left of what it did not take", async () => {
    const { folder, said, submit } = sweep();
    const answers = [busySlurm, busySlurm];
    const { client } = slurm(() => {
      const answer = answers.pop();
      if (answer !== undefined) throw answer();
    });
    expect(await submit(client)).toEqual(["1", "2"]);
    expect(said).toEqual(
      [1, 2].map(
        (seconds) =>
          `Slurm does not accept jobs at the moment: Socket timed out on send/recv operation; trying again in ${seconds} s`,
      ),
    );
    const made = readSubmissions(folder);
    expect(made.map(({ array, jobs }) => [array, jobs.map(({ number }) => number)])).toEqual([
      ["1", [0, 1]],
      ["2", [2, 3]],
    ]);
    // A script that nobody waits for must not run, should it come late.
    const scripts = readdirSync(slurmFolder(folder)).filter((name) => name.endsWith(".sh"));
    expect(scripts.sort()).toEqual(made.map(({ script }) => basename(script)).sort());
  });

  test("what it has taken, and could not say so, is not submitted twice", async () => {
    const { folder, submit } = sweep();
    const { client } = slurm(() => {});
    let heard: string | undefined;
    let tries = 0;
    const deaf: SlurmClient = {
      ...client,
      async submit(options, script) {
        const array = await client.submit(options, script);
        if (tries++ > 0) return array;
        heard = script;
        throw busySlurm();
      },
      arrayOf: async (script) => (script === heard ? "1" : undefined),
    };
    expect(await submit(deaf)).toEqual(["1", "2"]);
    expect(tries).toBe(2);
    expect(readSubmissions(folder).map(({ array }) => array)).toEqual(["1", "2"]);
  });

  test("while it cannot be asked whether it has taken it, nothing is submitted", async () => {
    const { said, submit } = sweep();
    const { client } = slurm(() => {});
    const deeds: string[] = [];
    const silent: SlurmClient = {
      ...client,
      async submit(options, script) {
        deeds.push("submit");
        if (deeds.length === 1) throw busySlurm();
        return client.submit(options, script);
      },
      async arrayOf() {
        deeds.push("ask");
        if (deeds.length < 4) throw noAnswer("Unable to contact slurm controller");
        return undefined;
      },
    };
    expect(await submit(silent)).toEqual(["1", "2"]);
    expect(deeds).toEqual(["submit", "ask", "ask", "ask", "ask", "submit", "submit"]);
    expect(said).toHaveLength(3);
  });

  test("its size of arrays is not guessed while it does not tell", async () => {
    const { submit } = sweep();
    const { client } = slurm(() => {});
    let asked = 0;
    const size = async () => {
      asked++;
      if (asked === 1) throw busySlurm();
      return 4;
    };
    expect(await submit({ ...client, maxArraySize: size })).toEqual(["1"]);
  });

  test("after the last try, arrays that Slurm may have accepted stay noted for --resume", async () => {
    const { folder, said, submit } = sweep();
    const { cancelled, client } = slurm((before) => {
      if (before === 1) throw busySlurm();
    });
    const unreachable = { ...client, cancel: async () => Promise.reject(noAnswer()) };
    await expect(submit(unreachable)).rejects.toMatchObject({ code: "slurm/busy" });
    expect(cancelled).toEqual([]);
    expect(said).toHaveLength(10);
    expect(readSubmissions(folder).map(({ array }) => array)).toEqual(["1", null]);
  });

  describe("where no more jobs may be submitted", () => {
    const full = () =>
      new ConfigError({ code: "slurm/full", message: "QOSMaxSubmitJobPerUserLimit" });
    const task = (state: string) => ({ array: "1", index: 0, state, reason: null, exitCode: null });

    /** The first array has been taken, and its first job has run so far; the second is refused while Slurm says this of that. */
    function second(job: JobState, states: (string | undefined)[]) {
      const { folder, said, submit } = sweep();
      const { cancelled, client } = slurm((before) => {
        if (before === 0) return;
        writeJobState(folder, job);
        if (states.length > 0) throw full();
      });
      const asking = {
        ...client,
        async tasks() {
          const state = states.shift();
          return state === undefined ? undefined : [task(state)];
        },
      };
      return { cancelled, said, submitted: submit(asking) };
    }
    const running = begun(0, undefined);

    test("what has ended and still counts is waited for", async () => {
      const done = ended(running, { endedBy: { by: "itself" }, exitCode: 0 });
      const { said, submitted } = second(done, ["RUNNING", "COMPLETING"]);
      expect(await submitted).toEqual(["1", "2"]);
      expect(said).toHaveLength(2);
      expect(said[0]).toMatch(/QOSMaxSubmitJobPerUserLimit; trying again in 1 s$/);
    });

    test("what ran to its end when Slurm refused may have left when it is asked: that is one try more", async () => {
      const done = ended(running, { endedBy: { by: "itself" }, exitCode: 0 });
      expect(await second(done, ["COMPLETED"]).submitted).toEqual(["1", "2"]);
      const { cancelled, said, submitted } = second(done, ["COMPLETED", "COMPLETED", "COMPLETED"]);
      await expect(submitted).rejects.toMatchObject({ code: "slurm/full" });
      expect(said).toHaveLength(1);
      expect(cancelled).toEqual(["1"]);
    });

    test("a Slurm that does not say whether they have left has not said so", async () => {
      const done = ended(running, { endedBy: { by: "itself" }, exitCode: 0 });
      expect(await second(done, [undefined, undefined]).submitted).toEqual(["1", "2"]);
    });

    test("what still runs is not waited for", async () => {
      const { cancelled, said, submitted } = second(running, ["RUNNING"]);
      await expect(submitted).rejects.toMatchObject({ code: "slurm/full" });
      expect(said).toEqual([]);
      expect(cancelled).toEqual(["1"]);
    });
  });
});

describe("retry", () => {
  test("a process told to stop while it asks Slurm neither announces nor makes another try", async () => {
    const stop = new AbortController();
    const said: string[] = [];
    let tries = 0;
    const attempt = async () => {
      tries++;
      stop.abort();
      throw busy("Socket timed out on send/recv operation");
    };
    const retry = { say: (line: string) => void said.push(line), signal: stop.signal };
    await expect(withRetry(attempt, retry)).rejects.toMatchObject({ code: "slurm/busy" });
    expect([tries, said]).toEqual([1, []]);
  });
});
