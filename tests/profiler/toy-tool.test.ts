/** A tool beyond the built-in ones: one object, handed to whatever a run, its plan and its reports go through. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { parseCommandLine } from "../../src/app/command-line/parse.ts";
import { isCodedError } from "../../src/engine/values/errors.ts";
import { createRequestCheck, idleSettings } from "../../src/profiler/cli/check-request.ts";
import { importNamed } from "../../src/profiler/cli/import-named.ts";
import { profileMain } from "../../src/profiler/cli/profile-task.ts";
import { reportDirectory } from "../../src/profiler/cli/report-directory.ts";
import { showDoctor } from "../../src/profiler/cli/show-doctor.ts";
import { DOCTOR, IMPORT, REPORT } from "../../src/profiler/cli/subcommand-lines.ts";
import { createGpuQueries } from "../../src/profiler/machine/gpu.ts";
import { runWorkload } from "../../src/profiler/machine/process.ts";
import type { WithTool } from "../../src/profiler/machine/stop-signals.ts";
import { ToolError } from "../../src/profiler/machine/tool-error.ts";
import type { Timeline } from "../../src/profiler/model/timeline.ts";
import { planProfile } from "../../src/profiler/run/plan-run.ts";
import type { ProfileConfig } from "../../src/profiler/tools/profiler-config.ts";
import type { ProfilingTool } from "../../src/profiler/tools/tool.ts";
import { TOOLS } from "../../src/profiler/tools/tool-table.ts";
import { capturedConsole } from "../captured-console.ts";
import { timelineOf } from "./analysis/timelines.ts";

const directory = mkdtempSync(join(tmpdir(), "hydraconf toy-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const MAGIC = "toy ";

/** `toy <ns>`: one range of so many nanoseconds. */
const timelineIn = (text: string): Timeline => ({
  ...timelineOf([
    { ranges: [{ name: "toy region", start: 0, end: Number(text.slice(MAGIC.length)) }] },
  ]),
  collector: "toy",
});

const readToy = (file: string): Timeline => timelineIn(readFileSync(file, "utf8"));

/** What the settings of the toy are in a config. */
const settingsOf = ({
  pipeline,
}: Pick<ProfileConfig, "pipeline">): { ns: number; option?: string } =>
  Reflect.get(pipeline, "toy");

const toy: ProfilingTool = {
  name: "toy",
  product: "Toy",
  settings: async () => ({
    refusals: [
      {
        key: "pipeline.toy.ns",
        applies: (config) => settingsOf(config).ns < 0,
        message: "no range ends before it begins",
        hint: "pipeline.toy.ns=1",
      },
    ],
    checks: (config) => [
      () => {
        if (settingsOf(config).option !== undefined)
          throw new ToolError({
            tool: "toy",
            code: "profile.tool",
            message: "toy has no such option",
          });
      },
    ],
  }),
  collect: async (workload, { config, directory: folder, interrupt }) => {
    const outcome = await runWorkload(workload, { directory: folder, env: {}, interrupt });
    const file = join(folder, "run.toy");
    writeFileSync(file, `${MAGIC}${settingsOf(config).ns}`);
    return {
      collector: "toy",
      measured: { kind: "timeline", timeline: readToy(file) },
      source: { kind: "files", directory: ".", names: ["run.toy"] },
      outcome,
      toolVersion: "7.0",
      notes: ["measured by a toy"],
    };
  },
  plan: async ({ argv }, { directory: folder }) => ({
    runs: [{ command: ["toy", "--output", join(folder, "run.toy"), ...argv] }],
    notes: ["a toy measures nothing"],
  }),
  reread: async (source, folder) => {
    if (source.kind !== "files") throw new Error(`${source.kind} is of another tool`);
    const [name = ""] = source.names;
    const timeline = readToy(join(folder, source.directory, name));
    return { measured: { kind: "timeline", timeline } };
  },
  import: {
    formats: [
      {
        format: "Toy recording (*.toy)",
        load: async () => ({
          matches: ({ head }) => Buffer.from(head).toString().startsWith(MAGIC),
          read: async ({ path }) => ({
            kind: "timeline",
            timeline: readToy(path),
            toolVersion: "7.0",
            machine: null,
          }),
        }),
      },
    ],
    filesOfRun: (names) => names.filter((name) => name.endsWith(".toy")),
  },
  doctor: async ({ gpu }) => ({
    checks: [{ name: "toy", state: "ok", detail: "7.0 (a toy)" }],
    verdicts: [{ name: "toy", works: "yes", detail: `ranges; ${gpu.absence ?? "with a GPU"}` }],
  }),
};

const tools = [...TOOLS, toy];

const configWith = (settings: object): ProfileConfig =>
  ({
    device: "cpu",
    workload: { kind: "command", command: [process.execPath, "-e", "0"] },
    repeats: 1,
    warmup_runs: 0,
    runner: { mode: "light", top_n_kernels: 10 },
    pipeline: {
      recorder: { enable: false, operation_domains: [], include: null, exclude: null },
      nsys: { enable: false },
      ncu: { enable: false, ncu_cli: {} },
      static_analysis: { enable: false },
      report: { aggregate: true, html: false, trace: false },
      toy: { enable: true, ns: 2e6, ...settings },
    },
  }) as unknown as ProfileConfig;

const withTool: WithTool = (work) => work(new AbortController().signal);
const ioOf = (console: ReturnType<typeof capturedConsole>["console"]) => ({
  cwd: directory,
  env: { ...process.env, COLUMNS: "100" },
  now: new Date(2026, 0, 2),
  console,
});

const reportIn = (folder: string) =>
  JSON.parse(readFileSync(join(folder, "toy", "regions", "report.json"), "utf8")).reports[0];

describe("a tool of one's own", () => {
  it("has its settings checked, and named where it is off", async () => {
    const error = async (settings: object) => {
      const thrown: unknown = await createRequestCheck(
        directory,
        createGpuQueries(),
        tools,
      )(configWith(settings), { isPlan: false }).catch((cause: unknown) => cause);
      return isCodedError(thrown) ? thrown.message : thrown;
    };
    expect(await error({})).toBeUndefined();
    expect(await error({ ns: -1 })).toBe("pipeline.toy.ns: no range ends before it begins");
    expect(await error({ option: "--fast" })).toBe("toy has no such option");
    const off = configWith({ enable: false });
    expect(await idleSettings(off.pipeline, ["++pipeline.toy.ns=3"], tools)).toEqual([
      "pipeline.toy.ns has no effect: pipeline.toy.enable is false",
    ]);
  });

  it("is checked once for all jobs of a sweep with the same settings", async () => {
    const checked: number[] = [];
    const check = createRequestCheck(directory, createGpuQueries(), [
      {
        ...toy,
        settings: async () => ({
          checks: (config) => [() => checked.push(settingsOf(config).ns)],
        }),
      },
    ]);
    for (const ns of [1, 1, 2, 1]) await check(configWith({ ns }), { isPlan: false });
    expect(checked).toEqual([1, 2]);
  });

  it("is in the plan of --dry-run", async () => {
    const { text, data } = await planProfile(configWith({}), {
      cwd: directory,
      runDirectory: "/the/run",
      say: () => {},
      tools,
    });
    expect(data.runs.map(({ collector }) => collector)).toEqual(["toy"]);
    expect(text).toContain(`toy: toy --output /the/run/toy/run.toy ${process.execPath}`);
    expect(text).toContain("note: a toy measures nothing\n");
  });

  it("is run, and its files are read by `deep-profile report` and `deep-profile import`", async () => {
    const run = mkdtempSync(join(directory, "run-"));
    const config = configWith({});
    const log = { info: () => {}, error: () => {}, failure: () => {} };
    const { console, out } = capturedConsole();
    const { exitCode } = await profileMain({
      config,
      fingerprint: `sha256:${"0".repeat(64)}`,
      runDirectory: run,
      cwd: directory,
      log,
      terminal: { write: console.stdout, writeError: console.stderr, width: 100, color: false },
      shownConfig: { config, lines: [] },
      tools,
    });
    expect(out.stderr).toBe("");
    expect(exitCode).toBe(0);
    const first = reportIn(run);
    expect(first.collector).toMatchObject({ name: "toy", version: "7.0" });
    expect(first.notes).toContain("measured by a toy");
    expect(first.regions.map(({ name }: { name: string }) => name)).toContain("toy region");

    writeFileSync(join(run, "toy", "run.toy"), `${MAGIC}5000000`);
    const command = parseCommandLine(REPORT, [run]);
    expect(await reportDirectory(run, command, ioOf(console), withTool, tools)).toBe(0);
    const wallOf = (report: { regions: { name: string; wall_ms: number }[] }) =>
      report.regions.find(({ name }) => name === "toy region")?.wall_ms;
    expect([wallOf(first), wallOf(reportIn(run))]).toEqual([2, 5]);
    const unknown = reportDirectory(run, command, ioOf(console), withTool);
    await expect(unknown).rejects.toThrow("the tool toy is not known here");

    const imported = join(directory, "imported");
    const files = parseCommandLine(IMPORT, [run, "-o", imported]);
    expect(await importNamed(files, ioOf(console), withTool, tools)).toBe(0);
    expect(wallOf(reportIn(imported))).toBe(5);
  });

  it("is a line of `deep-profile doctor`", async () => {
    const { console, out } = capturedConsole();
    await showDoctor(parseCommandLine(DOCTOR, ["--verbose"]), ioOf(console), tools);
    expect(out.stdout).toMatch(/^ +ok +toy +7\.0 \(a toy\)$/m);
    expect(out.stdout).toMatch(/^ +yes +toy +ranges; /m);
  });
});
