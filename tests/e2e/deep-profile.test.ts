import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { NCUProfileRegion, RegionReportBundle } from "../../src/report/model/document.ts";
import { callCommand } from "../called-command.ts";
import { listFiles } from "../repo/files.ts";
import {
  type CommandResult,
  readBundle,
  regionsByPath,
  runCommand,
  temporaryDirectory,
} from "./command.ts";

const here = temporaryDirectory();
afterAll(here.remove);

const profile = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  runCommand("deep-profile", args, { cwd: here.path, env });
/** The same in this process. */
const call = (args: readonly string[]) => callCommand("deep-profile", args, { cwd: here.path });

describe("deep-profile of the built-in workload", () => {
  const secret = "a-secret-of-the-environment";
  let result: CommandResult;
  let run: string;
  let bundle: RegionReportBundle;
  let regions: ReadonlyMap<string, NCUProfileRegion>;

  beforeAll(async () => {
    result = await profile(["infer.iterations=3", "device=cpu"], { MY_TOKEN: secret });
    const output = join(here.path, "tmp/profile-output");
    run = join(output, readdirSync(output)[0] ?? "");
    bundle = readBundle(run);
    regions = regionsByPath(bundle);
  });

  it("ends well and shows the regions and the paths of the reports", () => {
    expect(result.stderr).toBe("");
    expect(result.code).toBe(0);
    // In exclusive order a row has its whole path: its parent need not stand above it.
    for (const name of [
      "stem",
      "residual",
      "residual / block.conv1",
      "residual / block.conv2",
      "head",
    ])
      expect(result.stdout).toMatch(new RegExp(`^${name.replace(".", "\\.")} +[39] `, "m"));
    expect(result.stdout).toMatch(/^\(outside\) +– +\d/m);
    for (const file of ["report.md", "recorder/regions/report.json"])
      expect(result.stdout).toContain(join(run, file).slice(here.path.length + 1));
  });

  it("says how to run it again in the words that were typed", () => {
    expect(result.stdout).toContain("deep-profile repeats=5 infer.iterations=3 device=cpu\n");
    expect(result.stdout).not.toContain("/shallow_resnet");
  });

  it("nests the blocks in the residual stage and counts each pass", () => {
    expect([...regions.keys()]).toEqual([
      "stem",
      "residual",
      "residual > block.conv1",
      "residual > block.conv2",
      "head",
      "(outside)",
    ]);
    expect(regions.get("residual > block.conv1")).toMatchObject({
      parent: "residual",
      depth: 1,
      invocations: 9,
      kind: "push_pop",
      device: "cpu",
    });
  });

  it("accounts for all time to one percent", () => {
    const [report] = bundle.reports;
    const exclusive = [...regions.values()].reduce((sum, r) => sum + (r.exclusive_ms ?? 0), 0);
    const total = report?.totals.total_ms ?? Number.NaN;
    expect(Math.abs(exclusive - total)).toBeLessThan(total * 0.01);
    for (const region of regions.values()) {
      expect(region.wall_ms).toBeGreaterThanOrEqual(region.total_ms ?? Number.NaN);
      expect(region.total_ms).toBeGreaterThanOrEqual(region.exclusive_ms ?? Number.NaN);
    }
  });

  it("calls operations of the CPU operations, never GPU kernels", () => {
    const kernels = [...regions.values()].flatMap((region) => region.kernels);
    expect(kernels.length).toBeGreaterThan(0);
    for (const kernel of kernels)
      expect(kernel).toMatchObject({ kind: "cpu_operation", device: "cpu" });
    expect(result.stdout).toContain("CPU ops");
    expect(result.stdout).not.toContain("Kernels");
  });

  it("writes what a run directory holds", () => {
    for (const name of [
      "config.yaml",
      "overrides.yaml",
      "hydra.yaml",
      "env.json",
      "inputs.yaml",
      "run.log",
      "report.md",
      "kernels.md",
      "stakeholder_summary.md",
      "recorder/regions/report.md",
      "recorder/regions/block.conv1/report.json",
    ])
      expect(existsSync(join(run, name)), name).toBe(true);
    expect(readFileSync(join(run, "overrides.yaml"), "utf8")).toBe(
      "- infer.iterations=3\n- device=cpu\n",
    );
    expect(readFileSync(join(run, "report.md"), "utf8")).toContain("## Static analysis");
    expect(readFileSync(join(run, "run.log"), "utf8")).toContain("[deep-profile][INFO]");
  });

  it("stores nothing of the environment", () => {
    const leaks = listFiles(run, "").filter((file) => readFileSync(file).includes(secret));
    expect(leaks).toEqual([]);
  });

  it("writes reports that validate-regions accepts", async () => {
    const files = listFiles(run, "report.json");
    expect(files.length).toBeGreaterThan(5);
    expect(await runCommand("validate-regions", files, { cwd: here.path })).toMatchObject({
      code: 0,
    });
  });

  it("refuses to mix another run into the directory", async () => {
    const again = await profile([`hydra.run.dir='${run}'`]);
    expect(again.code).toBe(1);
    expect(again.stderr).toMatch(/holds the results of another run/);
  });

  it("names the config by its content, wherever the results go", async () => {
    const fingerprint = async (directory: string, override: string) => {
      const run = await call([override, "device=cpu", `hydra.run.dir=${directory}`]);
      expect(run.code).toBe(0);
      return readBundle(join(here.path, directory)).reports[0]?.config_fingerprint;
    };
    const [first, same, other] = [
      await fingerprint("first", "infer.iterations=3"),
      await fingerprint("same", "infer.iterations=3"),
      await fingerprint("other", "infer.iterations=2"),
    ];
    expect(first).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(same).toBe(first);
    expect(other).not.toBe(first);
  });
});

describe("deep-profile workload=nvtx_regions", () => {
  it("shows A, A::A1 inside A, and B", async () => {
    const result = await profile(["workload=nvtx_regions", "hydra.run.dir=regions"]);
    expect(result.code).toBe(0);
    const bundle = readBundle(join(here.path, "regions"));
    const regions = regionsByPath(bundle);
    const [a, a1, b] = ["A", "A > A::A1", "B"].map((path) => regions.get(path));
    expect(a1).toMatchObject({ parent: "A", invocations: 1 });
    expect(b).toMatchObject({ parent: null, invocations: 1 });
    expect(a?.total_ms).toBeGreaterThanOrEqual(a1?.total_ms ?? Number.NaN);
    expect(a?.wall_ms).toBeGreaterThanOrEqual(a1?.wall_ms ?? Number.NaN);
    const total = bundle.reports[0]?.totals.total_ms ?? Number.NaN;
    const roots = (a?.total_ms ?? 0) + (b?.total_ms ?? 0);
    expect(Math.abs(roots - total)).toBeLessThan(total * 0.01);
  });
});

describe("deep-profile selection and switches", () => {
  it("notes settings of a collector that is off", async () => {
    const result = await call([
      ...["workload=nvtx_regions", "hydra.run.dir=idle"],
      "pipeline.ncu.ncu_cli.replay_mode=range",
    ]);
    expect(result.code).toBe(0);
    expect(result.stdout).toContain(
      "pipeline.ncu.ncu_cli.replay_mode has no effect: pipeline.ncu.enable is false\n",
    );
  });

  it("notes when no region matches, and still succeeds", async () => {
    const result = await call(["pipeline.recorder.include=[nothing*]", "hydra.run.dir=none"]);
    expect(result.code).toBe(0);
    const [report] = readBundle(join(here.path, "none")).reports;
    expect(report?.regions.filter((region) => region.kind !== "outside")).toEqual([]);
    expect(report?.notes.join("\n")).toContain("no matching regions");
  });

  it("leaves the aggregate out when told to", async () => {
    await call(["pipeline.report.aggregate=false", "hydra.run.dir=scopes"]);
    const scopes = readBundle(join(here.path, "scopes")).reports.map((report) => report.scope);
    expect(scopes).toEqual([expect.stringMatching(/^process:\d+$/), "device:cpu"]);
  });

  it("writes the region reports only with runner.mode=light", async () => {
    await call(["runner.mode=light", "hydra.run.dir=light"]);
    expect(existsSync(join(here.path, "light/recorder/regions/report.json"))).toBe(true);
    expect(existsSync(join(here.path, "light/report.md"))).toBe(false);
  });

  it.each([
    ["pipeline.ncu.enable=true", "Nsight Compute"],
    ["pipeline.recorder.enable=false", "no collector is enabled"],
    ["device=cuda:7", "was not found on this machine"],
    ["model.weights=absent.safetensors", "file 'absent.safetensors' does not exist"],
    ["model.name=resnet50", "dummy_shallow_resnet"],
  ])("refuses %s before anything is written", async (override, message) => {
    const result = await call([override, "hydra.run.dir=refused"]);
    expect(result.code).toBe(1);
    expect(result.stderr).toContain(message);
    expect(existsSync(join(here.path, "refused"))).toBe(false);
  });

  it("reports every problem of a config at once, each with its place", async () => {
    const result = await call([
      "infer.batch_size=-1",
      "device=gpu",
      "+infer.itertions=3",
      "hydra.run.dir=invalid",
    ]);
    expect(result.code).toBe(1);
    for (const part of ["infer.batch_size=-1", "device=gpu", "itertions", "iterations"])
      expect(result.stderr).toContain(part);
    expect(existsSync(join(here.path, "invalid"))).toBe(false);
  });
});

describe("a sweep whose jobs fail", () => {
  it("says in its tables what failed, not only with which code", async () => {
    const { code, stderr } = await call([
      ...["-m", "hydra.sweep.dir=failing", "workload=command"],
      // As programs do that colour their errors: the last line holds only what ends the colour.
      `workload.command=[sh,-c,'printf "50 %%\\r\\033[31mno such device\\n\\033[0m" >&2; exit 3'],[mkdir,failing/1/report.md]`,
    ]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^#0 .* sh ended with exit code 3: no such device +failing\/0$/m);
    expect(stderr).toMatch(/^#1 .* could not be written: .*report\.md.* failing\/1$/m);
    const table = readFileSync(join(here.path, "failing/sweep.csv"), "utf8");
    expect(table).toContain("sh ended with exit code 3: no such device");
  });
});

describe("deep-profile twice in a second", () => {
  it("gives each run a directory of its own", async () => {
    const other = temporaryDirectory();
    const run = () => runCommand("deep-profile", ["infer.iterations=1"], { cwd: other.path });
    const results = await Promise.all([run(), run(), run()]);
    expect(results.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(readdirSync(join(other.path, "tmp/profile-output"))).toHaveLength(3);
    other.remove();
  });
});

describe("somebody who does not know the tree", () => {
  it("finds by --help what one needs most before the configuration", async () => {
    const { code, stdout } = await profile(["--help"]);
    expect(code).toBe(0);
    const [first = ""] = stdout.split("== Configuration groups ==");
    for (const name of [
      "doctor",
      "compare",
      "report",
      "import",
      "-m",
      "--dry-run",
      "--help KEY",
      "--cfg",
    ])
      expect(first).toContain(`deep-profile ${name}`);
    expect(Math.max(...first.split("\n").map(({ length }) => length))).toBeLessThanOrEqual(100);
    expect(stdout).not.toContain("== Subcommands ==");
  });
});

describe("hydraconf", () => {
  it("explains itself where there is no tree", async () => {
    const empty = temporaryDirectory();
    const result = await runCommand("hydraconf", ["--help"], { cwd: empty.path });
    expect(result).toMatchObject({ code: 0, stderr: "" });
    expect(result.stdout).toContain("hydraconf -cp DIR -cn NAME");
    expect(result.stdout).toContain("--config-path");
    empty.remove();
  });
});

describe("deep-profile --cfg", () => {
  it("prints the composed tree and writes nothing", async () => {
    const before = readdirSync(here.path);
    const result = await profile(["--cfg", "job", "runners=stage1.no-static"]);
    expect(result).toMatchObject({ code: 0, stderr: "" });
    expect(result.stdout).toMatch(/static:\n {6}enabled: false\n/);
    expect(readdirSync(here.path)).toEqual(before);
  });
});
