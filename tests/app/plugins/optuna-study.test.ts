import { afterAll, describe, expect, test } from "vitest";
import OPTUNA from "../../../src/app/plugins/optuna/optuna_study.py";
import { startPython } from "../../../src/app/plugins/python/python-peer.ts";
import { optunaOrSkip } from "../../optuna.ts";

const python = optunaOrSkip("what a study of Optuna is told");

interface Noted {
  readonly result: unknown;
  readonly notes: readonly (readonly [level: string, text: string])[];
}

describe.skipIf(python === null)("a study whose pruner compares with the median of others", () => {
  const peer = startPython(OPTUNA, [], {
    ...{ python: python ?? "", cwd: process.cwd(), env: process.env },
  });
  afterAll(peer.close);
  const warnings: string[] = [];
  const call = (name: string, argument: unknown): unknown => {
    const answer = peer.ask<Noted>(JSON.stringify({ [name]: argument }));
    if ("error" in answer) throw new Error(answer.error);
    warnings.push(
      ...answer.value.notes.flatMap(([level, text]) => (level === "warning" ? [text] : [])),
    );
    return answer.value.result;
  };

  /** Whether each number that two trials report ends the trial: of the second after the first is completed. */
  function ends(...trials: readonly (readonly (readonly [step: number, value: number])[])[]) {
    warnings.length = 0;
    call("open", {
      ...{ sampler: null, storage: null, study_name: null, directions: ["minimize"] },
      space: [["x", { kind: "float", low: { f: "0" }, high: { f: "1" } }]],
      ...{ fixed: [], added: [], custom: null, config: null, folders: [], seed: 1 },
      ...{ trials: trials.length, sweep: "a sweep", is_plan: true, excludes_stop: false },
      pruner: {
        m: [
          ["_target_", "optuna.pruners.MedianPruner"],
          ["n_startup_trials", { i: "1" }],
        ],
      },
    });
    return trials.map((reports, number) => {
      call("ask", 1);
      const ended = reports.map(([step, value]) =>
        call("report", { number, step, value: { f: String(value) } }),
      );
      call("tell", [{ returned: { f: "1" } }]);
      return ended;
    });
  }

  test("takes one number for each whole step, and says once that others do not count", () => {
    const first = [0.5, 1, 1.5, 1.75, 2].map((step) => [step, 1] as const);
    const second = [
      [1, 0],
      [1.5, 9],
      [2, 0],
    ] as const;
    expect(ends(first, second)).toEqual([
      [false, false, false, false, false],
      [false, false, false],
    ]);
    expect(warnings).toEqual([
      "A job reports at the step 1.5, after the step 1: Optuna has whole steps, and takes one number for each, the first. Let jobs report whole steps, such as the number of the evaluation.",
    ]);
    expect(ends(first, [[1.5, 9]])).toEqual([expect.anything(), [true]]);
  });

  test("is told nothing below step 0", () => {
    expect(ends([[0, 1]], [[-0.5, 9]])).toEqual([[false], [false]]);
    expect(ends([[0, 1]], [[0, 9]])).toEqual([[false], [true]]);
  });

  test("takes NaN for worse than any number, and an infinity for what it is", () => {
    expect(ends([[0, 1]], [[0, Number.NaN]])).toEqual([[false], [true]]);
    expect(ends([[0, 1]], [[0, Number.NEGATIVE_INFINITY]])).toEqual([[false], [false]]);
    expect(ends([[0, 1]], [[0, Number.POSITIVE_INFINITY]])).toEqual([[false], [true]]);
  });

  test("says nothing of whole steps, which an attempt that goes on may report again", () => {
    const again = [0, 1, 1, 2].map((step) => [step, 1] as const);
    expect(ends(again)).toEqual([[false, false, false, false]]);
    expect(warnings).toEqual([]);
  });
});
