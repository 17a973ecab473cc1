import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { randomSource, searchSpace } from "../../../../src/app/sweep/sweepers/search-space.ts";
import {
  parseOverride,
  parseOverrides,
  sweepStrings,
} from "../../../../src/engine/overrides/index.ts";
import { isConfigError } from "../../../../src/engine/values/errors.ts";
import { runs } from "../../../runs.ts";

const GROUPS = { groupOptions: () => ["a", "b"] };

/** The values that `x` gets in so many draws. */
function drawn(sweep: string, count = 2000, seed = "1"): readonly string[] {
  const space = searchSpace(parseOverrides([`x=${sweep}`]), GROUPS);
  const random = randomSource(seed);
  return Array.from({ length: count }, () => space.draw(random).params[0]?.slice(2) ?? "");
}

const shareBelow = (values: readonly string[], bound: number): number =>
  values.filter((value) => Number(value) < bound).length / values.length;

describe("the source of random numbers", () => {
  test("is the same for the same seed, another for another", () => {
    const take = (seed: string) => Array.from({ length: 5 }, randomSource(seed));
    expect(take("7")).toEqual(take("7"));
    expect(take("7")).not.toEqual(take("8"));
  });

  test("fills [0, 1) evenly", () => {
    const random = randomSource("x");
    const counts = new Array<number>(10).fill(0);
    for (let index = 0; index < 20_000; index++) {
      const value = random();
      expect(value >= 0 && value < 1).toBe(true);
      const slot = Math.floor(value * 10);
      counts[slot] = (counts[slot] ?? 0) + 1;
    }
    for (const count of counts) expect(Math.abs(count - 2000)).toBeLessThan(250);
  });
});

describe("a search space", () => {
  test("a float interval: uniform, its end never reached", () => {
    fc.assert(
      fc.property(
        fc.double({ min: -1e6, max: 1e6, noNaN: true }),
        fc.double({ min: 1e-6, max: 1e6, noNaN: true }),
        fc.boolean(),
        fc.nat(),
        (low, width, isLog, seed) => {
          const [start, end] = isLog
            ? [Math.abs(low) + 1e-3, Math.abs(low) + width + 1]
            : [low, low + width];
          fc.pre(start < end);
          const sweep = isLog ? `tag(log,interval(${start},${end}))` : `interval(${start},${end})`;
          for (const text of drawn(sweep, 20, String(seed)))
            expect(Number(text) >= start && Number(text) < end).toBe(true);
        },
      ),
      { numRuns: runs(200) },
    );
    expect(shareBelow(drawn("interval(0,1)"), 0.5)).toBeCloseTo(0.5, 1);
  });

  test("tag(log, …) is uniform over the decades", () => {
    const floats = drawn("tag(log,interval(1e-5,1e-1))");
    for (const [bound, share] of [
      [1e-4, 0.25],
      [1e-3, 0.5],
      [1e-2, 0.75],
    ] as const)
      expect(Math.abs(shareBelow(floats, bound) - share)).toBeLessThan(0.04);
    const ints = drawn("tag(log,int(interval(1,1000)))");
    expect(Math.abs(shareBelow(ints, 32) - 0.54)).toBeLessThan(0.06);
    expect(ints.every((text) => /^\d+$/.test(text))).toBe(true);
    const range = drawn("tag(log,range(1,1001))");
    expect(Math.abs(shareBelow(range, 32) - 0.5)).toBeLessThan(0.06);
  });

  test("an interval of ints has both ends; a range has no stop", () => {
    expect([...new Set(drawn("int(interval(1,4))"))].sort()).toEqual(["1", "2", "3", "4"]);
    expect([...new Set(drawn("range(1,4)"))].sort()).toEqual(["1", "2", "3"]);
    expect([...new Set(drawn("range(4,0,-2)"))].sort()).toEqual(["2", "4"]);
    expect([...new Set(drawn("range(0,1,0.25)"))].sort()).toEqual(["0.0", "0.25", "0.5", "0.75"]);
    expect(drawn("range(0,1000000000000)", 5)).toHaveLength(5);
  });

  test("int ranges are drawn from among their values", () => {
    const int = fc.integer({ min: -50, max: 50 });
    fc.assert(
      fc.property(int, int, int, (start, stop, step) => {
        fc.pre(step !== 0 && (stop - start) / step > 0);
        const all = new Set<string>();
        for (let value = start; step > 0 ? value < stop : value > stop; value += step)
          all.add(String(value));
        const seen = new Set(drawn(`range(${start},${stop},${step})`, 40));
        expect([...seen].filter((value) => !all.has(value))).toEqual([]);
        if (all.size <= 3) expect(seen.size).toBe(all.size);
      }),
      { numRuns: runs(100) },
    );
  });

  test("choices, globs and zips over their values; fixed overrides are no parameters", () => {
    const space = searchSpace(
      parseOverrides(["f=1", "c=a,b", "p=zip(u=choice(1,2),v=choice(x,y))", "g=glob(*)"]),
      GROUPS,
    );
    const random = randomSource("1");
    const seen = new Set(Array.from({ length: 300 }, () => space.draw(random).overrides.join(" ")));
    expect(seen.size).toBe(8);
    expect(seen).toContain("f=1 c=a u=1 v=x g=b");
    expect(space.draw(random).params).toHaveLength(4);
  });

  test("values may be more than the jobs of any sweep, or than could be enumerated", () => {
    expect(Number(drawn("tag(log,range(1,1000010))", 1)[0])).toBeLessThan(1_000_010);
    const [fraction = ""] = drawn("range(0,1,1e-12)", 1);
    expect(Number(fraction) * 1e12).toBeCloseTo(Math.round(Number(fraction) * 1e12), 3);
    expect(shareBelow(drawn("tag(log,range(1e-6,1,1e-12))"), 1e-3)).toBeCloseTo(0.5, 1);
  });

  test("draws from a range what it drew where all of its values were written out", () => {
    for (const range of ["range(0.1,2.3,0.1)", "range(3,-1,-0.7)", "range(1,40,3)"]) {
      const written = [...sweepStrings(parseOverride(`x=${range}`))].join();
      expect(drawn(range, 50)).toEqual(drawn(`choice(${written})`, 50));
    }
  });

  test("a logarithm's nearest value is the first of those that are equally near", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 50 }),
        fc.integer({ min: 1, max: 9 }),
        fc.boolean(),
        (first, step, isDown) => {
          const [start, stop, by] = isDown
            ? [first + 40 * step, first, -step]
            : [first, first + 40 * step, step];
          const values = [...sweepStrings(parseOverride(`x=range(${start},${stop},${by})`))];
          const logs = values.map((text) => Math.log(Number(text)));
          const [low, high] = [Math.min(...logs), Math.max(...logs)];
          const random = randomSource("1");
          const nearest = Array.from({ length: 20 }, () => {
            const wished = low + random() * (high - low);
            const distances = logs.map((log) => Math.abs(log - wished));
            return values[distances.indexOf(Math.min(...distances))];
          });
          expect(drawn(`tag(log,range(${start},${stop},${by}))`, 20)).toEqual(nearest);
        },
      ),
      { numRuns: runs(50) },
    );
  });

  test.each([
    ["interval(1,1)", "ends before it starts"],
    ["int(interval(2,1))", "ends before it starts"],
    ["tag(log,interval(0,1))", "but has values that are not above 0"],
    ["tag(log,range(0,5))", "but has values that are not above 0"],
    ["interval(0,inf)", "not finite"],
    ["range(0,inf)", "never ends"],
    ["range(0)", "no values"],
    ["range(0,1e20,1.5)", "has more than 10,000,000 values"],
    ["tag(log,range(1,1e18))", "has more than 10,000,000 values"],
  ])("%s cannot be drawn from", (sweep, problem) => {
    try {
      drawn(sweep, 1);
      expect.unreachable();
    } catch (error) {
      expect(isConfigError(error) && error.message).toContain(problem);
    }
  });

  test("what is excluded is drawn again; where nothing is left that is an error", () => {
    const all = parseOverrides(["x=1,2"]);
    const random = randomSource("1");
    const some = searchSpace(all, GROUPS, { isExcluded: (job) => job.includes("x=1") });
    expect(some.draw(random).params).toEqual(["x=2"]);
    const none = searchSpace(all, GROUPS, { isExcluded: () => true });
    expect(() => none.draw(random)).toThrow("left none");
  });
});

describe("the shares of a dimension", () => {
  const number = (min: number, max: number) => fc.integer({ min, max });
  const counted = fc.oneof(
    fc
      .tuple(number(-20, 20), number(0, 30))
      .map(([from, more]) => `int(interval(${from},${from + more}))`),
    fc
      .tuple(number(1, 20), number(0, 300))
      .map(([from, more]) => `tag(log,int(interval(${from},${from + more})))`),
    fc
      .tuple(number(-20, 20), number(1, 9), number(1, 30))
      .map(([from, step, count]) => `range(${from},${from + step * count},${step})`),
    fc
      .tuple(number(1, 20), number(1, 9), number(2, 30), fc.boolean())
      .map(([from, step, count, isDescending]) =>
        isDescending
          ? `tag(log,range(${from + step * count},${from},-${step}))`
          : `tag(log,range(${from},${from + step * count},${step}))`,
      ),
    fc
      .tuple(number(2, 9))
      .map(([count]) => `choice(${Array.from({ length: count }, (_, index) => `v${index}`)})`),
  );
  // So near to the end, a float would be rounded to it.
  const share = fc.double({ min: 0, max: 1 - 1e-12, noNaN: true });
  const dimensionOf = (sweep: string) => {
    const [dimension] = searchSpace(parseOverrides([`x=${sweep}`]), {}).dimensions;
    if (dimension === undefined) throw new Error("no dimension");
    return dimension;
  };

  test.each([
    ["interval(1,2)", "x=1.9999999999999998"],
    ["interval(-2,-1)", "x=-1.0000000000000002"],
    ["interval(-1,0)", "x=-5e-324"],
    ["tag(log,interval(1,2))", "x=1.9999999999999998"],
  ])("nearest to 1 stand for the end of %s, which is excluded", (sweep, point) => {
    const below = Number(point.slice(2));
    const [drawn = ""] = dimensionOf(sweep).pointAt(1 - 2 ** -53);
    expect(Number(drawn.slice(2))).toBeLessThanOrEqual(below);
    expect(Number(drawn.slice(2))).toBeGreaterThan(below - 1e-15);
    expect(dimensionOf(sweep).pointAt(1)).toEqual([point]);
  });

  test("that stand for a value are those of its bin, and no others", () => {
    fc.assert(
      fc.property(counted, share, (sweep, drawn) => {
        const { binOf, pointAt, shareOf } = dimensionOf(sweep);
        const [from, to] = binOf(drawn);
        const point = pointAt(drawn);
        const near = 1e-9;
        expect(from).toBeLessThanOrEqual(drawn + near);
        expect(to).toBeGreaterThanOrEqual(drawn - near);
        if (to - from <= 4 * near) return;
        for (const inside of [from + near, (from + to) / 2, to - near])
          expect(pointAt(inside)).toEqual(point);
        if (from > near) expect(pointAt(from - near)).not.toEqual(point);
        if (to < 1 - near) expect(pointAt(to + near)).not.toEqual(point);
        const back = shareOf(point) ?? Number.NaN;
        expect(pointAt(back)).toEqual(point);
        expect(binOf(back)).toEqual([from, to]);
      }),
      { numRuns: runs(300) },
    );
  });

  test("are of as many values as it counts, whose bins fill the space", () => {
    fc.assert(
      fc.property(counted, (sweep) => {
        const { binOf, count, pointAt } = dimensionOf(sweep);
        const points: string[] = [];
        let end = 0;
        while (end < 1 - 1e-9) {
          const [from, to] = binOf(end + 1e-9);
          expect(from).toBeCloseTo(end, 8);
          expect(to).toBeGreaterThan(end);
          points.push(pointAt((from + to) / 2).join());
          end = to;
        }
        expect(end).toBeCloseTo(1, 8);
        expect(new Set(points).size).toBe(points.length);
        expect(points).toHaveLength(count);
      }),
      { numRuns: runs(100) },
    );
  });

  test("of floats are each of a number of its own, which is found again", () => {
    fc.assert(
      fc.property(
        fc.boolean(),
        number(1, 50),
        number(1, 50),
        share,
        (isLog, start, more, drawn) => {
          const interval = `interval(${start}.5,${start + more}.5)`;
          const { binOf, pointAt, shareOf } = dimensionOf(
            isLog ? `tag(log,${interval})` : interval,
          );
          expect(binOf(drawn)).toEqual([drawn, drawn]);
          const value = Number(pointAt(drawn)[0]?.slice(2));
          const [low, high] = [start + 0.5, start + more + 0.5];
          expect(value).toBeCloseTo(
            isLog ? low * (high / low) ** drawn : low + (high - low) * drawn,
            9,
          );
          expect(shareOf([`x=${value}`])).toBeCloseTo(drawn, 9);
          expect([low - 0.01, high].map((outside) => shareOf([`x=${outside}`]))).toEqual([
            undefined,
            undefined,
          ]);
          expect(shareOf([`x=${low}`])).toBe(0);
        },
      ),
      { numRuns: runs(200) },
    );
  });
});

describe("the point of a job's overrides", () => {
  const SWEEPS = [
    ...["interval(0,1)", "interval(-2.5,7)", "tag(log,interval(1e-5,10))", "int(interval(2,8))"],
    ...[
      "tag(log,int(interval(1,1000)))",
      "range(1,9,2)",
      "tag(log,range(1,100))",
      "range(0,1,0.1)",
    ],
    ...["range(9,1,-2)", "a,b", "choice(1,0.5,high)", "glob(*)", "logrange(1e-4,1e-1,4)"],
  ];

  test("stands for the values that it was drawn with", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...SWEEPS),
        fc.constantFrom(...SWEEPS),
        fc.nat(),
        (x, y, seed) => {
          const space = searchSpace(parseOverrides([`x=${x}`, "z=3", `+y=${y}`]), GROUPS);
          const drawn = space.draw(randomSource(String(seed)));
          const found = space.pointOf(drawn.overrides);
          expect(found).toMatchObject({ overrides: drawn.overrides, params: drawn.params });
          for (const [at, { binOf, count }] of space.dimensions.entries()) {
            const [share, wanted] = [found?.shares[at] ?? -1, drawn.shares[at] ?? -1];
            // Digits of a float are rounded.
            if (count === Number.POSITIVE_INFINITY) expect(share).toBeCloseTo(wanted, 9);
            else expect(binOf(share)).toEqual(binOf(wanted));
          }
        },
      ),
    );
  });

  test.each([
    [
      ["x=interval(0,1)", "y=a,b"],
      ["x=1.5", "y=a"],
    ],
    [
      ["x=interval(0,1)", "y=a,b"],
      ["x=1.0", "y=a"],
    ],
    [
      ["x=interval(0,1)", "y=a,b"],
      ["x=0.5", "y=c"],
    ],
    [["x=interval(0,1)", "y=a,b"], ["x=0.5"]],
    [["x=interval(0,1)"], ["x=0.5", "y=c"]],
    [["x=interval(0,1)"], ["x=high"]],
    [["x=int(interval(0,9))"], ["x=0.5"]],
    [["x=range(0,9,2)"], ["x=3"]],
    [
      ["x=a,b", "z=3"],
      ["x=a", "z=4"],
    ],
    [["p=zip(x=choice(1,2),y=choice(a,b))"], ["x=1", "y=b"]],
  ])("%j does not have %j", (overrides, job) => {
    expect(searchSpace(parseOverrides(overrides), GROUPS).pointOf(job)).toBeUndefined();
  });

  test("has the keys whose conditions hold, and no others", () => {
    const conditions = new Map([["x", (job: readonly string[]) => job.includes("m=a")]]);
    const overrides = parseOverrides(["m=a,b", "x=interval(0,1)"]);
    const { pointOf } = searchSpace(overrides, GROUPS, { conditions });
    expect(pointOf(["m=a", "x=0.5"])?.shares).toEqual([0.25, 0.5]);
    expect(pointOf(["m=b"])?.shares).toEqual([0.75, null]);
    expect(pointOf(["m=b", "x=0.5"])).toBeUndefined();
    expect(pointOf(["m=a"])).toBeUndefined();
  });

  test("of a zip is one of its rows", () => {
    const { pointOf } = searchSpace(parseOverrides(["p=zip(x=choice(1,2),y=choice(a,b))"]), GROUPS);
    expect(pointOf(["x=2", "y=b"])?.shares).toEqual([0.75]);
  });
});
