import { describe, expect, it } from "vitest";
import { hasProcessScope } from "../../../../src/profiler/tools/recorder/recorder-collector.ts";
import { renderBundleJson } from "../../../../src/report/render/json.ts";
import { textOf } from "../../../../src/report/validation/json-text.ts";
import { bundleOf } from "../../../report/bundles.ts";
import { inPieces } from "../../../report/in-pieces.ts";

const QUOTING = { name: 'x "scope": "process:1"', start: 0, end: 9 };
const bundle = bundleOf([{ pid: 1, ranges: [QUOTING] }]);
const [aggregate, ...ofProcesses] = bundle.reports;
if (aggregate === undefined || ofProcesses.length === 0) throw new Error("there are both");

const withProcess = renderBundleJson(bundle);
const without = renderBundleJson({ ...bundle, reports: [aggregate] });

describe("tellsOfProcess", () => {
  it("finds the scope of a process wherever the pieces of the text end", () => {
    for (let length = 1; length < 40; length++) {
      expect(hasProcessScope(inPieces(withProcess, length)), `${length}`).toBe(true);
      expect(hasProcessScope(inPieces(without, length)), `${length}`).toBe(false);
    }
  });

  it("reads compact files, and damaged ones as far as they go", () => {
    expect(hasProcessScope(textOf(JSON.stringify(bundle)))).toBe(true);
    expect(hasProcessScope(textOf(withProcess.slice(0, -100)))).toBe(true);
    expect(hasProcessScope(textOf(""))).toBe(false);
  });
});
