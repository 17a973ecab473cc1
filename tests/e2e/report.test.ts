/** `deep-profile report`: a run's reports, made again from its raw files. */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join, relative } from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createAjv } from "../../src/engine/schema/ajv.ts";
import { callCommand } from "../called-command.ts";
import { nsightEnvironment, nsightOrSkip } from "../nsight.ts";
import { realNcuOrSkip } from "../profiler/tools/ncu/run/real-ncu.ts";
import { listFiles } from "../repo/files.ts";
import { commandPath, readBundle, runCommand, temporaryDirectory } from "./command.ts";
import { fakeGpu } from "./fake-gpu.ts";
import { inA, kernels, rangesByLevel, regions } from "./ncu-machine.ts";

const here = temporaryDirectory();
afterAll(here.remove);
const inHere = (...names: readonly string[]) => join(here.path, ...names);
const nsys = nsightOrSkip("nsys", "reports of nsys, made again");
const real = realNcuOrSkip("reports of ncu, made again");
const gpu = real === null ? null : fakeGpu(here.path, real);

const profile = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  callCommand("deep-profile", args, { cwd: here.path, env });
/** In a process of its own: exports of nsys are read in yet another one, which writes to its standard output. */
const start = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  runCommand("deep-profile", args, { cwd: here.path, env });
const report = (...args: readonly string[]) => profile(["report", ...args]);

/** What is no report: written by Hydra, by the tools, or the run's own record. */
const isRaw = (file: string): boolean =>
  /^(?:config|overrides|hydra)\.yaml$|^run\.(?:json|log)$/.test(file) ||
  (/^(?:recorder|nsys|ncu)\//.test(file) && !isReportOfCollector(file));
const isReportOfCollector = (file: string): boolean => /^\w+\/(?:regions\/|trace\.)/.test(file);

const filesOf = (run: string): readonly string[] =>
  listFiles(inHere(run), "").map((file) => relative(inHere(run), file));
const reportsOf = (run: string) => filesOf(run).filter((file) => !isRaw(file));

/** The text of every report, without the time of its making. */
const textsOf = (run: string): ReadonlyMap<string, string> =>
  new Map(
    reportsOf(run).map((file) => [
      file,
      readFileSync(inHere(run, file), "utf8").replaceAll(
        /\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d\.\d{3}Z| \d\d:\d\d UTC)/g,
        "<time>",
      ),
    ]),
  );

function copyWithoutReports(run: string, copy: string): void {
  cpSync(inHere(run), inHere(copy), { recursive: true });
  for (const file of reportsOf(copy)) rmSync(inHere(copy, file));
  for (const collector of ["recorder", "nsys", "ncu"])
    rmSync(inHere(copy, collector, "regions"), { recursive: true, force: true });
  expect(reportsOf(copy)).toEqual([]);
}

async function expectSame(
  run: string,
  copy: string,
  env: Readonly<Record<string, string>> = {},
  command: typeof profile | typeof start = profile,
): Promise<void> {
  copyWithoutReports(run, copy);
  const again = await command(["report", copy], env);
  expect([again.code, again.stdout.includes("report.md")]).toEqual([0, true]);
  const [before, after] = [textsOf(run), textsOf(copy)];
  expect([...after.keys()]).toEqual([...before.keys()]);
  for (const [file, text] of before)
    expect(after.get(file) === text, `${file} is the same`).toBe(true);
  // Nothing is left of the making.
  expect(filesOf(copy)).toEqual(filesOf(run));
}

describe("the reports of a recording", () => {
  beforeAll(async () => {
    const { code } = await profile([
      "workload=nvtx_regions",
      "device=cpu",
      "repeats=3",
      "pipeline.report.trace=true",
      "hydra.run.dir=run",
    ]);
    expect(code).toBe(0);
  });

  it("are made again byte for byte, wherever the directory has gone", async () => {
    expect(reportsOf("run")).toEqual(
      expect.arrayContaining([
        "report.md",
        "kernels.md",
        "stakeholder_summary.md",
        "recorder/regions/report.html",
        "recorder/regions/regions.csv",
        "recorder/regions/A/report.json",
        "recorder/trace.json",
      ]),
    );
    await expectSame("run", "moved");
  });

  it("go elsewhere with --output, with what they link to", async () => {
    expect((await report("run", "--output", "elsewhere")).code).toBe(0);
    expect(textsOf("elsewhere")).toEqual(textsOf("run"));
    expect(existsSync(inHere("elsewhere/config.yaml"))).toBe(true);
    expect((await report("run", "--output", "elsewhere")).stderr).toContain("holds other results");
  });

  it("take the place of old ones; folders of regions that are no more are cleared", async () => {
    cpSync(inHere("run"), inHere("stale"), { recursive: true });
    mkdirSync(inHere("stale/recorder/regions/gone"));
    writeFileSync(inHere("stale/recorder/regions/gone/report.json"), "{}");
    mkdirSync(inHere("stale/recorder/regions/mine"));
    writeFileSync(inHere("stale/recorder/regions/mine/notes.txt"), "of a user");
    writeFileSync(inHere("stale/report.md"), "old");
    expect((await report("stale")).code).toBe(0);
    expect(existsSync(inHere("stale/recorder/regions/gone"))).toBe(false);
    expect(existsSync(inHere("stale/recorder/regions/mine/notes.txt"))).toBe(true);
    expect(textsOf("stale").get("report.md")).toBe(textsOf("run").get("report.md"));
  });

  it("keep the old ones where raw files are gone", async () => {
    cpSync(inHere("run"), inHere("lost"), { recursive: true });
    rmSync(inHere("lost/recorder/repeats/2"), { recursive: true });
    const { code, stderr } = await report("lost");
    expect(code).toBe(1);
    expect(stderr).toContain(join("repeats", "2"));
    expect(textsOf("lost")).toEqual(textsOf("run"));
    expect((await report("lost", "-o", "lost-again")).code).toBe(1);
    expect(existsSync(inHere("lost-again"))).toBe(false);
  });

  it("keep the old ones where only what was recorded is gone", async () => {
    cpSync(inHere("run"), inHere("cleared"), { recursive: true });
    for (const file of listFiles(inHere("cleared/recorder/repeats"), ".nvtxrec")) rmSync(file);
    const { code, stderr } = await report("cleared");
    expect(code).toBe(1);
    expect(stderr).toMatch(/events-\* no longer exists: its reports cannot be rebuilt/);
    expect(textsOf("cleared")).toEqual(textsOf("run"));
  });

  it("of a run with one pattern, or none, are made again", async () => {
    const one = ["pipeline.recorder.include=A*", "pipeline.recorder.exclude=null"];
    const program = ["workload=nvtx_regions", "device=cpu", "runner.mode=light"];
    expect((await profile([...program, ...one, "hydra.run.dir=patterns"])).code).toBe(0);
    const { code, stderr } = await report("patterns");
    expect([code, stderr]).toEqual([0, "reading the files of recorder"]);
    // Nothing that a light run does not write is linked to.
    const page = readFileSync(inHere("patterns/recorder/regions/report.html"), "utf8");
    const links = [...page.matchAll(/href="([^"#:]+)"/g)].map(([, link = ""]) => link);
    expect(links).toContain("../../config.yaml");
    for (const link of links)
      expect(existsSync(inHere("patterns/recorder/regions", link)), link).toBe(true);
  });

  it("do without a document that is gone or cut, and say so", async () => {
    cpSync(inHere("run"), inHere("undocumented"), { recursive: true });
    for (const repeat of ["1", "2", "3"])
      writeFileSync(inHere("undocumented/recorder/repeats", repeat, "stdout.json"), '{"layers"');
    expect((await report("undocumented")).code).toBe(0);
    const text = readFileSync(inHere("undocumented/report.md"), "utf8");
    expect(text).toContain("no static analysis: the workload's output recorder/stdout.json");
  });

  // Files may grow to 10 kB, as on a disk that is nearly full.
  it.skipIf(process.platform === "win32")("stay where new ones cannot be written", async () => {
    cpSync(inHere("run"), inHere("full"), { recursive: true });
    const command = ["-c", 'ulimit -f 20; exec "$@"', "sh", process.execPath];
    const { exitCode, stderr } = await execa(
      "sh",
      [...command, commandPath("deep-profile"), "report", "full"],
      { cwd: here.path, reject: false },
    );
    expect([exitCode, reportsOf("full")]).toEqual([1, reportsOf("run")]);
    expect(stderr).toContain("could not be written: region reports of recorder: ");
    expect(stderr).not.toContain(".tmp");
  });

  it("of what is no directory are refused in words", async () => {
    const { code, stderr } = await report("run/report.md");
    expect(code).toBe(1);
    expect(stderr).toMatch(/^run\/report\.md: it is a file, not the directory of a run\n/);
    expect((await report("run", "--output", "elsewhere/report.md")).stderr).toContain(
      ": a file of that name exists",
    );
  });

  it.each(["run/again", "run/recorder/again", "elsewhere/../run/again"])(
    "do not go into the run's own directory: %s",
    async (output) => {
      const { code, stderr } = await report("run", "--output", output);
      expect(code).toBe(1);
      expect(stderr).toContain(`The directory '${output}' is inside the run`);
      expect(existsSync(inHere(output))).toBe(false);
    },
  );

  it("do not go into it either where it, or the output, is named by a link", async () => {
    symlinkSync("run", inHere("latest"));
    for (const [name, output] of [
      ["latest", "run/again"],
      ["run", "latest/again"],
      ["latest", "latest/new/again"],
    ] as const) {
      const { code, stderr } = await report(name, "--output", output);
      expect([code, stderr]).toEqual([1, expect.stringContaining("is inside the run")]);
      expect(existsSync(inHere(output))).toBe(false);
    }
  });

  it("go beside it, even if its name begins the same", async () => {
    expect((await report("run", "--output", "run-again")).code).toBe(0);
  });

  it("--open says the path where nobody would see the page", async () => {
    const { code, stderr } = await profile(["report", "run", "--open"], { CI: "true" });
    expect(code).toBe(0);
    expect(stderr).toContain(
      `not opened (CI is set): ${inHere("run/recorder/regions/report.html")}`,
    );
  });
});

describe.skipIf(process.platform !== "linux")("--open on a desktop", () => {
  /** A desktop whose xdg-open does this. */
  const desktop = (name: string, script: string) => {
    const bin = inHere(name);
    mkdirSync(bin);
    writeFileSync(join(bin, "xdg-open"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    return { CI: "", DISPLAY: ":7", PATH: `${bin}:${process.env["PATH"]}` };
  };

  it("opens the page of a run, and makes it where the run wrote none", async () => {
    cpSync(inHere("run"), inHere("to open"), { recursive: true });
    rmSync(inHere("to open/recorder/regions/report.html"));
    const env = desktop("desktop", `printf '%s\\n' "$#" "$1" "$DISPLAY" > '${inHere("opened")}'`);
    const { code, stderr } = await profile(["report", "to open", "--open"], env);
    expect([code, stderr]).toEqual([0, expect.not.stringContaining("not opened")]);
    const page = inHere("to open/recorder/regions/report.html");
    expect(readFileSync(inHere("opened"), "utf8")).toBe(`1\n${page}\n:7\n`);
    expect(existsSync(page)).toBe(true);
  });

  it("says the path where the desktop cannot open it; the reports are written all the same", async () => {
    const { code, stderr } = await profile(
      ["report", "run", "--open"],
      desktop("broken desktop", "exit 3"),
    );
    expect(code).toBe(0);
    expect(stderr).toContain(
      `not opened (xdg-open ended with exit code 3): ${inHere("run/recorder/regions/report.html")}`,
    );
  });
});

describe("run.json", () => {
  const rewrite = (copy: string, change: (run: Record<string, unknown>) => unknown) => {
    cpSync(inHere("run"), inHere(copy), { recursive: true });
    const run = JSON.parse(readFileSync(inHere("run/run.json"), "utf8"));
    writeFileSync(inHere(copy, "run.json"), JSON.stringify(change(run)));
  };

  it("fits its schema, and holds neither the machine's paths of the run nor its environment", () => {
    const text = readFileSync(inHere("run/run.json"), "utf8");
    const schema = JSON.parse(
      readFileSync(new URL("../../schemas/run.schema.json", import.meta.url), "utf8"),
    );
    const check = createAjv({ strict: false }).compile(schema);
    expect([check(JSON.parse(text)), check.errors]).toEqual([true, null]);
    const { collectors, workload } = JSON.parse(text);
    expect(workload).not.toHaveProperty("env");
    expect(collectors[0]).toMatchObject({
      collector: "recorder",
      source: {
        kind: "repeats",
        runs: [{ kind: "recording", directory: "repeats/1" }, {}, {}],
        outputs: ["repeats/1/stdout.json", "repeats/2/stdout.json", "repeats/3/stdout.json"],
      },
      outcome: { exitCode: 0, stdoutFile: "recorder/repeats/3/stdout.json" },
    });
  });

  it("of a newer minor version is read; of other versions, it says which it reads", async () => {
    rewrite("minor", (run) => ({ ...run, contract: "hydraconf.run/1.7", added: true }));
    expect((await report("minor")).code).toBe(0);
    for (const version of ["2.0", "1.4", "1.x"]) {
      rewrite("other", (run) => ({ ...run, contract: `hydraconf.run/${version}` }));
      const { code, stderr } = await report("other");
      expect(code).toBe(1);
      expect(stderr).toContain(`its contract is hydraconf.run/${version}`);
      expect(stderr).toContain("reads hydraconf.run/1.5 and newer ones of 1.x");
    }
  });

  it("says what is wrong with it", async () => {
    rewrite("broken", ({ collectors: _, ...run }) => run);
    expect((await report("broken")).stderr).toContain("collectors");
    rewrite("climbing", (run) => ({
      ...run,
      collectors: (run["collectors"] as object[]).map((collector) => ({
        ...collector,
        source: { kind: "recording", directory: "../.." },
      })),
    }));
    expect((await report("climbing")).stderr).toMatch(/run\.json: .*pattern/);
    rmSync(inHere("broken/run.json"));
    const { code, stderr } = await report("broken");
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^broken\/run\.json: .*not the directory of a finished run\n.*Hint: .*$/,
    );
    expect(stderr).toContain("deep-profile import");
    expect((await report("nowhere")).stderr).toMatch(/^nowhere: there is no such directory\n/);
    expect((await report("/")).stderr).toMatch(/^\/run\.json: there is no such file/);
    expect((await report()).code).toBe(2);
  });

  it("that was ended before it was written is imported, as its hint says", async () => {
    copyWithoutReports("run", "ended");
    rmSync(inHere("ended/run.json"));
    const { code, stderr } = await report("ended");
    expect(code).toBe(1);
    const [, command = ""] = /'deep-profile (import ended)' makes reports/.exec(stderr) ?? [];
    const imported = await profile([...command.split(" "), "-o", "imported"]);
    expect(imported.code).toBe(0);
    expect(filesOf("imported")).toContain("report.md");
  });

  it("keeps what failed: the reports say it again", async () => {
    const program = ["--", "sh", "-c", "exit 3"];
    expect((await profile(["hydra.run.dir=failed", ...program])).code).toBe(1);
    await expectSame("failed", "failed-again");
    expect((await report("failed")).stdout).toContain("note: sh ended with exit code 3");
    expect(readFileSync(inHere("failed-again/report.md"), "utf8")).toContain("exit code 3");
  });

  it("keeps a collector that brought nothing back", async () => {
    const problem = { code: "profile.collector", message: "no nsys was here" };
    rewrite("missing", (run) => ({ ...run, missing: [{ collector: "nsys", problem }] }));
    expect((await report("missing")).code).toBe(0);
    expect(readFileSync(inHere("missing/report.md"), "utf8")).toContain("no nsys was here");
  });
});

describe.skipIf(nsys === null)("the reports of nsys", () => {
  it("are made again from its exports, and from its reports", async () => {
    const env = nsightEnvironment();
    const args = ["workload=nvtx_regions", "device=cpu", "pipeline.nsys.enable=true"];
    expect((await profile([...args, "hydra.run.dir=nsys-run"], env)).code).toBe(0);
    await expectSame("nsys-run", "nsys-again", env, start);
    copyWithoutReports("nsys-run", "nsys-report");
    rmSync(inHere("nsys-report/nsys/run.sqlite"));
    expect((await profile(["report", "nsys-report"], env)).code).toBe(0);
    expect(textsOf("nsys-report")).toEqual(textsOf("nsys-run"));
  });
});

describe.skipIf(gpu === null)("the reports of ncu", () => {
  /** Without any of the tools: a laptop that got the directory. */
  const laptop = { PATH: "/usr/bin:/bin", HYDRACONF_NSIGHT: "" };
  const program = (...more: readonly string[]) =>
    profile(["pipeline.ncu.enable=true", "device=cuda:0", ...more, ...regions], gpu?.env);

  it("of kernels are made again from its tables, without ncu", async () => {
    gpu?.plan([{ results: kernels }]);
    expect((await program("hydra.run.dir=ncu-run")).code).toBe(0);
    expect(reportsOf("ncu-run")).toContain("ncu/regions/A/raw.csv");
    await expectSame("ncu-run", "ncu-again", laptop);
    const [report] = readBundle(inHere("ncu-again"), "ncu").reports;
    expect(report?.regions.map(({ name }) => name)).toEqual(["A", "A::A1", "B"]);
  });

  it("are made again from its reports, where the tables were not kept", async () => {
    gpu?.plan([{ results: [{ kernel: "gemm", pushPop: inA }] }]);
    const without = ["pipeline.ncu.ncu_cli.export.csv=false", "hydra.run.dir=ncu-bare"];
    expect((await program(...without)).code).toBe(0);
    expect(existsSync(inHere("ncu-bare/ncu/raw.csv"))).toBe(false);
    await expectSame("ncu-bare", "ncu-bare-again", gpu?.env);
    copyWithoutReports("ncu-bare", "ncu-own");
    expect((await profile(["report", "ncu-own"], laptop)).code).toBe(0);
    expect(readFileSync(inHere("ncu-own/ncu/regions/report.md"), "utf8")).toContain(
      "profile.ncu-rep was read without ncu",
    );
  });

  it("of ranges, one pass per level of nesting, are made again", async () => {
    gpu?.plan(rangesByLevel);
    const ranges = ["pipeline.ncu.ncu_cli.replay_mode=range", "hydra.run.dir=ncu-ranges"];
    expect((await program(...ranges, "pipeline.recorder.enable=false")).code).toBe(0);
    expect(existsSync(inHere("ncu-ranges/ncu/discovery"))).toBe(true);
    await expectSame("ncu-ranges", "ncu-ranges-again", laptop);
  });

  it("where nothing matched are made again", async () => {
    gpu?.plan([]);
    const none = ["pipeline.ncu.ncu_cli.nvtx.include=nosuch", "hydra.run.dir=ncu-none"];
    expect((await program(...none)).code).toBe(0);
    await expectSame("ncu-none", "ncu-none-again", laptop);
  });
});
