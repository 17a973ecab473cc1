import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { isCodedError } from "../../../src/engine/values/errors.ts";
import { packageInfo } from "../../../src/engine/values/package-info.ts";
import {
  compileLabelRules,
  createLabelUnifier,
  type LabelRules,
  labelFunction,
} from "../../../src/profiler/analysis/labels.ts";
import { LABEL_PRESETS, presetRules } from "../../../src/profiler/cli/label-options.ts";

const unify = (rules: LabelRules, ...labels: readonly string[]) => labels.map(labelFunction(rules));

describe("label rules", () => {
  it("replace what they find, wherever they find it, in their order, those of the preset first", () => {
    const rules = {
      preset: [{ pattern: "\\d+", replace: "#" }],
      rules: [
        { pattern: "^step #$", replace: "step" },
        { pattern: "step", replace: "iteration" },
      ],
    };
    expect(unify(rules, "step 17", "f(1, 23)")).toEqual(["iteration", "f(#, #)"]);
  });

  it("drop where they say no text, and put groups where they ask for them", () => {
    expect(unify({ rules: [{ pattern: " \\d+$" }] }, "step 17")).toEqual(["step"]);
    const swapped = { rules: [{ pattern: "^(\\w+) of (\\w+)$", replace: "$2 $1" }] };
    expect(unify(swapped, "forward of layer")).toEqual(["layer forward"]);
  });

  it("leave a label that can be seen, and one that was empty as it is", () => {
    expect(unify({ rules: [{ pattern: ".*" }] }, "step\n17", "")).toEqual(["(empty)", ""]);
  });

  it("change nothing where there are none", () => {
    expect(unify({}, "step 17")).toEqual(["step 17"]);
    expect(unify({ preset: [], rules: [] }, "step 17")).toEqual(["step 17"]);
  });

  it("know how many labels became how many, and which of them fitted", () => {
    const unifier = createLabelUnifier({
      rules: [{ pattern: " \\d+" }, { pattern: "layer" }],
    });
    for (const label of ["step 1", "step 2", "step 1", "load"]) unifier?.labelOf(label);
    expect(unifier?.seen()).toEqual({ labels: 3, unified: 2, fitted: [true, false] });
  });

  it.each([
    ["preset", "labels.preset[0].pattern"],
    ["rules", "labels.rules[0].pattern"],
  ])("name the key of what is no regular expression, among %s", (name, key) => {
    try {
      compileLabelRules({ [name]: [{ pattern: "step (\\d+" }] });
      expect.unreachable();
    } catch (error) {
      if (!isCodedError(error)) throw error;
      expect(error.details).toMatchObject({
        code: "profile.label_rule",
        key,
        message: `${key}: 'step (\\d+' is not a JavaScript regular expression: unterminated group`,
        hint: expect.stringContaining("backslash"),
      });
    }
  });
});

describe("label rules that could take exponential time", () => {
  it("are applied at once", () => {
    const label = `${"a".repeat(57)}!`;
    expect(unify({ rules: [{ pattern: "(a+)+$" }, { pattern: "^(a|aa)+!" }] }, label)).toEqual([
      "(empty)",
    ]);
  });

  it("are refused with the reason where that cannot be promised", () => {
    expect(() => compileLabelRules({ rules: [{ pattern: "^step(?= )" }] })).toThrow(
      "labels.rules[0].pattern: '^step(?= )' cannot be matched in a bounded time: it has a lookahead, (?= )",
    );
  });
});

describe("ready-made label rules", () => {
  it("are the options of the config group", () => {
    const files = readdirSync(join(packageInfo().root, "conf", "labels"));
    expect(files.map((file) => file.replace(/\.yaml$/, "")).sort()).toEqual([...LABEL_PRESETS]);
  });

  it("call operations of PyTorch by their names", () => {
    expect(
      unify(
        presetRules("pytorch"),
        "aten::mm",
        "aten::mm, op_id = 317230",
        "aten::mm, seq = 12, op_id = 5, sizes = [[64, 128], [128, 256]]",
        "aten::t, op_id = 2, sizes = [[2, 3]], input_op_ids = [(1,0)]",
        "autograd::engine::evaluate_function: MmBackward0, seq = 1, op_id = 7",
        "ProfilerStep#12, op_id = 9",
        "Optimizer.step#SGD.step",
        "step 17",
      ),
    ).toEqual([
      ...["aten::mm", "aten::mm", "aten::mm", "aten::t"],
      "autograd::engine::evaluate_function: MmBackward0",
      ...["ProfilerStep", "Optimizer.step#SGD.step", "step 17"],
    ]);
  });

  it("keep shapes where they are asked for", () => {
    expect(
      unify(
        presetRules("pytorch.shapes"),
        "aten::mm, seq = 12, op_id = 5, sizes = [[64, 128], [128, 256]]",
        "aten::t, op_id = 2, sizes = [[2, 3]], input_op_ids = [(1,0)]",
        "ProfilerStep#12, op_id = 9, sizes = []",
        "aten::view, op_id = 1",
      ),
    ).toEqual([
      "aten::mm, sizes = [[64, 128], [128, 256]]",
      "aten::t, sizes = [[2, 3]]",
      "ProfilerStep, sizes = []",
      "aten::view",
    ]);
  });
});
