import { appendFileSync, mkdtempSync, readFileSync, renameSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  followMetrics,
  METRICS_FILE,
  metricsIn,
  openMetrics,
  pointOf,
} from "../../../src/app/job/metrics.ts";

const newFolder = () => mkdtempSync(join(tmpdir(), "hydraconf-metrics-"));

describe("metrics of a job", () => {
  it("are read in whole lines, each once", () => {
    const file = join(newFolder(), METRICS_FILE);
    const read = followMetrics(file);
    expect(read()).toEqual([]);
    appendFileSync(file, '{"step": 1}\n{"step"');
    expect(read()).toEqual([{ step: 1 }]);
    appendFileSync(file, ": 2}\nno JSON\n[3]\n");
    expect(read()).toEqual([{ step: 2 }]);
    expect(read()).toEqual([]);
  });

  it("of another attempt are read from the start", () => {
    const file = join(newFolder(), METRICS_FILE);
    appendFileSync(file, '{"step": 1}\n');
    let restarts = 0;
    const read = followMetrics(file, () => restarts++);
    read();
    expect(restarts).toBe(0);
    renameSync(file, `${file}.1`);
    expect(read()).toEqual([]);
    appendFileSync(file, '{"step": 1, "again": true}\n');
    expect(read()).toEqual([{ step: 1, again: true }]);
    expect(restarts).toBe(1);
  });

  it("may have numbers that only Python writes", () => {
    const line = '{"step": 3, "a": NaN, "b": {"c": -Infinity}, "text": "x: NaN"}';
    const { finite, numberAt, step } = pointOf(metricsIn(line) ?? {}, 1);
    expect([step, finite()]).toEqual([3, []]);
    expect(["a", "b.c", "text"].map(numberAt)).toEqual([
      ...[Number.NaN, Number.NEGATIVE_INFINITY, undefined],
    ]);
  });

  it("are the same points for whoever reads them: nested numbers by dots, without a step at their line", () => {
    const { finite, numberAt, step } = pointOf({ val: { loss: 2, best: "NaN" }, "a.b": 1 }, 7);
    expect([step, finite()]).toEqual([
      7,
      [
        ["a.b", 1],
        ["val.loss", 2],
      ],
    ]);
    for (const [path, value] of finite()) expect(numberAt(path)).toBe(value);
    expect(["val.best", "val", "none"].map(numberAt)).toEqual([Number.NaN, undefined, undefined]);
    expect(pointOf({ step: 0.5 }, 7).step).toBe(0.5);
    expect(pointOf({ step: "NaN" }, 7).step).toBe(7);
  });

  it("are written from the beginning by each attempt", () => {
    const folder = newFolder();
    appendFileSync(join(folder, METRICS_FILE), '{"step": 7}\n');
    const report = openMetrics(folder);
    const read = followMetrics(join(folder, METRICS_FILE));
    expect(read()).toEqual([{ step: 7 }]);
    report(1, {});
    expect(read()).toEqual([{ step: 1 }]);
    report(2, { loss: 0.25 });
    report(3, { loss: Number.NaN, grad: Number.POSITIVE_INFINITY });
    // Any reader of JSON can read it.
    expect(readFileSync(join(folder, METRICS_FILE), "utf8")).toBe(
      '{"step":1}\n{"step":2,"loss":0.25}\n{"step":3,"loss":"NaN","grad":"Infinity"}\n',
    );
    const [, last] = read().map((metrics) => pointOf(metrics, 1));
    expect(["loss", "grad"].map((name) => last?.numberAt(name))).toEqual([
      ...[Number.NaN, Number.POSITIVE_INFINITY],
    ]);
  });
});
