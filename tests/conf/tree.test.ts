import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { renderIssues, validateTree } from "../../src/engine/schema/index.ts";
import { CONF_DIR, composeNode, composeTree } from "./compose-tree.ts";

const SCHEMA = JSON.parse(readFileSync(join(CONF_DIR, "../schemas/config.schema.json"), "utf8"));

const problems = (overrides: readonly string[]) => validateTree(composeNode(overrides), SCHEMA);
const brief = (overrides: readonly string[]) =>
  problems(overrides).map(({ problem, key }) => `${problem} ${key}`);

const ARCH = "model/dummy_shallow_resnet/arch@model=dummy_shallow_resnet.default";
const INFER = "model/dummy_shallow_resnet/infer@infer=dummy_shallow_resnet.default";

describe("the profiler's tree", () => {
  test("as it stands", () => {
    expect(composeTree([])).toMatchSnapshot();
  });

  test("fits its schema", () => {
    expect(renderIssues(problems([]))).toContain(": 0 problems");
  });

  test.each([
    ["workload=command", "workload.command=[prog,10]"],
    ["pipeline.ncu.enable=true", "pipeline.ncu.ncu_cli.extra_args=[--max-connections,512]"],
    ["pipeline.nsys.enable=true", "pipeline.nsys.extra_args=[--duration,10]"],
  ])("says how a number is typed where arguments are meant: %s %s", (choice, override) => {
    const [issue] = problems([choice, override]);
    const [, typed = ""] = /"(.*)"\.$/.exec(issue?.description ?? "") ?? [];
    expect(typed.split("=")[0]).toBe(override.split("=")[0]);
    expect(typed.replaceAll("'", "").endsWith(override.split("=").at(-1) ?? "")).toBe(true);
    expect(problems([choice, typed])).toEqual([]);
  });

  const options = readdirSync(CONF_DIR, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".yaml") && file !== "config.yaml")
    .map((file) => file.slice(0, -".yaml".length));
  const needs: Readonly<Record<string, readonly string[]>> = {
    "workload/command": ["workload.command=[prog]"],
    "workload/python_module": ["workload.module=a.b"],
  };
  test.each(options)("every option composes and fits the schema: %s", (path) => {
    const mounts: Readonly<Record<string, string>> = {
      "profiling/ncu": "@pipeline.ncu",
      "profiling/nsys": "@pipeline.nsys",
      "profiling/counters": "@pipeline.counters",
      "profiling/recorder": "@pipeline.recorder",
      "model/dummy_shallow_resnet/arch": "@model",
      "model/dummy_shallow_resnet/infer": "@infer",
    };
    const group = path.slice(0, path.lastIndexOf("/"));
    const override = `${group}${mounts[group] ?? ""}=${path.slice(group.length + 1)}`;
    expect(brief([override, ...(needs[path] ?? [])])).toEqual([]);
  });

  test("every file says what it is", () => {
    const files = readdirSync(CONF_DIR, { recursive: true, encoding: "utf8" });
    const silent = files
      .filter((file) => file.endsWith(".yaml"))
      .filter((file) => !readFileSync(join(CONF_DIR, file), "utf8").startsWith("# "));
    expect(files).toContain("config.yaml");
    expect(silent).toEqual([]);
  });
});

describe("command lines of the design", () => {
  test("range replay on a GPU", () => {
    const line = [
      ARCH,
      INFER,
      "pipeline.ncu.enable=true",
      "pipeline.nsys.enable=false",
      "pipeline.ncu.ncu_cli.replay_mode=range",
      "pipeline.ncu.ncu_cli.nvtx.include='*'",
      "device=cuda:0",
    ];
    const tree = composeTree(line);
    expect(tree.pipeline.ncu.enable).toBe(true);
    expect(tree.pipeline.nsys.enable).toBe(false);
    expect(tree.pipeline.ncu.ncu_cli.replay_mode).toBe("range");
    expect(tree.pipeline.ncu.ncu_cli.nvtx.include).toBe("*");
    expect(tree.device).toBe("cuda:0");
    expect(brief(line)).toEqual([]);
  });

  test("sections as a list", () => {
    const line = [ARCH, INFER, "pipeline.ncu.ncu_cli.sections='[SpeedOfLight,Occupancy]'"];
    // The quotes are the shell's in the design; kept by a caller, they make one string.
    expect(composeTree(line).pipeline.ncu.ncu_cli.sections).toBe("[SpeedOfLight,Occupancy]");
    const shell = [ARCH, INFER, "pipeline.ncu.ncu_cli.sections=[SpeedOfLight,Occupancy]"];
    expect(composeTree(shell).pipeline.ncu.ncu_cli.sections).toEqual(["SpeedOfLight", "Occupancy"]);
    expect(brief(shell)).toEqual([]);
  });

  test("no static analysis", () => {
    const tree = composeTree(["runners=stage1.no-static"]);
    expect(tree.runners.analysis.static.enabled).toBe(false);
    expect(tree.pipeline.static_analysis.enable).toBe(false);
    expect(composeTree([]).pipeline.static_analysis.enable).toBe(true);
  });
});

describe("workloads", () => {
  test.each([
    ["shallow_resnet", { kind: "shallow_resnet", program: "forward" }],
    ["nvtx_regions", { kind: "shallow_resnet", program: "regions" }],
    ["command", { kind: "command", command: [] }],
    [
      "python_module",
      { kind: "python_module", module: "???", overrides: [], run_dir: null, python: "python3" },
    ],
  ])("%s", (name, expected) => {
    const { workload } = composeTree([`workload=${name}`]);
    expect({ ...workload, ...("run_dir" in workload ? { run_dir: null } : {}) }).toEqual(expected);
  });

  test("a command and a module must be named", () => {
    expect(brief(["workload=command"])).toEqual(["invalid_value workload.command"]);
    expect(brief(["workload=python_module"])).toEqual(["missing_value workload.module"]);
  });
});

describe("the schema", () => {
  test.each([
    [["device=gpu"], ["invalid_value device"]],
    [["device=cuda:01"], ["invalid_value device"]],
    [["device=cuda"], ["invalid_value device"]],
    [["infer.batch_size=0"], ["invalid_value infer.batch_size"]],
    [["infer.batch_size=four"], ["invalid_value infer.batch_size"]],
    [["infer.batch_norm=on"], ["invalid_value infer.batch_norm"]],
    [["model.num_classes=11"], ["invalid_value model.num_classes"]],
    [
      ["pipeline.ncu.ncu_cli.replay_mode=kernels"],
      ["invalid_value pipeline.ncu.ncu_cli.replay_mode"],
    ],
    [
      ["pipeline.ncu.ncu_cli.nvtx.include=[a,1]"],
      ["invalid_value pipeline.ncu.ncu_cli.nvtx.include[1]"],
    ],
    [["pipeline.nsys.trace='cuda, nvtx'"], ["invalid_value pipeline.nsys.trace"]],
    [["pipeline.nsys.capture_range_end=repeat"], []],
    [["+infer.batchsize=4"], ["unknown_key infer.batchsize"]],
    [["~infer.seed"], ["missing_key infer.seed"]],
    [["~runner"], ["missing_key runner"]],
    [["workload.kind=shallow"], ["invalid_value workload.kind"]],
    [["workload=command", "workload.command=prog"], ["invalid_value workload.command"]],
    [["workload=command", "workload.command=[prog,1]"], ["invalid_value workload.command[1]"]],
    [["workload=command", "workload.command=[prog,'1']"], []],
    [["pipeline.recorder.include=A*", "pipeline.recorder.exclude=null"], []],
    [["pipeline.recorder.include=1"], ["invalid_value pipeline.recorder.include"]],
    [
      ["pipeline.recorder.operation_domains=A"],
      ["invalid_value pipeline.recorder.operation_domains"],
    ],
    [["runner.artifacts.stage2_dir=null"], ["invalid_value runner.artifacts.stage2_dir"]],
    [
      ["infer.batch_size=0", "device=x", "+pipeline.ncu.enabel=1", "model.name=''"],
      [
        "invalid_value model.name",
        "invalid_value infer.batch_size",
        "unknown_key pipeline.ncu.enabel",
        "invalid_value device",
      ],
    ],
  ])("%j", (overrides, expected) => {
    expect(brief(overrides)).toEqual(expected);
  });

  test("tells where each value came from, and which key was meant", () => {
    const text = renderIssues(
      problems(["infer.batch_size=0", "+pipeline.ncu.enabel=1", "~infer.seed"]),
    );
    expect(text).toContain("infer.batch_size = 0\n    expected:     at least 1\n");
    expect(text).toContain("from:         override 'infer.batch_size=0'");
    expect(text).toContain("did you mean: enable");
    expect(text).toContain("infer.seed: missing");
    expect(text).toMatch(/infer\/dummy_shallow_resnet\.default\.yaml:\d+:\d+/);
  });
});
