/** The commands around the real nsys: ranges are recorded on any machine, kernels where a GPU is. */
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { basename, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { callCommand } from "../called-command.ts";
import { nsightEnvironment, nsightOrSkip } from "../nsight.ts";
import { until } from "../wait.ts";
import {
  type CommandResult,
  readBundle,
  regionsByPath,
  startProfile,
  temporaryDirectory,
} from "./command.ts";

const nsys = nsightOrSkip("nsys", "deep-profile with the real nsys");
const here = temporaryDirectory();
const env = nsightEnvironment();
afterAll(here.remove);

const profile = (...args: string[]): Promise<CommandResult> =>
  callCommand("deep-profile", ["pipeline.nsys.enable=true", ...args], { cwd: here.path, env });

const inRun = (run: string, file: string) => join(here.path, run, file);
const text = (run: string, file: string) => readFileSync(inRun(run, file), "utf8");
const regionsOf = (run: string, collector = "nsys") =>
  regionsByPath(readBundle(join(here.path, run), collector));

describe.skipIf(nsys === null)("a run under nsys", () => {
  let result: CommandResult;
  beforeAll(async () => {
    result = await profile("workload=nvtx_regions", "hydra.run.dir=both");
  });

  it("gives the regions that the recorder gives, with nsys's version", () => {
    expect([result.stderr, result.code]).toEqual(["", 0]);
    const [ours, recorded] = [regionsOf("both"), regionsOf("both", "recorder")];
    expect([...ours.keys()]).toEqual([...recorded.keys()]);
    expect(ours.get("A > A::A1")?.invocations).toBe(1);
    for (const [path, region] of ours)
      expect([path, (region.wall_ms ?? 0) > 0]).toEqual([path, true]);
    const [report] = readBundle(join(here.path, "both"), "nsys").reports;
    expect(report?.collector).toMatchObject({
      name: "nsys",
      version: expect.stringMatching(/^20\d\d\./),
    });
  });

  it("keeps the report, its export, nsys's summaries and the commands", () => {
    const files = readdirSync(inRun("both", "nsys"));
    expect(files).toEqual(
      expect.arrayContaining(["cmd.txt", "run.nsys-rep", "run.sqlite", "summary_nvtx_sum.csv"]),
    );
    expect(text("both", "nsys/summary_nvtx_sum.csv")).toContain("A::A1");
    expect(text("both", "nsys/cmd.txt")).toMatch(
      /nsys profile --trace=cuda,nvtx,osrt --sample=none/,
    );
    // The program's document, without what nsys printed around it.
    expect(JSON.parse(text("both", "nsys/stdout.json"))).toMatchObject({ program: "regions" });
    expect(text("both", "kernels.md")).toContain("## nsys");
    expect(result.stdout).toContain("recorded by nsys");
  });

  it("says under which collector the program ended", () => {
    const ends = result.stdout.split("\n").filter((line) => line.includes("ended with exit code"));
    expect(ends).toEqual(
      ["recorder", "nsys"].map((name) =>
        expect.stringMatching(`ended with exit code 0 under collector ${name}$`),
      ),
    );
  });

  it("can be imported again from its report, and from its export", async () => {
    for (const file of ["run.nsys-rep", "run.sqlite"]) {
      const out = `imported ${file}`;
      const imported = await callCommand(
        "deep-profile",
        ["import", join("both/nsys", file), "-o", out],
        { cwd: here.path, env },
      );
      expect([imported.code, file]).toEqual([0, file]);
      expect([...regionsOf(out).keys()]).toEqual([...regionsOf("both").keys()]);
    }
  });
});

describe.skipIf(nsys === null)("a capture range", () => {
  const only = ["pipeline.recorder.enable=false", "workload=nvtx_regions"];

  // nsys loses its own agent process at times when the machine is busy, and we say so: it is run again.
  it("limits the recording to a range, and lets the program run to its end", {
    retry: 2,
  }, async () => {
    const capture = ["capture_range=nvtx", "nvtx_capture=A::A1"].map(
      (key) => `pipeline.nsys.${key}`,
    );
    const { code, stderr } = await profile(...only, ...capture, "hydra.run.dir=captured");
    expect([stderr, code]).toEqual(["", 0]);
    expect([...regionsOf("captured").keys()].filter((path) => !path.includes(" > "))).toEqual([
      "A::A1",
      "(outside)",
    ]);
    expect(JSON.parse(text("captured", "nsys/stdout.json"))).toMatchObject({ program: "regions" });
  });

  it("that never begins fails with what to do, and the recorder's report is there", async () => {
    const { code, stderr } = await profile(
      "workload=nvtx_regions",
      "pipeline.nsys.capture_range=nvtx",
      "pipeline.nsys.nvtx_capture=nosuch",
      "hydra.run.dir=never",
    );
    expect(code).toBe(1);
    expect(stderr).toContain("the range nosuch (pipeline.nsys.nvtx_capture) never began");
    expect(stderr).toContain("pipeline.nsys.capture_range=none");
    expect(regionsOf("never", "recorder").size).toBeGreaterThan(3);
  });

  it("without a range falls back to the whole run, with a warning", async () => {
    const { code, stdout } = await profile(
      ...only,
      "pipeline.nsys.capture_range=nvtx",
      "pipeline.nsys.nvtx_capture=''",
      "hydra.run.dir=whole",
    );
    expect(code).toBe(0);
    expect(stdout).toContain("recording the whole run");
    expect([...regionsOf("whole").keys()]).toContain("B");
    const notes = readBundle(join(here.path, "whole"), "nsys").reports[0]?.notes ?? [];
    expect(notes.join("\n")).toContain("recording the whole run");
  });
});

describe.skipIf(nsys === null)("what goes wrong under nsys", () => {
  it("in the program is told with the program's exit code", async () => {
    const { code, stderr } = await profile(
      "pipeline.recorder.enable=false",
      "hydra.run.dir=failed",
      "--",
      "sh",
      "-c",
      "exit 3",
    );
    expect([code, stderr]).toEqual([1, expect.stringContaining("sh ended with exit code 3")]);
    expect(existsSync(inRun("failed", "nsys/regions/report.json"))).toBe(true);
  });

  it("by Ctrl-C keeps what was recorded", async () => {
    const iterations = String(1_000_000 - (process.pid % 100_000));
    const child = startProfile(
      [
        "pipeline.nsys.enable=true",
        "pipeline.recorder.enable=false",
        `infer.iterations=${iterations}`,
        "hydra.run.dir=stopped",
      ],
      here.path,
      env,
    );
    child.stdout?.resume();
    // A pass takes a few milliseconds.
    await until(() => processorSeconds("shallow_resnet", iterations) > 1);
    child.kill("SIGINT");
    const [code] = await once(child, "exit");
    expect(code).toBe(130);
    const regions = [...regionsOf("stopped").values()];
    expect(regions.find(({ name }) => name === "stem")?.invocations).toBeGreaterThan(1);
  });
});

it("is refused before anything is written where there is no nsys", async () => {
  const { code, stderr } = await callCommand(
    "deep-profile",
    ["pipeline.nsys.enable=true", "hydra.run.dir=refused"],
    { cwd: here.path, env: { PATH: "/nowhere", HYDRACONF_NSIGHT: "" } },
  );
  // A machine may have it where its package puts it.
  if (code === 0) return;
  expect(code).toBe(1);
  expect(stderr).toContain("nsys (Nsight Systems) was not found");
  expect(existsSync(join(here.path, "refused"))).toBe(false);
});

it.each([
  ["pipeline.nsys.trace=cuda", "nvtx is missing: regions are NVTX ranges"],
  ["pipeline.nsys.capture_range=bogus", "capture_range"],
])("refuses %s before anything is written", async (override, message) => {
  const { code, stderr } = await profile(override, "hydra.run.dir=refused");
  expect([code, stderr]).toEqual([1, expect.stringContaining(message)]);
  expect(existsSync(join(here.path, "refused"))).toBe(false);
});

it("names a remedy that can be typed as it stands", async () => {
  const { stderr } = await profile("pipeline.nsys.trace=cuda", "--dry-run");
  const [, override = ""] = /"(pipeline\.nsys\.trace=[^"]*)"/.exec(stderr) ?? [];
  expect(await profile(override, "--cfg", "job")).toMatchObject({ code: 0 });
});

/** What processes of a program have had of the processor; only those with this argument. */
function processorSeconds(program: string, argument: string): number {
  const ticks = readdirSync("/proc").map((pid) => {
    try {
      if (basename(readlinkSync(`/proc/${pid}/exe`)) !== program) return 0;
      if (!readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").includes(argument)) return 0;
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
      const [user, system] = stat
        .slice(stat.lastIndexOf(")") + 2)
        .split(" ")
        .slice(11);
      return Number(user) + Number(system);
    } catch {
      return 0;
    }
  });
  return ticks.reduce((sum, each) => sum + each, 0) / 100;
}
