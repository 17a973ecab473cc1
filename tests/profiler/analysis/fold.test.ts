import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { buildRegionModel } from "../../../src/profiler/analysis/build.ts";
import { LESS_TIMES, MANY_TIMES, MOST_NUMBERED } from "../../../src/profiler/analysis/labels.ts";
import {
  childNode,
  createPathTree,
  nodesDepthFirst,
  rangePath,
} from "../../../src/profiler/analysis/path-tree.ts";
import { withoutNumbers } from "../../../src/report/model/families.ts";
import { type ProcessSketch, timelineOf } from "./timelines.ts";

describe("a label without its numbers", () => {
  it.each([
    ["step_3", "step_#"],
    ["aten::mm, op_id = 317230", "aten::mm, op_id = #"],
    ["alloc 0x7f3aFF00c0de at", "alloc # at"],
    ["tensor@7f3ac0de1b", "tensor@#"],
    ["request 550e8400-e29b-41d4-a716-446655440000", "request #"],
    ["lr=1.5e-05 for -2.25 s", "lr=# for -# s"],
    ["block.conv1", "block.conv#"],
    ["deadbeef", "deadbeef"],
    ["defaced facade", "defaced facade"],
    ["A::A1", "A::A#"],
  ])("of %s is %s", (label, plain) => {
    expect(withoutNumbers(label)).toBe(plain);
    expect(withoutNumbers(plain)).toBe(plain);
  });
});

const ranges = (labels: readonly string[], parent?: string) => [
  ...(parent === undefined ? [] : [{ name: parent, start: 0, end: 1_000_000 }]),
  ...labels.map((name, index) => ({ name, start: 10 * index + 1, end: 10 * index + 4 })),
];
const numbered = (count: number, before: string, after = "") =>
  Array.from({ length: count }, (_, index) => `${before}${index}${after}`);
const pathsOf = (sketch: ProcessSketch, options = {}) =>
  (buildRegionModel(timelineOf([sketch]), options).scopes[0]?.regions ?? [])
    .filter(({ kind }) => kind !== "outside")
    .map(({ path }) => path.join(" / "));

describe("labels that differ only in numbers", () => {
  it("stay apart as long as they are few, as the layers of a model", () => {
    const layers = numbered(MOST_NUMBERED, "layer_");
    expect(pathsOf({ ranges: ranges([...layers, ...layers], "model") })).toHaveLength(
      MOST_NUMBERED + 1,
    );
  });

  it("are one region where there are more, with all their calls and times, and one note", () => {
    const [scope] = buildRegionModel(
      timelineOf([{ ranges: ranges(["conv1", ...numbered(1000, "step_"), "conv2"], "train") }]),
    ).scopes;
    expect(
      scope?.regions.map(({ path, invocations, wallNs }) => [
        path.join(" / "),
        invocations,
        wallNs,
      ]),
    ).toEqual([
      ["train", 1, 1_000_000],
      ["train / conv1", 1, 3],
      ["train / step_#", 1000, 3000],
      ["train / conv2", 1, 3],
    ]);
    expect(scope?.notes.filter((note) => note.includes("labels.fold=null"))).toHaveLength(1);
  });

  it("stay apart where that is asked for, by the config or by a pattern that means one of them", () => {
    const steps = { ranges: ranges(numbered(300, "step_")) };
    expect(pathsOf(steps, { labels: { fold: null } })).toHaveLength(300);
    expect(pathsOf(steps, { labels: { fold: 300 } })).toHaveLength(300);
    expect(pathsOf(steps, { labels: { fold: 299 } })).toEqual(["step_#"]);
    expect(pathsOf(steps, { selection: { include: ["step_7"], exclude: [] } })).toEqual(["step_7"]);
    expect(pathsOf(steps, { selection: { include: ["step_*"], exclude: ["step_9"] } })).toEqual([
      "step_#",
    ]);
  });

  it("fold wherever they are, per domain, and what is inside them is merged", () => {
    const sketch = {
      ranges: Array.from({ length: 200 }, (_, index) => [
        { name: `step ${index}`, start: 100 * index, end: 100 * index + 90 },
        { name: "load", domain: "io", start: 100 * index + 1, end: 100 * index + 11 },
        {
          name: `step ${index % 50}`,
          domain: "io",
          start: 100 * index + 21,
          end: 100 * index + 31,
        },
      ]).flat(),
    };
    const paths = pathsOf(sketch);
    expect(paths).toHaveLength(52);
    expect(paths.slice(0, 3)).toEqual(["step #", "step # / load", "step # / step 0"]);
  });
});

const MOST = 3;
const names = fc.constantFrom(
  "a",
  "s#",
  ...numbered(6, "s"),
  ...numbered(5, "t", "x"),
  "b1",
  ...["u", "v", "w", "x", "y", "z"].flatMap((before) => numbered(4, before)),
);
const paths = fc.array(fc.array(names, { minLength: 1, maxLength: 3 }), { maxLength: 100 });

/** The same from the definition: first the labels of the whole run, then the tree. */
function folded(all: readonly (readonly string[])[]): ReadonlySet<string> {
  const families = new Map<string, Set<string>>();
  for (const name of all.flat().filter((each) => withoutNumbers(each) !== each))
    families.set(withoutNumbers(name), (families.get(withoutNumbers(name)) ?? new Set()).add(name));
  const sizes = [...families.values()].map(({ size }) => Math.min(size, MOST + 1));
  const isMany = sizes.reduce((sum, size) => sum + size, 0) > MANY_TIMES * MOST;
  const most = isMany ? Math.ceil(MOST / LESS_TIMES) : MOST;
  const shown = (name: string) => {
    const plain = withoutNumbers(name);
    return plain !== name && (families.get(plain)?.size ?? 0) > most ? plain : name;
  };
  return new Set(
    all.flatMap((path) =>
      path.map((_, level) =>
        path
          .slice(0, level + 1)
          .map(shown)
          .join("/"),
      ),
    ),
  );
}

it("folds rare ones, too, where a run has very many", () => {
  const layers = numbered(40, "layer_");
  const calls = Array.from({ length: 9 }, (_, kind) =>
    numbered(120, `op${"x".repeat(kind)} `),
  ).flat();
  expect(pathsOf({ ranges: ranges([...layers, ...calls.slice(0, 900)]) })).toHaveLength(940);
  expect(pathsOf({ ranges: ranges([...layers, ...calls]) })).toHaveLength(10);
  expect(pathsOf({ ranges: ranges([...layers.slice(0, 32), ...calls]) })).toHaveLength(41);
});

describe("the number of labels that are kept", () => {
  const many = (families: number, labels: number) =>
    ranges(
      Array.from({ length: families }, (_, family) =>
        numbered(labels, `${"abcdefghijkl".charAt(family)} `),
      ).flat(),
    );
  const folds = { labels: { fold: 16 } };

  it("is lowered once, and only where a run has more than so many times as many", () => {
    const most = 16 * MANY_TIMES;
    expect(pathsOf({ ranges: many(MANY_TIMES, 16) }, folds)).toHaveLength(most);
    // 16 / 4 labels of a family are kept however many there are.
    const four = ranges(numbered(4, "rare ")).map((range) => ({ ...range, thread: 2 }));
    expect(pathsOf({ ranges: [...many(12, 12), ...four] }, folds)).toHaveLength(12 + 4);
    expect(pathsOf({ ranges: [...four, ...many(12, 12)] }, folds)).toHaveLength(4 + 12);
  });

  it("does not depend on labels without numbers", () => {
    const plain = Array.from({ length: 200 }, (_, at) => "x".repeat(at + 1));
    expect(pathsOf({ ranges: ranges([...plain, ...numbered(16, "s ")]) }, folds)).toHaveLength(216);
  });
});

describe("where labels that differ only in numbers become one", () => {
  const folds = { labels: { fold: 2 } };
  /** `first / ...` and `last / ...`, and then what is elsewhere. */
  const inside = (names: readonly string[], later: readonly string[]) => [
    { name: "outer", start: 0, end: 1000 },
    ...names.map((name, at) => ({ name, start: 10 * at + 1, end: 10 * at + 4 })),
    ...later.map((name, at) => ({ name, start: 2000 + 10 * at, end: 2000 + 10 * at + 4 })),
  ];

  it("they stand where the first of them was, and siblings stay", () => {
    expect(pathsOf({ ranges: inside(["a", "s 1", "b", "s 2", "c"], ["s 3"]) }, folds)).toEqual([
      "outer",
      "outer / a",
      "outer / s #",
      "outer / b",
      "outer / c",
      "s #",
    ]);
  });

  it("they join a range that already has their label", () => {
    const sketch = { ranges: inside(["s 1", "s #", "s 2", "c"], ["s 3"]) };
    expect(pathsOf(sketch, folds)).toEqual(["outer", "outer / s #", "outer / c", "s #"]);
    const calls = buildRegionModel(timelineOf([sketch]), folds).scopes[0]?.regions.map(
      ({ path, invocations }) => [path.join(" / "), invocations],
    );
    expect(calls).toContainEqual(["outer / s #", 3]);
  });

  it("those of another domain with the same names stay apart", () => {
    const sketch = {
      ranges: [
        ...ranges(["s 1", "s 2"]),
        { name: "s 1", domain: "x", start: 100, end: 200 },
        ...ranges(["s 3"]).map((range) => ({ ...range, start: 300, end: 310 })),
        { name: "s 1", domain: "x", start: 400, end: 410 },
        { name: "s 2", domain: "x", start: 500, end: 510 },
        { name: "s 2", start: 600, end: 610 },
      ],
    };
    const regions = buildRegionModel(timelineOf([sketch]), folds).scopes[0]?.regions.map(
      ({ path, domain, invocations }) => [path.join(" / "), domain, invocations],
    );
    expect(regions?.filter(([name]) => name !== "(outside)")).toEqual([
      ["s #", "", 4],
      ["s 1", "x", 2],
      ["s 2", "x", 1],
    ]);
  });

  it("ranges of two kinds stay in the order in which they were opened", () => {
    const sketch = {
      ranges: [
        { name: "s 1", start: 0, end: 50, kind: "start_end" as const, thread: 2 },
        { name: "s 2", start: 100, end: 110 },
        { name: "s 3", start: 120, end: 130, kind: "start_end" as const, thread: 2 },
      ],
    };
    const kinds = buildRegionModel(timelineOf([sketch]), folds).scopes[0]?.regions.map(
      ({ kind, invocations }) => [kind, invocations],
    );
    expect(kinds?.slice(0, 2)).toEqual([
      ["start_end", 2],
      ["push_pop", 1],
    ]);
  });
});

describe("folding a tree while it grows", () => {
  it("gives what the whole tree gives, in whatever order its paths come", () => {
    fc.assert(
      fc.property(paths, (all) => {
        const root = createPathTree({ most: MOST });
        const places = all.map((path) =>
          path.reduce((node, name) => childNode(node, name, ""), root),
        );
        const grown = [...nodesDepthFirst(root)].map((node) => rangePath(node).path.join("/"));
        expect([...grown].sort()).toEqual([...folded(all)].sort());
        const known = new Set(grown);
        for (const place of places) expect(known.has(rangePath(place).path.join("/"))).toBe(true);
      }),
    );
  });
});

describe("regions that fold late", () => {
  /** Calls and times of the paths without numbers, kernels and operations included. */
  const sums = (sketches: readonly ProcessSketch[], fold: number | null) =>
    buildRegionModel(timelineOf(sketches), { labels: { fold } }).scopes.map(
      ({ scope, regions, totals }) => {
        const byPath = new Map<string, number[]>();
        for (const region of regions) {
          const path = region.path.map(withoutNumbers).join(" / ");
          const before = byPath.get(path) ?? [];
          const own = [
            region.invocations,
            region.wallNs ?? 0,
            region.exclusiveWallNs ?? 0,
            region.cpu?.ns ?? 0,
            region.cpu?.exclusiveNs ?? 0,
            region.exclusiveKernelNs ?? 0,
          ];
          byPath.set(
            path,
            own.map((value, at) => value + (before[at] ?? 0)),
          );
        }
        return { scope, totals, byPath: [...byPath].sort(([a], [b]) => (a < b ? -1 : 1)) };
      },
    );

  it("have the sums of those that they were, whatever process came before", () => {
    const process = fc.array(
      fc.record({ step: fc.nat(20), cpu: fc.nat(40), inner: fc.boolean(), kernels: fc.nat(2) }),
      { maxLength: 30 },
    );
    fc.assert(
      fc.property(fc.array(process, { minLength: 1, maxLength: 3 }), fc.nat(8), (all, fold) => {
        const sketches = all.map(
          (calls, pid): ProcessSketch => ({
            pid: pid + 1,
            ranges: calls.flatMap(({ step, cpu, inner }, at) => [
              { name: `step ${step}`, start: 100 * at, end: 100 * at + 60, cpu },
              ...(inner
                ? [{ name: `part ${step % 3}`, start: 100 * at + 10, end: 100 * at + 50, cpu: 1 }]
                : []),
            ]),
            kernels: calls.flatMap(({ kernels }, at) =>
              Array.from({ length: kernels }, () => ({ name: "k", launch: 100 * at + 20, ns: 7 })),
            ),
          }),
        );
        expect(sums(sketches, fold)).toEqual(sums(sketches, null));
      }),
    );
  });
});
