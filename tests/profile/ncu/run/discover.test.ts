import { describe, expect, it } from "vitest";
import { noMatchNote, unmatchedNotes } from "../../../../src/profile/ncu/run/discover.ts";
import { labelsOf } from "../../../../src/profile/ncu/run/labels.ts";
import { timelineOf } from "../../regions/timelines.ts";

const discovered = labelsOf(
  timelineOf([
    {
      ranges: [
        { name: "A", start: 0, end: 10 },
        { name: "B", start: 20, end: 30, domain: "D" },
        { name: "x;y", start: 40, end: 50 },
      ],
    },
  ]),
  [],
);

describe("what is said of patterns that match nothing", () => {
  it("names the labels there are, and the list that joined labels were meant as", () => {
    expect(noMatchNote({ include: ["nope"] }, discovered)).toBe(
      "nvtx.include (nope) matches none of the program's regions, so ncu was not started; there are: A, D@B, x;y",
    );
    expect(noMatchNote({ include: ["A;B"] }, discovered)).toContain(
      "so ncu was not started (several regions are a list: [A,B]); there are",
    );
  });

  it("is a note for each of them beside others that match", () => {
    expect(unmatchedNotes({ include: ["A", "A;B", "nope*", "x;y"] }, discovered)).toEqual([
      "nvtx.include: 'A;B' matches none of the program's regions (several regions are a list: [A,B]); there are: A, D@B, x;y",
      "nvtx.include: 'nope*' matches none of the program's regions; there are: A, D@B, x;y",
    ]);
    expect(unmatchedNotes({ include: ["*"] }, discovered)).toEqual([]);
  });
});
