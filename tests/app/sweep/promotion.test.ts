/** Trials of successive halving that go on from the checkpoints of their earlier jobs. */
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runSweepCommand } from "../../../src/app/cli/sweep-command.ts";
import type { Job } from "../../../src/app/job/job.ts";
import { capturedConsole } from "../../captured-console.ts";
import { commandPath } from "../../e2e/command.ts";
import { program } from "../cli/program.ts";
import { forgetJob } from "../record/written.ts";

const HALVING = [
  ...["-m", "hydra/sweeper=successive_halving", "hydra.sweeper.budget_key=n"],
  ...["hydra.sweeper.min_budget=1", "hydra.sweeper.max_budget=4", "hydra.sweeper.eta=2"],
  ...["hydra.sweeper.seed=1", "x=interval(0,1)"],
];

interface Row {
  readonly number: number;
  readonly continues: number | null;
  readonly swept: Readonly<Record<string, unknown>>;
  readonly output_dir: string;
  readonly result: number;
}

const rowsIn = (file: string): readonly Row[] => JSON.parse(readFileSync(file, "utf8")).jobs;

/** A trial keeps the epochs that its jobs have run as files. */
function training() {
  const { cwd, run } = program({
    "conf/config.yaml": "x: 0.0\nn: 1\nfrom: null\nhydra: {sweep: {dir: 'a sweep'}}\n",
  });
  const search = async (...argv: readonly string[]) => {
    const ran: (Pick<Job, "checkpoint" | "continues" | "overrides"> & { number: number })[] = [];
    const ended = await run(argv, (config, job) => {
      const { checkpoint, continues, number = -1, overrides } = job;
      ran.push({ checkpoint, number, overrides, ...(continues !== undefined && { continues }) });
      const before = readdirSync(checkpoint).length;
      for (let epoch = before + 1; epoch <= Number(config.get("n")); epoch++)
        writeFileSync(join(checkpoint, `epoch-${epoch}`), `by job ${number}`);
      return Number(config.get("x"));
    });
    return { ...ended, ran };
  };
  return { cwd, search };
}

test("a trial goes on where its job with the smaller budget left off", async () => {
  const { cwd, search } = training();
  const { exitCode, ran } = await search(
    ...HALVING,
    ...["hydra.sweeper.resume_key=from", "hydra.sweeper.resume_file=epoch-1"],
  );
  expect(exitCode).toBe(0);
  expect(ran).toHaveLength(7);
  for (const { checkpoint, continues, number, overrides } of ran) {
    const told = overrides.filter((override) => override.startsWith("from="));
    const earlier = ran.find((one) => one.number === continues);
    if (earlier === undefined) {
      expect([number, told]).toEqual([number, []]);
      expect(checkpoint).toBe(join(cwd, "a sweep", String(number), ".checkpoint"));
    } else {
      expect(checkpoint).toBe(earlier.checkpoint);
      expect(told).toEqual([`from='${join(checkpoint, "epoch-1")}'`]);
      expect(overrides[0]).toBe(earlier.overrides[0]);
    }
  }
  expect(ran.map(({ continues }) => continues !== undefined)).toEqual([
    ...[false, false, false, false],
    ...[true, true, true],
  ]);
  const last = ran.at(-1);
  expect(readdirSync(last?.checkpoint ?? "").map((name) => name)).toEqual(
    [1, 2, 3, 4].map((epoch) => `epoch-${epoch}`),
  );
  const rows = rowsIn(join(cwd, "a sweep/.sweep/sweep.json"));
  expect(rows.map(({ continues }) => continues)).toEqual(
    ran.map(({ continues }) => continues ?? null),
  );
  for (const { swept } of rows) expect(Object.keys(swept)).toEqual(["x", "n"]);
});

test("a resumed search knows its jobs again, in another place, too, and none begins anew", async () => {
  const { cwd, search } = training();
  const first = await search(...HALVING, "hydra.sweeper.resume_key=from");
  const before = rowsIn(join(cwd, "a sweep/.sweep/sweep.json"));
  renameSync(join(cwd, "a sweep"), join(cwd, "moved"));
  expect(await search("--resume", "moved")).toMatchObject({ exitCode: 0, ran: [] });
  // What runs the best trial again begins anew.
  const { console, out } = capturedConsole();
  const invocation = { argv: [], env: {}, cwd, now: new Date(), console };
  expect(await runSweepCommand(["best", "moved"], invocation)).toBe(0);
  expect(out.stdout).toMatch(/^#6 x=[\d.e-]+ n=4: [\s\S]* x=[\d.e-]+ n=4\n$/m);
  expect(out.stdout).not.toContain("from=");
  // As if it had been killed in its last round.
  forgetJob(join(cwd, "moved/.sweep"), 6);
  const again = await search("--resume", "moved");
  expect([again.exitCode, again.stderr]).toEqual([0, ""]);
  const [last] = again.ran;
  const wanted = first.ran.at(-1);
  expect(last).toMatchObject({ number: 6, continues: wanted?.continues });
  expect(last?.checkpoint).toBe(wanted?.checkpoint.replace("/a sweep/", "/moved/"));
  const rows = rowsIn(join(cwd, "moved/.sweep/sweep.json"));
  expect(rows.map(({ continues, result }) => [continues, result])).toEqual(
    before.map(({ continues, result }) => [continues, result]),
  );
});

test.each([
  [["hydra.sweeper.resume_key=n"], "hydra.sweeper.resume_key is 'n', which the sweep also sets"],
  [["hydra.sweeper.resume_key=x"], "hydra.sweeper.resume_key is 'x', which the sweep also sets"],
  [["hydra.sweeper.resume_file=a"], "hydra.sweeper.resume_file needs hydra.sweeper.resume_key"],
  [
    ["hydra.sweeper.resume_key=from", "hydra.sweeper.resume_file=../a"],
    "hydra.sweeper.resume_file must be a path in $HYDRACONF_CHECKPOINT, not '../a'",
  ],
])("%j is refused", async (overrides, message) => {
  const { search } = training();
  const { exitCode, ran, stderr } = await search(...HALVING, ...overrides);
  expect([exitCode, ran, stderr]).toEqual([1, [], expect.stringContaining(message)]);
});

test.each([[], ["--dry-run"]])(
  "a resume_key that no trial has is refused before the first job %j",
  async (...flags) => {
    const { search } = training();
    const refused = await search(...HALVING, "hydra.sweeper.resume_key=form", ...flags);
    expect([refused.exitCode, refused.ran]).toEqual([1, []]);
    expect(refused.stderr).toContain(
      "hydra.sweeper.resume_key is 'form', a key that the config of a trial does not have",
    );
    expect(refused.stderr).toMatch(/Available: .*\bfrom\b/);
    const [, remedy = ""] = /Hint: use (\S+) to add the key/.exec(refused.stderr) ?? [];
    expect(remedy).toBe("hydra.sweeper.resume_key=+form");
    expect(await search(...HALVING, remedy, ...flags)).toMatchObject({ exitCode: 0, stderr: "" });
  },
);

test("a resume_key whose value cannot be a path is refused before the first job", async () => {
  const { search } = training();
  const { exitCode, ran, stderr } = await search(
    ...HALVING,
    "hydra.sweeper.resume_key=hydra.job.chdir",
  );
  expect([exitCode, ran]).toEqual([1, []]);
  expect(stderr).toContain(
    "hydra.sweeper.resume_key is 'hydra.job.chdir', with which no trial can be composed",
  );
});

test("a resume_key that only some trials have is not refused", async () => {
  const { run } = program({
    "conf/config.yaml": "defaults: [m: a]\nx: 0.0\nn: 1\nhydra: {sweep: {dir: s}}\n",
    "conf/m/a.yaml": "size: 1\n",
    "conf/m/b.yaml": "from: null\n",
  });
  const argv = [...HALVING, "m=choice(a,b)", "hydra.sweeper.resume_key=m.from"];
  // The first batch has trials of both kinds.
  const plan = await run([...argv, "--dry-run"]);
  expect([plan.exitCode, plan.stdout]).toEqual([
    0,
    expect.stringMatching(/m=a[\s\S]*m=b|m=b[\s\S]*m=a/),
  ]);
});

const page = readFileSync(new URL("../../../docs/sweeps.md", import.meta.url), "utf8");

/** The sample of the documentation, and its command line. */
function sample(launcher: string) {
  const [, source = ""] = /<!-- goes_on\.py -->\s+```python\n([\s\S]*?)```/.exec(page) ?? [];
  return sampleOf("goes_on.py", source, { launcher, words: [] });
}

/** The command line of the documentation that runs this program, and has these words. */
function sampleOf(
  name: string,
  source: string,
  { launcher, words: wanted }: { readonly launcher: string; readonly words: readonly string[] },
) {
  const cwd = mkdtempSync(join(tmpdir(), "hydraconf-promotion-"));
  writeFileSync(join(cwd, name), source);
  const typed =
    [...page.matchAll(/\$ hydraconf (run (?:.*\\\n)*.*)\n/g)]
      .map(([, one = ""]) => one)
      .find((one) => [name, ...wanted].every((word) => one.includes(word))) ?? "";
  const words = typed
    .replaceAll(/\\\n\s+/g, "")
    .split(" ")
    .map((word) => word.replaceAll("'", ""));
  const argv = [
    ...words.toSpliced(words.indexOf("--"), 0, `hydra/launcher=${launcher}`, "hydra.sweep.dir=s"),
  ];
  const command = spawnSync(process.execPath, [commandPath("hydraconf"), ...argv], {
    cwd,
    encoding: "utf8",
  });
  return { cwd, command };
}

test("the sample of the documentation", () => {
  const { command, cwd } = sample("local");
  expect([command.status, command.stderr]).toEqual([0, expect.stringContaining("7 jobs")]);
  const rows = rowsIn(join(cwd, "s/sweep.json"));
  const epochsOf = ({ number }: Row) =>
    readFileSync(join(cwd, `s/.sweep/jobs/${number}.log`), "utf8").match(/^epoch \d+$/gm)?.length;
  expect(rows.map(epochsOf)).toEqual([1, 1, 1, 1, 1, 1, 2]);
  expect(rows.filter(({ continues }) => continues !== null)).toHaveLength(3);
  const loss = ({ swept: { epochs, rate } }: Row) => (1 - Number(rate)) ** Number(epochs);
  for (const row of rows) expect(row.result).toBeCloseTo(loss(row), 10);
  // Jobs that go on have none of their own.
  expect(rows.map(({ output_dir }) => existsSync(join(output_dir, ".checkpoint")))).toEqual(
    rows.map(({ continues }) => continues === null),
  );
});

test("the sample of a program without Hydra, which is told by a flag where to go on", () => {
  const source = `import os, pathlib, sys
kept = pathlib.Path(os.environ["HYDRACONF_CHECKPOINT"], "last.pt")
kept.write_text(sys.argv[2])
print(sys.argv[3])
pathlib.Path(os.environ["HYDRACONF_RESULT"]).write_text(sys.argv[1])
`;
  const { command, cwd } = sampleOf("train.py", source, {
    launcher: "local",
    words: ["resume_key"],
  });
  expect([command.status, command.stderr]).toEqual([0, expect.stringContaining("7 jobs")]);
  for (const { continues, number } of rowsIn(join(cwd, "s/sweep.json"))) {
    const told = readFileSync(join(cwd, `s/.sweep/jobs/${number}.log`), "utf8");
    if (continues === null) expect(told).toBe("--resume=none\n");
    else expect(told).toMatch(/^--resume=.*\/s\/\d\/\.checkpoint\/last\.pt\n$/);
  }
});

test("an unused directory for checkpoints does not stay, a used one is there for the next attempt", () => {
  const cwd = mkdtempSync(join(tmpdir(), "hydraconf-promotion-"));
  const run = (...argv: readonly string[]) =>
    spawnSync(process.execPath, [commandPath("hydraconf"), "run", ...argv], { cwd });
  const job = `test -d "$HYDRACONF_CHECKPOINT" || exit 9
test $0 = 1 && exit 0
test -e "$HYDRACONF_CHECKPOINT/here" && exit 0
touch "$HYDRACONF_CHECKPOINT/here"; exit 3`;
  expect(run("-m", "x=1,2", "hydra.sweep.dir=s", "--", "sh", "-c", job, "${x}").status).toBe(3);
  expect(readdirSync(join(cwd, "s/0"))).not.toContain(".checkpoint");
  expect(readdirSync(join(cwd, "s/1/.checkpoint"))).toEqual(["here"]);
  expect(run("--retry-failed", "s").status).toBe(0);
});

/** Runs a shell command as the job of a single run in the directory `r`, in which files may be before. */
function shellRun(command: string, before: (directory: string) => void = () => undefined) {
  const cwd = mkdtempSync(join(tmpdir(), "hydraconf-promotion-"));
  const reports = join(cwd, "tmp");
  for (const directory of ["tmp", "r"]) mkdirSync(join(cwd, directory));
  before(join(cwd, "r"));
  const argv = ["run", "hydra.run.dir=r", "--", "sh", "-c", command];
  const ended = spawnSync(process.execPath, [commandPath("hydraconf"), ...argv], {
    ...{ cwd, encoding: "utf8" as const, env: { ...process.env, TMPDIR: reports } },
  });
  return { cwd, ...ended };
}

test("a program may write a file or make a directory of the name checkpoint", () => {
  const at = '"$HYDRACONF_OUTPUT_DIR/checkpoint"';
  const file = shellRun(`echo model > ${at}`);
  expect([file.status, file.stderr]).toEqual([0, ""]);
  expect(readFileSync(join(file.cwd, "r/checkpoint"), "utf8")).toBe("model\n");
  const directory = shellRun(`mkdir ${at}`);
  expect([directory.status, directory.stderr]).toEqual([0, ""]);
  expect(readdirSync(join(directory.cwd, "r"))).toContain("checkpoint");
});

test("the directory for checkpoints stays where a job did not make it, also if it is empty", () => {
  const { cwd, status } = shellRun("true", (run) => mkdirSync(join(run, ".checkpoint")));
  expect([status, readdirSync(join(cwd, "r"))]).toEqual([
    0,
    expect.arrayContaining([".checkpoint"]),
  ]);
});

test("a file in the place of the directory for checkpoints is an error with its place", () => {
  const { cwd, status, stderr } = shellRun("true", (run) =>
    writeFileSync(join(run, ".checkpoint"), ""),
  );
  expect([status, stderr]).toEqual([
    1,
    expect.stringContaining("/r/.checkpoint' for the checkpoint"),
  ]);
  expect(stderr).toContain("a file of that name exists");
  expect(stderr).toContain("move away what is there");
  expect(stderr).not.toContain("    at ");
  expect(readdirSync(join(cwd, "tmp"))).toEqual([]);
});
