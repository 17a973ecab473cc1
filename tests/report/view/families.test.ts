import { describe, expect, it } from "vitest";
import type { RegionReportBundle } from "../../../src/report/model/document.ts";
import { renderRegionTable } from "../../../src/report/render/terminal.ts";
import { createReportValidator } from "../../../src/report/validation/validate.ts";
import { answerOf } from "../../../src/report/view/answer.ts";
import { bundleOf, firstReport } from "../bundles.ts";

const MS = 1_000_000;

/** Ranges one after the other on one thread. */
function inARow(ranges: readonly (readonly [name: string, ms: number])[]) {
  let at = 0;
  return ranges.map(([name, ms]) => {
    const start = at;
    at += ms * MS;
    return { name, start, end: at };
  });
}
const bundle = (
  ranges: readonly (readonly [name: string, ms: number])[],
  fold: number | null = 128,
) => bundleOf([{ pid: 1, ranges: inARow(ranges) }], { labels: { fold } });
const many = (count: number, name: string, ms: number) =>
  Array.from({ length: count }, (_, at) => [`${name} ${at}`, ms] as const);
const headline = (some: RegionReportBundle) => answerOf(some)?.headline;

describe("the answer about families", () => {
  it("does not depend on how many labels there are, nor on which fold", () => {
    for (const [count, share] of [
      [2, "23.1"],
      [100, "93.8"],
    ] as const)
      expect(answerOf(bundle([...many(count, "step", 3), ["save", 20]]))?.byWall).toContainEqual(
        expect.objectContaining({
          label: "step #",
          ms: count * 3,
          share: expect.closeTo(Number(share), 1),
        }),
      );
    for (const count of [128, 129])
      for (const fold of [1, 128, null])
        expect(headline(bundle([...many(count, "iter", 3), ["save", 20]], fold))).toMatch(
          new RegExp(`^Most time is in iter #: 95\\.\\d % of the run \\(${count * 3}\\.00 ms\\)`),
        );
  });

  it("names the member that stands out, and none that does not", () => {
    const slow = bundle([...many(49, "call", 1), ["call 49", 49], ["save", 3]]);
    expect(headline(slow)).toBe(
      "Most time is in call #: 97.0 % of the run (98.00 ms), one of its calls took 49.0 times the median. Of that, call 49 alone takes 49.00 ms of 98.00 ms.",
    );
    expect(headline(bundle([...many(49, "call", 1), ["call 49", 40]]))).not.toContain("alone");
    expect(
      headline(
        bundle([
          ["call 0", 10],
          ["call 1", 25],
        ]),
      ),
    ).not.toContain("alone");
    expect(
      headline(
        bundle([
          ["call 0", 10],
          ["call 1", 30],
        ]),
      ),
    ).toContain("call 1 alone");
  });

  it("calls a region by its label if it is the only one of its family", () => {
    expect(
      headline(
        bundle([
          ["step 3", 9],
          ["save", 1],
        ]),
      ),
    ).toMatch(/^Most time is in step 3: 90\.0 %/);
  });

  it("is valid, also if the family is not what the path says", () => {
    const some = bundle(many(3, "step", 1));
    const validator = createReportValidator();
    expect(validator.validate(some)).toEqual([]);
    const changed = (family: readonly string[]) => ({
      ...some,
      reports: some.reports.map((report) => ({
        ...report,
        regions: report.regions.map((region) => ({ ...region, family })),
      })),
    });
    expect(validator.validate(changed(["step 1"]))[0]).toMatchObject({
      pointer: "/reports/0/regions/0/family",
    });
  });

  it("has families in a table of the longest where there is no room for each region", () => {
    const report = firstReport(bundle([...many(100, "step", 3), ["save", 20]]));
    expect(
      renderRegionTable(report, { maxRows: 60, sort: "exclusive" }).split("\n").slice(1, 3),
    ).toEqual([expect.stringMatching(/^step # +100 /), expect.stringMatching(/^save /)]);
    expect(renderRegionTable(report, { sort: "exclusive" })).toContain("step 99");
  });
});

describe("where time is spread", () => {
  const names = Array.from("abcdefghijklmnopqrst");
  const spread = () => {
    const parts = inARow(names.map((name) => [`part_${name}`, name === "a" ? 6 : 5]));
    const end = parts.at(-1)?.end ?? 0;
    return bundleOf([{ pid: 1, ranges: [{ name: "epoch", start: 0, end: end + MS }, ...parts] }]);
  };

  it("says so, and names the heaviest subtree and what is longest in it", () => {
    expect(headline(spread())).toBe(
      "The time is spread over 21 regions: none takes more than 5.9 % of the run (6.00 ms) of its own. The heaviest subtree is epoch: 100.0 % of the run (102.00 ms); longest inside it: part_a 5.9 %, part_b 4.9 %, part_c 4.9 %.",
    );
  });

  it("says most of more than half, and largest of a fifth that is twice the next", () => {
    expect(
      headline(
        bundle([
          ["a", 51],
          ["b", 49],
        ]),
      ),
    ).toMatch(/^Most time is in a: 51\.0 %/);
    expect(
      headline(
        bundle([
          ["a", 40],
          ["b", 20],
          ["c", 20],
          ["d", 20],
        ]),
      ),
    ).toMatch(/^The largest part of the time is in a: 40\.0 %/);
    expect(
      headline(
        bundle([
          ["a", 40],
          ["b", 30],
          ["c", 30],
        ]),
      ),
    ).toMatch(/^The time is spread over 3 regions/);
  });

  it("says how many threads were busy instead of more than the whole", () => {
    const threads = [1, 2, 3, 4].map((thread) => ({
      ...{ name: "work", thread, start: 0, end: thread === 4 ? 40 * MS : 100 * MS },
    }));
    const some = bundleOf([{ pid: 1, ranges: threads }]);
    expect(headline(some)).toBe("Most time is in work: 3.4 threads on average (340.00 ms).");
    expect(answerOf(some)?.byWall[0]).toMatchObject({
      share: null,
      atOnce: { average: expect.closeTo(3.4, 9), what: "threads" },
    });
  });
});
