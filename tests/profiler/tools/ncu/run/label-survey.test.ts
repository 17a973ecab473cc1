import { describe, expect, it } from "vitest";
import { type LabelRules, labelFunction } from "../../../../../src/profiler/analysis/labels.ts";
import { labelsOf } from "../../../../../src/profiler/tools/ncu/run/label-survey.ts";
import {
  type NvtxRequest,
  planPasses,
} from "../../../../../src/profiler/tools/ncu/run/pass-plan.ts";
import { timelineOf } from "../../../analysis/timelines.ts";
import { realNcuOrSkip } from "./real-ncu.ts";

const names = [
  "step 0",
  "step 1",
  "aten::mm, op_id = 17",
  "aten::mm, op_id = 18",
  "a{1}.(2)",
  "load",
  "aten::mm",
];
const timeline = timelineOf([
  { ranges: names.map((name, index) => ({ name, start: index * 10, end: index * 10 + 5 })) },
]);
const discovered = (rules: LabelRules) => labelsOf(timeline, [], labelFunction(rules));
const dropped = { rules: [{ pattern: "(?:, op_id =)? \\d+$" }, { pattern: "[{(.)}]" }] };

const wanting = (include: readonly string[], exclude: readonly string[] = []): NvtxRequest => ({
  include,
  exclude,
  native: { include: [], exclude: [] },
  gating: true,
  filtering: true,
});

const real = realNcuOrSkip("NVTX filters of unified labels");

describe("labels of a program under label rules", () => {
  it("are those of the reports, with what the program writes, whatever number stands there", () => {
    expect(discovered(dropped).labels).toEqual([
      { domain: "", name: "step", kind: "push_pop", written: ["step \\d+"] },
      {
        domain: "",
        name: "aten::mm",
        kind: "push_pop",
        written: ["aten::mm\\, op_id = \\d+", "aten::mm"],
      },
      { domain: "", name: "a12", kind: "push_pop", written: ["a\\{\\d+\\}\\.\\(\\d+\\)"] },
      { domain: "", name: "load", kind: "push_pop" },
    ]);
  });

  it("keep the numbers that decide what they become", () => {
    const warmup = { rules: [{ pattern: "^step 0$", replace: "warmup" }, ...dropped.rules] };
    const { labels } = discovered(warmup);
    expect(labels.slice(0, 2)).toMatchObject([
      { name: "warmup", written: ["step 0"] },
      { name: "step", written: ["step 1"] },
    ]);
  });

  it("are what patterns are held against, and one region in each pass", () => {
    const labels = discovered(dropped);
    const include = (request: NvtxRequest) =>
      planPasses("kernel", request, labels).passes.map((pass) => [pass.include, pass.exclude]);
    expect(include(wanting(["step"]))).toEqual([[["regex:^step \\d+$/"], []]]);
    expect(include(wanting(["step 1"]))).toEqual([[[], []]]);
    expect(include(wanting(["load", "aten*"]))).toEqual([
      [["regex:^(load|aten::mm\\, op_id = \\d+|aten::mm)$/"], []],
    ]);
    expect(include(wanting([], ["step"]))).toEqual([[[], ["regex:^step \\d+$/"]]]);
    const { passes } = planPasses("range", wanting(["step"]), labels);
    expect(passes).toMatchObject([{ include: ["regex:^step \\d+$/"], labels: [{ name: "step" }] }]);
  });

  it.skipIf(real === null)("are found by ncu, even with numbers that were not recorded", () => {
    const { passes } = planPasses("kernel", wanting(["step", "a*"]), discovered(dropped));
    const open = [...names, "step 99", "aten::mm, op_id = 7", "steps", "steps 1", "step x"];
    const results = open.map((name, index) => ({
      kernel: `kernel${index}`,
      pushPop: [{ domain: "", name }],
    }));
    const found = real?.matching(results)(passes[0]?.include ?? []) ?? [];
    expect(open.filter((_, index) => found.includes(`kernel${index}`))).toEqual([
      ...names.filter((name) => name !== "load"),
      "step 99",
      "aten::mm, op_id = 7",
    ]);
  });

  it.skipIf(real === null)("of emit_nvtx with shapes and inputs are found by ncu", () => {
    // As PyTorch writes them, with `record_shapes=True`.
    const written = [
      "train_step",
      "aten::conv2d, op_id = 7, sizes = [[16, 3, 64, 64], [32, 3, 3, 3], [32], [], []], input_op_ids = [(1,0), (2,1)]",
      "aten::cudnn_convolution, seq = 3, op_id = 9, sizes = [[16, 3, 64, 64], [32, 3, 3, 3], [], []]",
      "autograd::engine::evaluate_function: ConvolutionBackward0, seq = 3, op_id = 21",
      "aten::add_, op_id = 30, sizes = [[], [], []]",
    ];
    const run = timelineOf([
      { ranges: written.map((name, index) => ({ name, start: index * 10, end: index * 10 + 5 })) },
    ]);
    const rules = { rules: [{ pattern: ", (?:seq|op_id|sizes|input_op_ids) = .*$" }] };
    const labels = labelsOf(run, [], labelFunction(rules));
    const results = written.map((name, index) => ({
      kernel: `kernel${index}`,
      pushPop: [{ domain: "", name: name.replace("op_id = ", "op_id = 1") }],
    }));
    const matching = real?.matching(results);
    const found = (...include: readonly string[]): readonly string[] => {
      const { passes } = planPasses("kernel", wanting(include), labels);
      return matching?.(passes[0]?.include ?? []) ?? [];
    };
    expect(found("train_step", "aten::conv2d")).toEqual(["kernel0", "kernel1"]);
    expect(found("aten::cudnn_convolution", "aten::add_")).toEqual(["kernel2", "kernel4"]);
    expect(found("autograd*")).toEqual(["kernel3"]);
  });
});
