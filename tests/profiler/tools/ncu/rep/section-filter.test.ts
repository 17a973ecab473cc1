import { describe, expect, it } from "vitest";
import {
  SCOPE,
  type SectionFilter,
  type SectionMetric,
  type ShownFor,
  shownMetric,
} from "../../../../../src/profiler/tools/ncu/rep/section-filter.ts";

type Range = readonly [min: number | null, max: number | null];
const ALL: Range = [null, null];
const filter = (all: Range, items: readonly Range[] = [], scopes: number[] = []): SectionFilter => {
  const range = ([min, max]: Range) => ({ min, max });
  return { all: range(all), items: items.map(range), scopes };
};
const scopes = (...allowed: number[]) => filter(ALL, [], allowed);
const onGpu = (gpu: number | null): ShownFor => ({ gpu, scope: SCOPE.launch });

/** Whether a metric is shown that has this filter, in a section that has that one. */
const isShown = (own: SectionFilter | null, section: SectionFilter | null, of: ShownFor) =>
  shownMetric({ name: "metric", filter: own, options: [] }, section, of) !== null;
const gpusOf = (own: SectionFilter | null, section: SectionFilter | null = null) =>
  [70, 75, 80, 86, 90].filter((gpu) => isShown(own, section, onGpu(gpu)));

describe("a metric of a section", () => {
  it("is for all GPUs from a first to a last one, or without the one or the other", () => {
    expect(gpusOf(null)).toEqual([70, 75, 80, 86, 90]);
    expect(gpusOf(filter(ALL))).toEqual([70, 75, 80, 86, 90]);
    expect(gpusOf(filter([80, null]))).toEqual([80, 86, 90]);
    expect(gpusOf(filter([null, 75]))).toEqual([70, 75]);
    expect(gpusOf(filter([75, 80]))).toEqual([75, 80]);
    expect(gpusOf(filter([75, null]), filter([null, 80]))).toEqual([75, 80]);
  });

  it("is for the GPUs of any part of its filter, which count instead of the whole", () => {
    const parts: readonly Range[] = [
      [70, 70],
      [86, null],
    ];
    expect(gpusOf(filter([80, 80], parts))).toEqual([70, 86, 90]);
  });

  it("is for some kinds of results: those of its section, unless it names its own", () => {
    const range: ShownFor = { gpu: 80, scope: SCOPE.range };
    const launches = scopes(SCOPE.launch);
    expect(isShown(null, launches, onGpu(80))).toBe(true);
    expect(isShown(null, launches, range)).toBe(false);
    expect(isShown(launches, null, range)).toBe(false);
    expect(isShown(scopes(SCOPE.launch, SCOPE.range), launches, range)).toBe(true);
    expect(isShown(filter([80, 80]), launches, range)).toBe(false);
    expect(isShown(filter([90, null], [], [SCOPE.range]), null, range)).toBe(false);
  });

  it("is hidden for nothing that is not known", () => {
    expect(isShown(filter([80, null]), null, onGpu(null))).toBe(true);
    expect(isShown(scopes(SCOPE.launch), null, { gpu: 80, scope: null })).toBe(true);
    expect(isShown(filter([80, null]), null, { gpu: 75, scope: null })).toBe(false);
  });

  it("gives its place to the first of its options that is for the GPU", () => {
    const metric: SectionMetric = {
      name: "cycles",
      filter: filter([75, null]),
      options: [
        { name: "time", filter: filter([86, 86]) },
        { name: "clock", filter: filter([86, 90]) },
      ],
    };
    expect([70, 75, 86, 90].map((gpu) => shownMetric(metric, null, onGpu(gpu)))).toEqual([
      null,
      "cycles",
      "time",
      "clock",
    ]);
  });

  it("is none where its place is empty", () => {
    expect(shownMetric({ name: "", filter: null, options: [] }, null, onGpu(80))).toBeNull();
  });
});
