import { expect, it } from "vitest";
import { concurrentJobsNote } from "../../../src/report/view/notes.ts";

const named = (count: number) =>
  concurrentJobsNote(Array.from({ length: count }, (_, at) => `#${at}`))
    .join()
    .replace(/ ran while.*/, "");

it("names jobs as a sentence does, the first eight where there are many, and a single other one", () => {
  expect([0, 1, 2, 3].map(named)).toEqual(["", "job #0", "jobs #0 and #1", "jobs #0, #1 and #2"]);
  expect(named(9)).toMatch(/, #6, #7 and #8$/);
  expect(named(10)).toMatch(/, #6, #7 and 2 more$/);
  expect(named(1_008)).toMatch(/, #7 and 1,000 more$/);
});
