import { execFile, execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import type {
  KernelRecord,
  NCUProfileRegion,
  PayloadStatistics,
} from "../../src/report/model/report-types.ts";
import { listFiles } from "./files.ts";

const scripts = fileURLToPath(new URL("../../scripts", import.meta.url));
const root = mkdtempSync(join(tmpdir(), "hydraconf-gpu-steps-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

interface Row {
  readonly step: string;
  readonly what: string;
  readonly state: string;
  readonly detail: string;
}

let places = 0;

/** What steps read of a region: its names are those of the contract. */
type Region = Pick<NCUProfileRegion, "name" | "path" | "total_ms" | "kernel_count" | "metrics"> & {
  readonly kernels: readonly Pick<KernelRecord, "kind">[];
  readonly payloads?: readonly Pick<PayloadStatistics, "name" | "sum">[];
};

/** A region with `kernels` kernels of a millisecond. */
const region = (path: readonly string[], kernels: number, total_ms = kernels): Region => ({
  name: path.at(-1) ?? "",
  path,
  total_ms,
  kernel_count: kernels,
  metrics: { "gpu__time_duration.sum": { unit: "ns", value: 1e6 * total_ms } },
  kernels: kernels > 0 ? [{ kind: "gpu_kernel" }] : [],
});

const report = (regions: readonly Region[], notes: readonly string[] = []) => ({
  reports: [{ regions, notes }],
});

interface Step {
  /** By collector. */
  readonly reports?: Readonly<Record<string, unknown>>;
  readonly announced?: Readonly<Record<string, number>>;
  readonly stdout?: string;
  readonly stderr?: string;
  readonly exit?: number;
}

/** Does what `steps.json` beside it says of the run directory's name. */
const COMMAND = `
const { mkdirSync, readFileSync, writeFileSync } = require("node:fs");
const { join } = require("node:path");
const directory = process.argv.find((arg) => arg.startsWith("hydra.run.dir="))?.slice(14) ?? "";
const steps = JSON.parse(readFileSync(join(__dirname, "steps.json"), "utf8"));
const step = steps[directory.split("/").pop()] ?? {};
for (const [collector, content] of Object.entries(step.reports ?? {})) {
  mkdirSync(join(directory, collector, "regions"), { recursive: true });
  writeFileSync(join(directory, collector, "regions/report.json"), JSON.stringify(content));
}
if (step.announced !== undefined) {
  mkdirSync(join(directory, "recorder"), { recursive: true });
  writeFileSync(join(directory, "recorder/stdout.txt"), JSON.stringify({ kernels: step.announced }).replace(":", ": ") + "\\n");
}
if (step.stdout !== undefined) writeFileSync(join(directory, "recorder/stdout.txt"), step.stdout + "\\n");
console.error(step.stderr ?? "");
console.log("ran", process.argv.slice(2).join(" "));
process.exitCode = step.exit ?? 0;
`;

/** A folder as gpu-carry.mjs packs it. */
function install(folder: string, steps: Readonly<Record<string, Step>>): string {
  const place = join(folder, "installed");
  const bin = join(place, "package", "dist", "bin");
  mkdirSync(join(place, "node", "bin"), { recursive: true });
  mkdirSync(bin, { recursive: true });
  symlinkSync(process.execPath, join(place, "node", "bin", "node"));
  writeFileSync(join(bin, "deep-profile.js"), COMMAND);
  writeFileSync(join(bin, "steps.json"), JSON.stringify(steps));
  return place;
}

function python(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<{ code: number; text: string }> {
  return new Promise((done) => {
    const child = execFile("python3", [...args], { env, maxBuffer: 2 ** 24 }, (_, out, error) =>
      done({ code: child.exitCode ?? -1, text: out + error }),
    );
  });
}

/** Runs Python with the scripts' modules. */
const inPython = (
  lines: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<{ code: number; text: string }> =>
  python(["-c", lines.join("\n")], {
    ...process.env,
    PYTHONPATH: scripts,
    PYTHONDONTWRITEBYTECODE: "1",
    ...env,
  });

const tool = (folder: string, name: string, lines: readonly string[]): void => {
  const bin = join(folder, "bin");
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, name), ["#!/bin/sh", ...lines, ""].join("\n"));
  chmodSync(join(bin, name), 0o755);
};

/** Runs steps of deep-profile over reports that are given. */
async function profile(
  steps: Readonly<Record<string, Step>>,
  only: readonly string[],
  args: readonly string[] = [],
  variables: NodeJS.ProcessEnv = {},
) {
  const folder = join(root, String(++places));
  const out = join(folder, "out");
  mkdirSync(out, { recursive: true });
  tool(folder, "ncu", []);
  const env = {
    ...process.env,
    PATH: `${join(folder, "bin")}:${process.env["PATH"]}`,
    ...variables,
  };
  const place = ["--installed", install(folder, steps)];
  const command = [
    join(scripts, "gpu-check.py"),
    ...place,
    ...["--out", out, "--only", only.join(","), "--skip", "build", "--cases", "/bin/true"],
  ];
  const { code, text } = await python([...command, ...args], env);
  const rows = rowsIn(out);
  return { code, text, rows, out, row: (name: string) => rows.find(({ step }) => step === name) };
}

const quoted = (text: string): string => JSON.stringify(text);

const rowsIn = (out: string): readonly Row[] =>
  (JSON.parse(readFileSync(join(out, "results.json"), "utf8")) as { rows: Row[] }).rows;

const statesOf = (out: string): Readonly<Record<string, string>> =>
  existsSync(join(out, "results.json")) ? statesIn(join(out, "results.json")) : {};

const statesIn = (path: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    (JSON.parse(readFileSync(path, "utf8")) as { rows: Row[] }).rows.map(({ step, state }) => [
      step,
      state,
    ]),
  );

/** Every step but these, for --skip. */
function others(names: readonly string[]): string {
  const list = execFileSync("python3", [join(scripts, "gpu-check.py"), "--list"], {
    encoding: "utf8",
  });
  const all = [...list.matchAll(/^ {2}(\S+)/gm)].map(([, name = ""]) => name);
  return all.filter((name) => !names.includes(name)).join(",");
}

/** Variables for a PyTorch that is only looked for. */
function pretendedTorch(): NodeJS.ProcessEnv {
  const folder = join(root, String(++places));
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "torch.py"), "");
  return { PYTHONPATH: folder };
}

const LAYERS = ["stem", "residual", "block.conv1", "block.conv2", "head"];
const TREE = [["A"], ["A", "A::A1"], ["B"], ...LAYERS.map((layer) => ["B", layer])];

describe.concurrent("steps of deep-profile", () => {
  it("counts kernels as the program launched them", async () => {
    const { row } = await profile(
      {
        "case-graph": {
          announced: { first: 15, inner: 10 },
          reports: { recorder: report([region(["first"], 15), region(["second", "inner"], 10)]) },
        },
        "case-threads": {
          announced: { "thread 0": 100 },
          reports: {
            recorder: report([region(["thread 0"], 99)], ["1 kernel or copy had not finished"]),
          },
        },
        "case-memory": { reports: { recorder: report([]) } },
      },
      ["case-graph", "case-threads", "case-memory"],
    );
    expect(row("case-graph")).toMatchObject({ state: "ok" });
    expect(row("case-graph")?.detail).toContain("kernels: first 15, inner 10");
    expect(row("case-threads")).toMatchObject({ state: "FAILED" });
    expect(row("case-threads")?.detail).toContain("thread 0 has 99 kernels of 100");
    expect(row("case-memory")?.detail).toContain("did not say what it launches");
  });

  it("accepts kernels that the program cut off where a note counts them", async () => {
    const announced = { over: 10, running: 5 };
    const with3 = (over: number) => [region(["over"], over), region(["running"], 3)];
    const note = "2 kernels or copies had not finished when the process ended";
    const { row } = await profile(
      {
        "case-reset-while-running": { announced, reports: { recorder: report(with3(10), [note]) } },
        "case-destroy-while-running": { announced, reports: { recorder: report(with3(10)) } },
        "case-exit-while-running": { announced, reports: { recorder: report(with3(9), [note]) } },
      },
      ["case-reset-while-running", "case-destroy-while-running", "case-exit-while-running"],
    );
    expect(row("case-reset-while-running")).toMatchObject({ state: "ok" });
    expect(row("case-reset-while-running")?.detail).toContain("running 3 of 5, as a note says");
    expect(row("case-destroy-while-running")?.detail).toContain("running has 3 kernels of 5");
    expect(row("case-exit-while-running")?.detail).toContain("over has 9 kernels of 10");
  });

  it("expects one line and exit code 1 of a program that failed", async () => {
    const killed = {
      announced: { finished: 50, open: 10 },
      reports: { recorder: report([region(["finished"], 50), region(["open"], 10)]) },
    };
    const words = "gpu_cases was ended by SIGKILL";
    const first = await profile({ "case-killed": { ...killed, stderr: words, exit: 1 } }, [
      "case-killed",
    ]);
    expect(first.row("case-killed")).toMatchObject({ state: "ok" });
    expect(first.row("case-killed")?.detail).toContain(words);
    const silent = await profile({ "case-killed": { ...killed, exit: 1 } }, ["case-killed"]);
    expect(silent.row("case-killed")?.detail).toContain("nothing says 'SIGKILL'");
    const done = await profile({ "case-killed": { ...killed, stderr: words } }, ["case-killed"]);
    expect(done.row("case-killed")?.detail).toContain("exit 0, not 1");
  });

  it("looks into the numbers of payloads", async () => {
    const step = (sum: number) => ({
      announced: { step: 12 },
      reports: {
        recorder: report([
          {
            ...region(["step"], 12),
            payloads: [
              { name: "tokens", sum },
              { name: "Message size", sum: 40960 },
            ],
          },
        ]),
      },
    });
    const right = await profile({ "case-payload": step(1000) }, ["case-payload"]);
    expect(right.row("case-payload")).toMatchObject({ state: "ok" });
    const wrong = await profile({ "case-payload": step(999) }, ["case-payload"]);
    expect(wrong.row("case-payload")?.detail).toContain("tokens is 999, not 1000");
  });

  it("compares regions of two collectors", async () => {
    const regions = (of: (path: readonly string[]) => number) =>
      report(TREE.map((path) => region(path, 10, of(path))));
    const agreement = (ncu: unknown): Readonly<Record<string, Step>> => ({
      agreement: { reports: { recorder: regions(() => 2), ncu } },
    });
    const near = await profile(agreement(regions(() => 2.1)), ["agreement"]);
    expect(near.row("agreement")?.detail).toMatch(
      /8 regions of recorder and ncu, at most 4.8 % apart/,
    );
    const far = await profile(agreement(regions(([name]) => (name === "A" ? 3 : 2))), [
      "agreement",
    ]);
    expect(far.row("agreement")).toMatchObject({ state: "FAILED" });
    expect(far.row("agreement")?.detail).toContain(
      "A: 2.0000 ms, ncu 3.0000 ms; A / A::A1: 2.0000 ms",
    );
    const fewer = await profile(agreement(report([region(["A"], 10, 2)])), ["agreement"]);
    expect(fewer.row("agreement")?.detail).toContain("B / head: 2 ms, ncu None ms");
  });

  it("shows what the program itself said where it failed", async () => {
    const stderr =
      "p ended with exit code 1; the end of its standard error:\n  p: no such kernel\n";
    const { row } = await profile({ recorder: { stderr, exit: 1 } }, ["recorder"]);
    expect(row("recorder")?.detail.split("\n")[0]).toBe(
      "Failed: exit 1: p ended with exit code 1; the end of its standard error: p: no such kernel",
    );
  });

  it("goes on with a CUPTI from elsewhere where the recorder found none", async () => {
    const folder = join(root, String(++places));
    const library = join(folder, "site/nvidia/cu13/lib/libcupti.so.13");
    mkdirSync(join(library, ".."), { recursive: true });
    writeFileSync(library, "");
    const { text } = await inPython([
      "import os",
      "from gpu import cupti",
      `cupti.site_packages = lambda: [${JSON.stringify(join(folder, "site"))}]`,
      "print(cupti.name_cupti_where_missed('no libcupti could be read'))",
      "print(cupti.name_cupti_where_missed('not recorded: no libcupti for a driver of CUDA 13.0 was found'))",
      "print(os.environ['HYDRACONF_CUPTI_PATH'])",
      "print(cupti.name_cupti_where_missed('no libcupti for a driver of CUDA 13.0'))",
    ]);
    expect(text.trim().split("\n")).toEqual(["None", library, library, "None"]);
  });

  it("wants A::A1 inside A", async () => {
    const apart = TREE.map((path) => region(path.slice(-1), 3));
    const { row } = await profile(
      {
        "recorder-cuda": { reports: { recorder: report(TREE.map((path) => region(path, 3))) } },
        "recorder-graphs": { reports: { recorder: report(apart) } },
      },
      ["recorder-cuda", "recorder-graphs"],
    );
    expect(row("recorder-cuda")).toMatchObject({ state: "ok" });
    expect(row("recorder-graphs")?.detail).toContain("no A::A1 inside A");
  });

  it("tries a replay mode again after a failure, but not after one that met its time limit", async () => {
    const slow = {
      stderr: "ncu (level-1): stopped after 1.5 min (pipeline.ncu.timeout_min)",
      exit: 1,
    };
    // The first and the last with the default preset, the others with few metrics.
    const steps = [
      "ncu-range",
      "ncu-range-cudnn",
      "ncu-range-memory",
      "range-as-typed",
      "ncu-app-range",
    ];
    const failed = await profile({ "ncu-range": { exit: 1 } }, steps);
    for (const step of steps.slice(1)) expect(failed.row(step)?.detail).toContain("there is no");
    const heavy = await profile({ "ncu-range": slow }, steps);
    expect(heavy.row("ncu-range-cudnn")?.detail).toContain("there is no");
    expect(heavy.row("range-as-typed")).toMatchObject({
      state: "skipped",
      detail: "range replay of a preset took too long before",
    });
    const light = await profile({ "ncu-range-cudnn": slow }, steps);
    for (const step of ["ncu-range-memory", "range-as-typed"])
      expect(light.row(step)).toMatchObject({
        state: "skipped",
        detail: "range replay of few metrics took too long before",
      });
    expect(light.row("ncu-app-range")?.detail).toContain("there is no");
  });

  it("gives ncu a program that fails without running it before", async () => {
    const { text } = await inPython([
      "from gpu.steps import PLAN",
      'steps = [step for step in PLAN["failures"] if step.name == "ncu-killed"]',
      "print(' '.join(steps[0].arguments))",
    ]);
    expect(text).toContain("pipeline.recorder.enable=false");
    // Labels alone would be looked for in a recording.
    expect(text).toContain("nvtx.include=['finished/','open/']");
  });

  it.skipIf(process.getuid?.() !== 0)(
    "gives another user a folder for temporary files of its own, where ncu's lock is not root's",
    async () => {
      const { text } = await inPython([
        "import os, types",
        "from gpu import steps",
        "from gpu.deep_profile import with_places",
        "def profile(name, command, seconds, places, env, **options):",
        "    home = with_places(env['TMPDIR'], places)",
        "    print(os.stat(home).st_uid == options['user'], env['HOME'] == env['TMPDIR'])",
        "    return types.SimpleNamespace(seconds=1, stdout='', stderr='ERR_NVGPUCTRPERM', returncode=1)",
        `place = types.SimpleNamespace(profile=profile, directory=lambda name: ${quoted(join(root, "unprivileged"))})`,
        "bench = types.SimpleNamespace(installation=lambda: place)",
        "steps.find_ncu = lambda: 'ncu'",
        "[step] = [step for step in steps.STEPS if step.name == 'ncu-unprivileged']",
        "object.__setattr__(step, 'needs', ())",
        "print(step.run(bench, 10))",
      ]);
      expect(text.trim().split("\n")).toEqual(["True True", "1 s; ERR_NVGPUCTRPERM"]);
    },
  );

  it("keeps the GPUs open that it may open", async () => {
    const folder = join(root, String(++places));
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "gpu0"), "");
    const { text } = await inPython([
      "from gpu.machine import hold_open",
      `print(hold_open(${quoted(join(folder, "gpu*"))}), hold_open(${quoted(join(folder, "none*"))}))`,
    ]);
    expect(text).toContain("1 0");
  });

  it("takes no label with a number of its call", async () => {
    const names = (last: string) =>
      ["train_step", "aten::conv2d", last].map((name) => region([name], 2));
    const run = (last: string): Step => ({
      reports: { ncu: report(names(last)), recorder: report(names(last)) },
    });
    const torch = pretendedTorch();
    const [right, wrong] = await Promise.all([
      profile({ "emit-nvtx": run("aten::mm") }, ["emit-nvtx"], [], torch),
      profile({ "emit-nvtx": run("aten::mm, seq = 12") }, ["emit-nvtx"], [], torch),
    ]);
    expect(right.row("emit-nvtx")).toMatchObject({ state: "ok" });
    expect(wrong.row("emit-nvtx")?.detail).toContain("1 regions with ', seq = ' in their names");
  });

  it("leaves three files where one archive is asked for", async () => {
    const { out } = await profile(
      { recorder: { reports: { recorder: report(LAYERS.map((name) => region([name], 1))) } } },
      ["recorder"],
      ["--pack", "--one-archive"],
    );
    const files = listFiles(out, "").map((file) => file.slice(out.length + 1));
    expect(files.sort()).toEqual(["results.json", "results.md", "tables.tar.gz"]);
  });

  it("unpacks once into a place that stays, and again what has changed", async () => {
    const folder = join(root, String(++places));
    const place = join(folder, "place");
    const archive = join(folder, "carried.tar.xz");
    const pack = () =>
      execFileSync("tar", ["-C", join(folder, "installed"), "-cJf", archive, "node", "package"]);
    install(folder, {});
    pack();
    const out = join(folder, "out");
    const command = [
      ...[join(scripts, "gpu-check.py"), "--carried", archive, "--place", place, "--out", out],
      ...["--only", "doctor"],
    ];
    const unpacked = async () => {
      await python(command, { ...process.env });
      const rows = rowsIn(out);
      expect(rows.map(({ state }) => state)).toEqual(["ok", "ok"]);
      return rows[0]?.detail;
    };
    expect(await unpacked()).toMatch(/MiB/);
    const built = join(place, "installed", "built");
    writeFileSync(built, "");
    expect(await unpacked()).toBe("as unpacked before");
    expect(existsSync(built)).toBe(true);
    writeFileSync(join(folder, "installed", "package", "new"), "");
    pack();
    expect(await unpacked()).toMatch(/MiB/);
    expect(existsSync(built)).toBe(false);
  });

  it("takes what a program found of its own profile", async () => {
    const names = ["early", "inside", "late"];
    const note = "GPU work was recorded for the first 2 s: then the program's own profiler began";
    const handedOver = (own: number): Step => ({
      stdout: `kernels in the program's profile: ${own}`,
      reports: {
        recorder: report(
          names.map((name, place) => region([name], place === 0 ? 10 : 0)),
          [note],
        ),
      },
    });
    // Its profiler begins before everything: there is no region `early`.
    const refused = (kernels: number): Step => ({
      stdout: "kernels in the program's profile: 12",
      reports: {
        recorder: report(
          names.slice(1).map((name) => region([name], kernels)),
          ["CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"],
        ),
      },
    });
    const steps = ["beside-kineto", "beside-proton", "beside-kineto-first"];
    const torch = pretendedTorch();
    const right = await profile(
      {
        "beside-kineto": handedOver(10),
        "beside-proton": handedOver(9),
        "beside-kineto-first": refused(0),
      },
      steps,
      [],
      torch,
    );
    expect(right.row("beside-kineto")).toMatchObject({ state: "ok" });
    expect(right.row("beside-proton")?.detail).toContain(
      "9 kernels in the program's own profile, not 10 or more",
    );
    expect(right.row("beside-kineto-first")).toMatchObject({ state: "ok" });
    const wrong = await profile({ "beside-kineto-first": refused(3) }, steps, [], torch);
    expect(wrong.row("beside-kineto-first")?.detail).toContain("kernels in inside, late");
  });
});

describe.concurrent("gpu-check.py over several visits", () => {
  const works: Step = { reports: { recorder: report(LAYERS.map((name) => region([name], 1))) } };

  async function visits() {
    const folder = join(root, String(++places));
    const place = join(folder, "place");
    const recorded = join(folder, "results.json");
    mkdirSync(folder, { recursive: true });
    const visit = async (
      steps: Readonly<Record<string, Step>>,
      name: string,
      args: readonly string[] = [],
    ) => {
      const out = join(folder, name);
      const command = [
        ...[join(scripts, "gpu-check.py"), "--installed", install(join(folder, name), steps)],
        ...["--out", out, "--seen", recorded, "--skip", others(["recorder", "half", "stage1"])],
        ...args,
      ];
      const { code, text } = await python(command, { ...process.env });
      return { code, text, states: statesOf(out), out };
    };
    const record = (out: string) =>
      inPython([
        "from gpu.results import record",
        `print(record(${quoted(out)}, ${quoted(recorded)}))`,
      ]);
    return { place, recorded, visit, record, folder };
  }

  it("goes on with what is left in the same place", async () => {
    const { place, visit } = await visits();
    const first = await visit({ recorder: works, stage1: works }, "first", ["--place", place]);
    expect(first.states).toEqual({ recorder: "ok", half: "FAILED", stage1: "ok" });
    const second = await visit({ half: works }, "second", ["--place", place]);
    expect(second.text).not.toMatch(/^ok +stage1/m);
    expect(second.states).toEqual({ recorder: "ok", stage1: "ok", half: "ok" });
    const third = await visit({}, "third", ["--place", place]);
    expect(third).toMatchObject({ code: 0, text: expect.stringContaining("nothing is left") });
  });

  it("collects results, and leaves out what was ok", async () => {
    const { recorded, folder, visit, record } = await visits();
    const first = await visit({ recorder: works, half: works }, "first");
    expect(first.states).toEqual({ recorder: "ok", half: "ok", stage1: "FAILED" });
    expect((await record(first.out)).text).toMatch(/^3 steps of .*; 2 of \d+ steps are ok now: /);
    const second = await visit({ stage1: { exit: 1, stderr: "error: still not" } }, "second");
    expect(second.states).toEqual({ stage1: "FAILED" });
    await record(second.out);
    const tables = readFileSync(join(folder, "results.md"), "utf8");
    expect(tables).toMatch(/\| recorder \| deep-profile \| ok \|/);
    expect(tables).toMatch(
      /\| stage1 \| deep-profile \| FAILED \| Failed: exit 1: error: still not/,
    );
    expect(tables).toMatch(/\| ncu-kernel \| \| not seen \|/);
    // What finds no time takes nothing back.
    const third = await visit({}, "third", ["--only", "recorder", "--minutes", "0"]);
    expect(third.states).toEqual({ recorder: "skipped" });
    await record(third.out);
    expect(statesIn(recorded)).toMatchObject({ recorder: "ok", half: "ok", stage1: "FAILED" });
  });

  it("asks the most valuable questions first", () => {
    const list = execFileSync("python3", [join(scripts, "gpu-check.py"), "--list"], {
      encoding: "utf8",
    });
    const questions = list.split("\n").filter((line) => /^\S/.test(line));
    expect(questions).toEqual([
      ...[
        "this machine",
        "replay modes",
        "golden data",
        "agreement",
        "what range replay captures",
        "PyTorch and other profilers",
      ],
      ...["failures", "cost of recording", "speed", "other results", "what takes long"],
    ]);
    const [, modes = ""] = /^replay modes\n((?: .*\n)+)/m.exec(list) ?? [];
    for (const mode of ["kernel", "range", "app-range", "application"])
      expect(modes).toContain(`replay_mode=${mode} `);
  });

  it("says where results are that cannot be recorded", async () => {
    const { code, text } = await python(
      [join(scripts, "gpu-check.py"), "--record", join(root, "nowhere")],
      { ...process.env },
    );
    expect(code).toBe(1);
    expect(text).toContain("nowhere/results.json: DIR is the folder that gpu-check.py wrote");
  });
});

describe.concurrent("gpu-check.py with nsys", () => {
  it("takes the next nsys where one records no kernels", async () => {
    const folder = join(root, String(++places));
    const database = join(folder, "with.sqlite");
    mkdirSync(folder, { recursive: true });
    await inPython([
      "import sqlite3",
      `c = sqlite3.connect(${JSON.stringify(database)})`,
      "c.execute('CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT)')",
      "c.execute('INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1)')",
      "c.commit()",
    ]);
    // A report holds who recorded it; each exports what the second has recorded.
    const nsys = (name: string): string => {
      tool(join(folder, name), "nsys", [
        'for word in "$@"; do [ "$last" = -o ] && report=$word; last=$word; done',
        'case "$1" in',
        `profile) echo ${name} > "$report.nsys-rep";;`,
        `export) grep -q second "$last" && cp '${database}' "$report"; exit 0;;`,
        "esac",
      ]);
      return join(folder, name, "bin");
    };
    const [first, second] = [nsys("first"), nsys("second")];
    const { text } = await inPython(
      [
        "from gpu.nsys import all_nsys, record",
        "print(len(all_nsys()))",
        "for _ in range(2):",
        `    print(record(["true"], ${JSON.stringify(join(folder, "report"))}))`,
      ],
      {
        PATH: `${first}:${second}:/usr/bin:/bin`,
        GPU_CHECK_NSYS_GIVEN_UP: join(folder, "given-up"),
      },
    );
    // The second time, the first nsys is not asked again.
    const reports = ["report-2.sqlite", "report.sqlite"].map((name) => join(folder, name));
    expect(text.trim().split("\n")).toEqual(["2", ...reports]);
  });

  it("keeps the tables of an export that tests may have", async () => {
    const folder = join(root, String(++places));
    mkdirSync(folder, { recursive: true });
    const database = join(folder, "run.sqlite");
    const { text } = await inPython([
      "import sqlite3",
      "from gpu.nsys import keep_for_tests",
      `c = sqlite3.connect(${JSON.stringify(database)})`,
      "for name in ('NVTX_EVENTS', 'StringIds', 'CUPTI_ACTIVITY_KIND_KERNEL', 'TARGET_INFO_SYSTEM_ENV'):",
      "    c.execute(f'CREATE TABLE {name} (value)')",
      "c.commit()",
      `kept = sqlite3.connect(keep_for_tests(${JSON.stringify(database)}))`,
      "print(sorted(name for (name,) in kept.execute('SELECT name FROM sqlite_master')))",
    ]);
    expect(text.trim()).toBe("['CUPTI_ACTIVITY_KIND_KERNEL', 'NVTX_EVENTS', 'StringIds']");
    expect(existsSync(join(folder, "run.fixture.sqlite"))).toBe(true);
  });

  it("says of each nsys why it recorded nothing", async () => {
    const folder = join(root, String(++places));
    tool(folder, "nsys", ["echo 'no such driver' >&2", "exit 1"]);
    const { text } = await inPython(
      [
        "from gpu.nsys import record",
        `record(["true"], ${JSON.stringify(join(folder, "report"))})`,
      ],
      { PATH: `${join(folder, "bin")}:/usr/bin:/bin` },
    );
    expect(text).toContain("Failed: exit 1: no such driver");
  });

  it("makes a driver that is older than any toolkit", async () => {
    const folder = join(root, String(++places));
    mkdirSync(folder, { recursive: true });
    const { text } = await inPython([
      "import ctypes",
      "from gpu.driver import make_old_driver",
      `driver = ctypes.CDLL(make_old_driver(${JSON.stringify(folder)}) + "/libcuda.so.1")`,
      "version = ctypes.c_int()",
      "print(driver.cuDriverGetVersion(ctypes.byref(version)), version.value)",
    ]);
    expect(text.trim()).toBe("0 10010");
  });

  it.each([
    [1, ["0.50 of it"]],
    [0.4, ["1.25 of it", "ours: exit 3: no output", "torch: exit 4: no output"]],
  ])("holds cuDNN against PyTorch's %s ms", async (torch, words) => {
    const folder = join(root, String(++places));
    tool(folder, "program", ["exit 3"]);
    const reference = `{"logits": [1.0], "ms": ${torch}, "command": ["sh", "-c", "exit 4"], "weights": "", "input": ""}`;
    const { text } = await inPython([
      "import types",
      "from gpu import correctness",
      `correctness.torch_reference = lambda *_: ${reference}`,
      'document = {"timings_ms": {"median": 0.5}}',
      "program = types.SimpleNamespace(",
      `    library="cudnn", path=${JSON.stringify(join(folder, "bin", "program"))}, gpu=[],`,
      '    document=lambda *_: document, tensors=lambda *_, **__: ({"logits": [1.0]}, document))',
      `print(correctness.check_torch(program, (1, 1, 1, 1, 8), "none", ${JSON.stringify(folder)}))`,
    ]);
    for (const each of words) expect(text).toContain(each);
    expect(text.includes("Failed: ")).toBe(torch < 0.5);
  });
});
