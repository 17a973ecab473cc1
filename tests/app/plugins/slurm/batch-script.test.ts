import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  batchScript,
  sbatchOptions,
  signalDelay,
} from "../../../../src/app/plugins/slurm/batch-script.ts";
import { slurmLauncher } from "../../../../src/app/plugins/slurm/slurm-launcher.ts";
import {
  insteadOfSetting,
  readSlurmSettings,
} from "../../../../src/app/plugins/slurm/slurm-settings.ts";
import { shellQuote } from "../../../../src/foundation/text/shell-words.ts";
import { runs } from "../../../runs.ts";

const settingsOf = (plain: Readonly<Record<string, unknown>> = {}) =>
  readSlurmSettings(plain, "/s/.submitit/%j");

/** A text of what shells read as more than itself. */
const nasty = fc
  .array(
    fc.constantFrom(
      "'",
      '"',
      "`",
      "$",
      "\\",
      "\n",
      " ",
      ";",
      "&",
      "|",
      "#",
      "!",
      "*",
      "%j",
      "%",
      "é",
      "a",
      "-",
      "(",
      "~",
      "=",
      ",",
    ),
    { minLength: 1, maxLength: 12 },
  )
  .map((parts) => parts.join(""));

/** Runs the script as a task of an array, with an srun that notes its arguments and its surroundings. */
function runScript(
  folder: string,
  command: readonly string[],
  rest: string,
  { index = 1, trust }: { readonly index?: number; readonly trust?: string } = {},
) {
  const dir = mkdtempSync(join(tmpdir(), "hydraconf-script-"));
  const bin = join(dir, "bin");
  mkdirSync(bin);
  mkdirSync(join(dir, "timeouts"));
  writeFileSync(
    join(bin, "srun"),
    `#!/bin/bash\nprintf '%s\\0' "$@" >"$SEEN"\nprintf '%s' "$WORKER" >"$SEEN.worker"\nprintf '%s' "$HYDRACONF_TRUST" >"$SEEN.trust"\n`,
  );
  chmodSync(join(bin, "srun"), 0o755);
  const script = join(dir, "script.sh");
  writeFileSync(
    script,
    batchScript(settingsOf({ submitit_folder: `${dir}/logs/${folder}` }), {
      jobs: [5, 8],
      command,
      variable: { name: "WORKER", rest },
      path: script,
      timeoutFolder: join(dir, "timeouts"),
      slurmLog: `${shellQuote(dir)}/"$id".log`,
      ...(trust !== undefined && { trust }),
    }),
  );
  execFileSync("bash", [script], {
    env: {
      PATH: `${bin}:/usr/bin:/bin`,
      SEEN: join(dir, "seen"),
      SLURM_ARRAY_JOB_ID: "77",
      SLURM_ARRAY_TASK_ID: String(index),
    },
  });
  return {
    dir,
    args: readFileSync(join(dir, "seen"), "utf8").split("\0").slice(0, -1),
    worker: readFileSync(join(dir, "seen.worker"), "utf8"),
    trust: readFileSync(join(dir, "seen.trust"), "utf8"),
  };
}

describe("the script of a task", () => {
  test("passes every argument and path as it is, whatever stands in it", () => {
    fc.assert(
      fc.property(fc.array(nasty, { minLength: 1, maxLength: 4 }), nasty, (command, folder) => {
        const { args, worker } = runScript("log", command, folder);
        expect(args).toEqual(["--unbuffered", ...command]);
        expect(worker).toBe(`8:${folder}`);
      }),
      { numRuns: runs(15) },
    );
  });

  test("tells the worker what the sweep trusts", () => {
    const trust = `sha256-${"0".repeat(64)}`;
    expect(runScript("log", ["true"], "/x", { trust }).trust).toBe(trust);
    expect(runScript("log", ["true"], "/x").trust).toBe("");
  });

  test("logs where submitit does, also in folders with odd names", () => {
    const { dir } = runScript("it's $HOME `id`/%j/%A-%a", ["true"], "/x", { index: 0 });
    const folder = join(dir, "logs/it's $HOME `id`/77_0/77-0");
    expect(readdirSync(folder).sort()).toEqual(["77_0_0_log.err", "77_0_0_log.out"]);
    expect(existsSync(join(dir, "77_0.log"))).toBe(false);
  });
});

test("every log tells where a task runs again, so that what it said before is not its end", () => {
  const dir = mkdtempSync(join(tmpdir(), "hydraconf-script-"));
  const logs = ["7_0_0_log.err", "7_0_0_log.out", "7_0_1_log.err", "slurm.log"];
  for (const log of logs) writeFileSync(join(dir, log), "srun: error: n1: task 0: Out Of Memory\n");
  writeFileSync(join(dir, "7_0_1_log.out"), "");
  writeFileSync(join(dir, "srun"), "#!/bin/bash\n", { mode: 0o755 });
  const script = join(dir, "script.sh");
  const run = (restart: Readonly<Record<string, string>>) => {
    writeFileSync(
      script,
      batchScript(settingsOf({ submitit_folder: dir }), {
        ...{ jobs: [5], command: ["true"], path: script, timeoutFolder: dir },
        ...{ variable: { name: "WORKER", rest: "" }, slurmLog: `${shellQuote(dir)}/slurm.log` },
      }),
    );
    const env = { SLURM_ARRAY_JOB_ID: "7", SLURM_ARRAY_TASK_ID: "0", ...restart };
    execFileSync("bash", [script], { env: { PATH: `${dir}:/usr/bin:/bin`, ...env } });
    return logs.map((log) => readFileSync(join(dir, log), "utf8").split("\n").at(-2));
  };
  const before = "srun: error: n1: task 0: Out Of Memory";
  expect(run({})).toEqual(logs.map(() => before));
  expect(run({ SLURM_RESTART_COUNT: "0" })).toEqual(logs.map(() => before));
  expect(run({ SLURM_RESTART_COUNT: "1" })).toEqual(
    logs.map(() => "hydraconf: job #5 (7_0) runs again"),
  );
  expect(readFileSync(join(dir, "7_0_1_log.out"), "utf8")).toBe("");
});

/** Runs the script of an array's only task, with commands that are these lines of shell; what Slurm was asked. */
function runTask(
  commands: Readonly<Record<"srun" | "scontrol", readonly string[]>>,
  settings: Readonly<Record<string, unknown>> = {},
) {
  const dir = mkdtempSync(join(tmpdir(), "hydraconf-script-"));
  const scontrol = ['echo "$@" >>"$CALLS"', ...commands.scontrol];
  for (const [name, lines] of Object.entries({ sleep: [], ...commands, scontrol }))
    writeFileSync(join(dir, name), ["#!/bin/bash", ...lines, ""].join("\n"), { mode: 0o755 });
  const script = join(dir, "script.sh");
  writeFileSync(
    script,
    batchScript(settingsOf({ submitit_folder: dir, ...settings }), {
      jobs: [5],
      command: ["true"],
      variable: { name: "WORKER", rest: "" },
      path: script,
      timeoutFolder: dir,
      slurmLog: `${dir}/log`,
    }),
  );
  writeFileSync(join(dir, "calls"), "");
  const { status } = spawnSync("bash", [script], {
    env: {
      PATH: `${dir}:/usr/bin:/bin`,
      CALLS: join(dir, "calls"),
      BEGUN: join(dir, "begun"),
      SLURM_ARRAY_JOB_ID: "77",
      SLURM_ARRAY_TASK_ID: "0",
    },
  });
  const calls = readFileSync(join(dir, "calls"), "utf8").split("\n").slice(0, -1);
  return {
    status,
    calls,
    /** What stands in the file of Slurm's own messages; undefined where there is none. */
    said: existsSync(join(dir, "log")) ? readFileSync(join(dir, "log"), "utf8") : undefined,
    requeues: calls.filter((call) => call === "requeue 77_0").length,
    begun: existsSync(join(dir, "begun")),
  };
}

test("a script says with which code it ended, which Slurm forgets", () => {
  const said = (srun: string, setup: readonly string[] = []) =>
    runTask({ srun: [srun], scontrol: [] }, { setup }).said;
  const told = (code: number) => `hydraconf: job #5 (77_0) ended with code ${code}\n`;
  expect(said("exit 0")).toBeUndefined();
  expect(said("exit 7")).toBe(told(7));
  expect(said("kill -KILL $$")).toBe(told(137));
  expect(said("exit 0", ["exit 3"])).toBe(told(3));
  expect(said("exit 0", ["set -e", "false"])).toBe(told(1));
  // What set-up lines leave to be done at the end is done.
  expect(said("exit 7", ["trap 'echo cleaned >>\"$slurm_log\"' EXIT"])).toBe(`${told(7)}cleaned\n`);
});

describe.skipIf(spawnSync("shellcheck", ["--version"]).error !== undefined)("shellcheck", () => {
  test.each<Readonly<Record<string, unknown>>>([
    {},
    { nodes: 2, tasks_per_node: 4 },
    { stderr_to_stdout: true, setup: ["module load cuda"], srun_args: ["--mpi=none"] },
  ])("has nothing to say of the script of %o", (settings) => {
    const script = batchScript(settingsOf(settings), {
      jobs: [5, 8],
      command: ["node", "a b"],
      variable: { name: "WORKER", rest: ":/x" },
      path: "/s/it's",
      timeoutFolder: "/s/timeouts",
      slurmLog: '/s/"$id".log',
      trust: "sha256-0",
    });
    expect(spawnSync("shellcheck", ["-"], { input: script, encoding: "utf8" }).stdout).toBe("");
  });
});

/** What `scontrol show job` says. */
const shows = (state: string, preempted = "2026-01-02T03:04:05"): string =>
  `case "$*" in *show*) echo "JobState=${state} Reason=None PreemptEligibleTime=2026-01-02T03:04:05 PreemptTime=${preempted}" ;; esac`;
const PREEMPTED = shows("RUNNING");
const SILENT = 'echo "Socket timed out" >&2; exit 1';
/** So often it was called before. */
const CALLED = '$(($(wc -l <"$CALLS") - 1))';

test.each([
  ["is too busy for some answers", `case ${CALLED} in 0 | 2 | 3) ${SILENT} ;; esac`],
  ["is started again and silent for a while", `if [ ${CALLED} -lt 40 ]; then ${SILENT}; fi`],
  ["has nothing to say at first, and calls it an answer", `[ ${CALLED} -gt 2 ] || exit 0`],
])("a preempted job is queued again also where the controller %s", (_, hindrance) => {
  const { calls, status } = runTask({ srun: ["exit 143"], scontrol: [hindrance, PREEMPTED] });
  expect(status).toBe(143);
  expect(calls.at(-1)).toBe("requeue 77_0");
});

test("a request to queue a job again that was heard, and not answered, is not made twice", () => {
  const { calls, requeues } = runTask({
    srun: ["exit 143"],
    scontrol: [
      `if grep -q requeue "$CALLS"; then case "$1" in requeue) ${SILENT} ;; esac; ${shows("PENDING")}`,
      `else ${PREEMPTED}; fi`,
    ],
  });
  expect(requeues).toBe(1);
  expect(calls.at(-1)).toBe("--oneliner show job 77_0");
});

test("what is queued again has not ended: its script says no code", () => {
  const nearEnd = { setup: ["kill -USR2 $$"] };
  const commands = { srun: ["exit 143"], scontrol: [PREEMPTED] };
  expect(runTask(commands)).toMatchObject({ requeues: 1, said: undefined });
  expect(runTask(commands, nearEnd)).toMatchObject({ requeues: 1, said: undefined });
});

test.each([
  ["was cancelled", shows("CANCELLED")],
  ["is being ended and put back by Slurm itself", shows("COMPLETING")],
  ["is held", shows("REQUEUE_HOLD")],
  ["ended by a signal of its user's", shows("RUNNING", "None")],
])("a job that %s is not queued again", (_, scontrol) => {
  const { requeues, status } = runTask({ srun: ["exit 143"], scontrol: [scontrol] });
  expect([requeues, status]).toEqual([0, 143]);
});

// A busy node confirms the signal only later: Slurm says so then.
test("a preempted job is queued again also while Slurm is still telling it", () => {
  const outcome = runTask({ srun: ["exit 143"], scontrol: [shows("SIGNALING")] });
  expect(outcome).toMatchObject({ requeues: 1, status: 143 });
});

test("a job that ends by any signal that preempts it is queued again, and none that is done", () => {
  const requeues = (code: number) =>
    runTask({ srun: [`exit ${code}`], scontrol: [PREEMPTED] }).requeues;
  expect([143, 140, 0, 1].map(requeues)).toEqual([1, 1, 0, 0]);
});

// Its time limit may be near as well.
test.each([
  ["as it ends", ["kill -USR2 $PPID", "exit 143"]],
  [
    "before it ends",
    ["trap 'exit 143' USR2", "while :; do kill -USR2 $PPID; /bin/sleep 0.01; done"],
  ],
])("a job that ends by TERM is queued again also where it is told by USR2, too: %s", (_, srun) => {
  for (let round = 0; round < 5; round++)
    expect(runTask({ srun, scontrol: [PREEMPTED] }).requeues).toBe(1);
});

describe("a job that is told of its end and goes on", () => {
  // Sleeping costs the script no time, and its clock goes on nevertheless.
  const setup = ['sleep() { SECONDS=$((SECONDS + $1)); echo "sleep $1" >>"$CALLS"; }'];
  const untilPutBack = 'until grep -q requeue "$CALLS"; do /bin/sleep 0.01; done';
  const srun = ["trap '' USR2", "kill -USR2 $PPID", untilPutBack];

  test.each([
    [120, 105],
    [60, 45],
    [16, 1],
    [10, 1],
  ])(
    "%d s before its time is over has %d s to save its work, and is queued again",
    (signal_delay_s, seconds) => {
      const { calls, status } = runTask({ srun, scontrol: [] }, { setup, signal_delay_s });
      expect(calls.slice(0, calls.indexOf("requeue 77_0"))).toEqual(Array(seconds).fill("sleep 1"));
      expect(status).toBe(1);
    },
  );
});

describe("a job that is told of its end before it began", () => {
  const commands = { srun: [': >"$BEGUN"'], scontrol: [PREEMPTED] };
  const setup = ["kill -USR2 $$"];

  test("is queued again and does not begin", () => {
    expect(runTask(commands, { setup })).toMatchObject({ requeues: 1, begun: false, status: 1 });
  });

  test("runs if it is out of time and has no try left", () => {
    const short = { setup, timeout_min: 1 };
    expect(runTask(commands, short)).toMatchObject({ requeues: 0, begun: true, status: 0 });
    const tries = { ...short, max_num_timeout: 1 };
    expect(runTask(commands, tries)).toMatchObject({ requeues: 1, begun: false });
  });
});

describe("options of sbatch", () => {
  const log = { folder: "/s/100%j", name: "%A_%a.log" };
  const request = { size: 3, parallelism: 256, cwd: "/w d", log };
  const optionsOf = (...given: Parameters<typeof sbatchOptions>) =>
    sbatchOptions(...given).map(({ text }) => text);

  test("of defaults are submitit's", () => {
    expect(optionsOf(settingsOf(), request)).toEqual([
      "--array=0-2%256",
      "--job-name=hydraconf",
      "--time=60",
      "--ntasks-per-node=1",
      "--nodes=1",
      "--signal=B:USR2@120",
      "--requeue",
      "--open-mode=append",
      "--chdir=/w d",
      "--output=/s/100%%j/%A_%a.log",
    ]);
  });

  test("of keys have their names, and additional parameters come last but for the chain", () => {
    const options = optionsOf(
      settingsOf({
        partition: "gpu",
        mem_gb: 16,
        gpus_per_node: 2,
        mem_per_cpu: "2G",
        constraint: "a100&ib",
        comment: "it's; mine",
        additional_parameters: { mail_type: ["END", "FAIL"], exclusive: true, hold: false, p: "x" },
      }),
      { ...request, after: "12" },
    );
    for (const option of [
      "--partition=gpu",
      "--mem=16G",
      "--gpus-per-node=2",
      "--mem-per-cpu=2G",
      "--constraint=a100&ib",
      "--comment=it's; mine",
    ])
      expect(options).toContain(option);
    expect(options.slice(-4)).toEqual([
      "--mail-type=END,FAIL",
      "--exclusive",
      "-px",
      "--dependency=afterany:12",
    ]);
  });

  test("what the sweep decides itself is refused", () => {
    expect(() =>
      sbatchOptions(settingsOf({ additional_parameters: { array: "0-9" } }), request),
    ).toThrow(/additional_parameters.array: the sweep itself sets --array/);
  });

  test("a short job is signalled at half of its time, not at its start", () => {
    expect(signalDelay(settingsOf({ timeout_min: 1 }))).toBe(30);
    expect(signalDelay(settingsOf({ timeout_min: 60 }))).toBe(120);
  });
});

describe("settings", () => {
  test("a key that is not there is refused with the nearest one", () => {
    expect(() => settingsOf({ partitoin: "x" })).toThrow(/no such key/);
  });

  test.each([
    ["time", "timeout_min"],
    ["gpus", "gpus_per_node"],
    ["slurm_partition", "partition"],
    ["slurm_mem", "mem_gb"],
    ["ntasks-per-node", "tasks_per_node"],
  ])(
    "of others' names, '%s' is ours of the same meaning, and not of like letters",
    (name, ours) => {
      expect(insteadOfSetting(name)).toEqual({ nearest: ours });
      expect(slurmLauncher.insteadOf?.(name)).toEqual({ nearest: ours });
      expect(() => settingsOf({ [name]: 1 })).toThrow(
        expect.objectContaining({ details: expect.objectContaining({ nearest: ours }) }),
      );
    },
  );

  test.each(["mail_type", "constructor"])("'%s' has a hint", (name) => {
    expect(insteadOfSetting(name)).toEqual({
      hint: `put sbatch options without a key of their own into +hydra.launcher.additional_parameters.${name}=...`,
    });
  });

  test.each([
    ["timeout_min", 0],
    ["mem_gb", "much"],
    ["nodes", true],
    ["stderr_to_stdout", 1],
    ["setup", "module load x"],
    ["additional_parameters", [1]],
    ["array_parallelism", null],
  ])("%s: %s is refused", (key, value) => {
    expect(() => settingsOf({ [key]: value })).toThrow(`hydra.launcher.${key} must be`);
  });
});
