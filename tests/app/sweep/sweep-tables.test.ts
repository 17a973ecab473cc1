import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { SweepRow } from "../../../src/app/job/options.ts";
import { slurmLauncher } from "../../../src/app/plugins/slurm/slurm-launcher.ts";
import type { SweepPageData } from "../../../src/app/sweep/page/sweep-page-data.ts";
import { readSweepStatus } from "../../../src/app/sweep/status.ts";
import {
  csvText,
  markdownText,
  sweepCells,
  writeSweepTables,
} from "../../../src/app/sweep/sweep-tables.ts";
import { basicSweeper } from "../../../src/app/sweep/sweepers/basic-sweeper.ts";
import { resolver } from "../../../src/engine/values/resolution/resolver.ts";
import { program } from "../cli/program.ts";

const CONFIG = {
  "conf/config.yaml": "x: 1\nhydra: {sweep: {dir: s, subdir: '${hydra:job.num}'}}\n",
};
const TABLES = ["sweep.json", "sweep.csv", "sweep.md"];

const read = (directory: string) =>
  TABLES.map((name) => readFileSync(join(directory, name), "utf8"));

test("a plain sweep has its tables in its record, with the same bytes as collect gives", async () => {
  const { cwd, run } = program(CONFIG);
  await run(["-m", "x=1,2"], (config) => ({ twice: 2 * Number(config.get("x")) }));
  const own = read(join(cwd, "s/.sweep"));
  expect(JSON.parse(own[0] ?? "").jobs).toMatchObject([
    { swept: { x: 1 }, status: "completed", result: { twice: 2 } },
    { swept: { x: 2 }, status: "completed", result: { twice: 4 } },
  ]);
  expect(TABLES.some((name) => existsSync(join(cwd, "s", name)))).toBe(false);
  const directory = join(cwd, "s");
  writeSweepTables(
    directory,
    (await readSweepStatus({ directory, env: {}, launchers: [slurmLauncher] })).rows,
  );
  expect(read(join(cwd, "s"))).toEqual(own);
});

const dataIn = (file: string): SweepPageData =>
  JSON.parse(/id="data">(.*?)<\/script>/s.exec(readFileSync(file, "utf8"))?.[1] ?? "null");

const PAGE = "sweep.html";

test("hydra.sweep.page=false leaves the page out, and is in the saved config only if it is set", async () => {
  const pages: Record<string, unknown> = {};
  for (const setting of ["", "hydra.sweep.page=false", "+hydra.sweep.page=false"]) {
    const { cwd, run } = program(CONFIG);
    const { exitCode } = await run(["-m", "x=1,2", ...(setting === "" ? [] : [setting])]);
    const saved = readFileSync(join(cwd, "s/multirun.yaml"), "utf8");
    pages[setting] = [
      exitCode,
      existsSync(join(cwd, "s/.sweep", PAGE)),
      /^ +page:.*/m.exec(saved)?.[0],
    ];
  }
  expect(pages).toEqual({
    "": [0, true, undefined],
    "hydra.sweep.page=false": [0, false, "    page: false"],
    "+hydra.sweep.page=false": [0, false, "    page: false"],
  });
});

test("the page stands where the tables are, with links from there to the jobs", async () => {
  const { cwd, run } = program(CONFIG);
  await run(["-m", "x=1,2"], () => ({ loss: 3 }));
  expect(existsSync(join(cwd, "s", PAGE))).toBe(false);
  const data = dataIn(join(cwd, "s/.sweep", PAGE));
  expect(data).toMatchObject({
    parameters: [{ title: "x", numbers: [1, 2] }],
    results: [{ title: "loss", numbers: [3, 3] }],
    judgement: [{ column: "result", direction: "minimize" }],
  });
  expect(data.links?.files.map((at) => data.texts[at])).toEqual(["../0", "../1"]);
  expect(data.started.every((time) => time !== null && time > 0)).toBe(true);
});

test("a search's page judges jobs as the search does", async () => {
  const { cwd, run } = program(CONFIG);
  const search = ["hydra/sweeper=random", "hydra.sweeper.n_trials=2", "x=interval(0,1)"];
  const judged = ["hydra.sweeper.objective=[a,b]", "hydra.sweeper.direction=[minimize,maximize]"];
  await run(["-m", ...search, ...judged], () => ({ a: 1, b: 2 }));
  expect(dataIn(join(cwd, "s/.sweep", PAGE)).judgement).toEqual([
    { column: "a", direction: "minimize" },
    { column: "b", direction: "maximize" },
  ]);
  await run(["-m", ...search, ...judged.slice(1)], () => [1, 2]);
  const data = dataIn(join(cwd, "s/.sweep", PAGE));
  expect(data.results.map(({ title }) => title)).toEqual(
    data.judgement.map(({ column }) => column),
  );
});

test("hydra.sweep.page=false leaves the page out", async () => {
  const { cwd, run } = program(CONFIG);
  expect((await run(["-m", "x=1,2", "+hydra.sweep.page=false"])).exitCode).toBe(0);
  expect(existsSync(join(cwd, "s/.sweep/sweep.md"))).toBe(true);
  expect(existsSync(join(cwd, "s/.sweep", PAGE))).toBe(false);
});

test.each([
  ["objective: '${my:metric}'", "a resolver of the program's own"],
  ["direction: up", "a direction of another sweeper"],
])("a search's settings that the page cannot read (%s) leave the sweep as it is", async (line) => {
  const sweeper = { targets: ["third.Party"], open: basicSweeper.open };
  const { cwd, run } = program(
    { ...CONFIG, "conf/hydra/sweeper/third.yaml": `_target_: third.Party\n${line}\n` },
    {
      plugins: [{ name: "third", sweepers: [sweeper] }],
      resolvers: [resolver("my", () => "loss")],
    },
  );
  const { exitCode, stderr } = await run(["-m", "hydra/sweeper=third", "x=1,2"], () => ({
    loss: 3,
  }));
  expect([exitCode, stderr]).toEqual([0, ""]);
  expect(dataIn(join(cwd, "s/.sweep", PAGE)).judgement).toEqual([
    { column: "result", direction: "minimize" },
  ]);
});

test("a page that cannot be written is no failure of the sweep, whose tables are there", async () => {
  const { cwd, run } = program(CONFIG);
  const { exitCode, stderr } = await run(["-m", "x=1,2"], () => {
    mkdirSync(join(cwd, "s/.sweep", PAGE), { recursive: true });
  });
  expect([exitCode, stderr]).toEqual([
    0,
    expect.stringMatching(/^Cannot write the page of the sweep: '.*': it is a directory\n$/),
  ]);
  expect(read(join(cwd, "s/.sweep"))).toHaveLength(3);
});

test("metrics that cannot be read leave no curves, and the page is there", async () => {
  const { cwd, run } = program(CONFIG);
  const { exitCode } = await run(["-m", "x=1,2"], (_, job) => {
    symlinkSync("metrics.jsonl", join(job.outputDir, "metrics.jsonl"));
  });
  expect([exitCode, dataIn(join(cwd, "s/.sweep", PAGE)).curves]).toEqual([0, []]);
});

test("a page has the metrics that jobs wrote to their files", async () => {
  const { cwd, run } = program(CONFIG);
  await run(["-m", "x=1,2"], (config, job) => {
    if (config.get("x") === 1) return;
    const lines = [
      '{"step": 10, "loss": 0.5, "note": "a"}',
      '{"step": 20, "loss": 0.25}',
      '{"val": {"loss": 4, "all": [1]}, "loss": NaN}',
      "[1]",
      "{",
    ];
    writeFileSync(join(job.outputDir, "metrics.jsonl"), lines.join("\n"));
  });
  expect(dataIn(join(cwd, "s/.sweep", PAGE)).curves).toEqual([
    { row: 1, title: "loss", steps: [10, 20], values: [0.5, 0.25] },
    { row: 1, title: "val.loss", steps: [3], values: [4] },
  ]);
});

test("a page holds no secret", async () => {
  const files = { "conf/config.yaml": `password: ""\n${CONFIG["conf/config.yaml"]}` };
  const schema = { properties: { password: { type: "string", writeOnly: true } } };
  const { cwd, run } = program(files, { schema });
  await run(["-m", "x=1,2", "password=hunter2-hunter2"], () => ({ said: "hunter2-hunter2" }));
  const html = readFileSync(join(cwd, "s/.sweep", PAGE), "utf8");
  expect(html).not.toContain("hunter2");
});

test("tasks that return nothing have no column for it, and what is null in a result has", async () => {
  const header = async (returned: unknown) => {
    const { cwd, run } = program(CONFIG);
    await run(["-m", "x=1,2"], () => returned);
    return read(join(cwd, "s/.sweep"))[1]?.split("\n")[0] ?? "";
  };
  expect(await header(undefined)).not.toContain("result");
  expect(await header({ loss: null })).toMatch(/,loss\b/);
  expect(await header(7)).toMatch(/,result\b/);
});

test("a program that tells what its sweeps came to has them beside the jobs", async () => {
  const told: (readonly SweepRow[])[] = [];
  const { cwd, run } = program(CONFIG, {
    summarizeSweep: async (rows, { readable, concurrentJobs: sideBySide }) => {
      told.push(rows);
      expect(sideBySide).toEqual([]);
      return `best: ${readable(rows[0]?.output_dir ?? "")}\n`;
    },
  });
  const { exitCode, stderr, stdout } = await run(["-m", "x=1,2"], (config) => {
    if (config.get("x") === 2) throw new Error("boom");
    return 7;
  });
  expect(exitCode).toBe(1);
  expect(stdout).toMatch(/best: s\/0\n$/);
  expect(stderr).toMatch(
    /^#0 x=1: completed in \S+ s \(1 of 2\b.*\)\n#1 x=2: failed after .*: boom\n/,
  );
  expect(stderr).toMatch(/1 of 2 jobs failed:\n.*\n#1 +x=2 +boom +s\/1\n/);
  expect(stderr).toMatch(
    /The jobs as a table: s\/sweep.md, sweep.csv, sweep.json, sweep.html\nRun the failed job again with prog --retry-failed s\n$/,
  );
  expect(told).toMatchObject([[{ result: 7 }, { status: "failed", error: "boom" }]]);
  const before = read(join(cwd, "s"));
  await run(["--retry-failed", "s"], () => 8);
  expect(JSON.parse(read(join(cwd, "s"))[0] ?? "").jobs).toMatchObject([
    { result: 7, attempts: 1 },
    { result: 8, attempts: 2 },
  ]);
  expect(read(join(cwd, "s"))).not.toEqual(before);
});

const row = (result: unknown): SweepRow => ({
  number: 0,
  swept: { lr: "0.1" },
  status: "completed",
  attempts: 1,
  started: null,
  seconds: 2,
  exit_code: 0,
  ended_by: { by: "itself" },
  error: null,
  result,
  output_dir: "/s/0",
  continues: null,
  left_out: false,
});

test("a field of a result inside another has a column of its own", () => {
  const cells = sweepCells([
    row({ val: { loss: 0.5, parts: [1, 2] }, name: "a" }),
    row(3),
    row(null),
  ]);
  expect(csvText(cells)).toBe(
    [
      "job,lr,status,attempts,seconds,val.loss,val.parts,name,result,error,output_dir",
      '0,0.1,completed,1,2,0.5,"[1,2]",a,,,/s/0',
      "0,0.1,completed,1,2,,,,3,,/s/0",
      "0,0.1,completed,1,2,,,,,,/s/0",
      "",
    ].join("\n"),
  );
});

test("no two columns have one name", () => {
  const swept = { seconds: "1", loss: "2", job: "3" };
  const [head] = sweepCells([{ ...row({ loss: 0.5, status: "fine", acc: 1 }), swept }]);
  expect(head).toEqual(
    [
      ["job", "swept.seconds", "loss", "swept.job", "status", "attempts", "seconds"],
      ["result.loss", "result.status", "acc", "error", "output_dir"],
    ].flat(),
  );
});

test("nor if a name equals the substitute of another one", () => {
  const swept = {
    started: null,
    seconds: "1",
    "swept.seconds": "2",
    "swept.swept.seconds": "3",
    "result.loss": "4",
  };
  const result = { "result.loss": 5, "result.result.loss": 6, "result.seconds": 7, seconds: 8 };
  const [head = [], cells = []] = sweepCells([{ ...row(result), swept }]);
  expect(new Set(head).size).toBe(head.length);
  expect(head.length).toBe(cells.length);
  const value = (name: string) => cells[head.indexOf(name)];
  expect(["swept.seconds", "result.loss", "result.seconds"].map(value)).toEqual(["2", "4", "7"]);
  expect(head.filter((name) => /seconds$/.test(name))).toHaveLength(6);
});

test("cells keep their borders", () => {
  expect(csvText([["a,b", 'c"d', "e"]])).toBe('"a,b","c""d",e\n');
  expect(csvText([["=HYPERLINK(1)", "-0.1"]])).toBe("'=HYPERLINK(1),-0.1\n");
  expect(markdownText([["a|b"], ["c\nd"]])).toBe("| a\\|b |\n|---|\n| c d |\n");
});

test("the page leaves out columns that nobody could read, and says so", () => {
  const many = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`field${at}`, at]));
  const [head = "", rule = "", body = "", , note = ""] = markdownText(
    sweepCells([row(many)]),
  ).split("\n");
  expect(head.split("|").length).toBe(26);
  expect(head).toMatch(/^\| job \| lr .*\| field16 \| error \| output_dir \|$/);
  expect(rule.split("|").length).toBe(26);
  expect(body).toContain("/s/0");
  expect(note).toBe("43 more columns are in sweep.csv and sweep.json.");
});

test("a job's output neither leaves its cell nor controls a terminal that shows the file", () => {
  const said = "a\\|b\r\nc \u001b[2J\u202e";
  const [, , body] = markdownText([["error"], [said]]).split("\n");
  expect(body).toBe(String.raw`| a\\\|b c \\u{1b}[2J\\u{202e} |`);
});
