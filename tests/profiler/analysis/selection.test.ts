import { describe, expect, it } from "vitest";
import { aggregateOf, tree } from "./models.ts";
import { type ProcessSketch, twoLibraries } from "./timelines.ts";

describe("selection", () => {
  const sketch: ProcessSketch = {
    ranges: [
      { name: "forward", start: 0, end: 100 },
      { name: "decode0", start: 10, end: 50, domain: "LLM" },
      { name: "mlp", start: 20, end: 30 },
      { name: "other", start: 60, end: 70 },
    ],
    kernels: [
      { name: "k", launch: 25, ns: 100 },
      { name: "k", launch: 65, ns: 11 },
    ],
  };
  const shown = (include: string[], exclude: string[] = []) =>
    tree(aggregateOf(sketch, { selection: { include, exclude } }).regions);

  it("brings what is inside a match, with the whole path, and not what is around it", () => {
    expect(shown(["decode*"])).toEqual(["forward/decode0", "forward/decode0/mlp"]);
    expect(shown(["LLM@*"])).toEqual(["forward/decode0", "forward/decode0/mlp"]);
    expect(shown(["mlp", "other"])).toEqual(["forward/decode0/mlp", "forward/other"]);
    expect(shown(["*"])).toHaveLength(4);
  });

  it("takes a domain at its word: ranges of the same name in another one do not match", () => {
    const regions = (include: string[], exclude: string[] = []) =>
      aggregateOf(twoLibraries, { selection: { include, exclude } }).regions.map(
        ({ path, domain, wallNs }) => [path.join("/"), domain, wallNs],
      );
    const ofA = [
      ["step", "A", 10_000_000],
      ["step/load", "io", 3_000_000],
    ];
    expect(regions(["A@step"])).toEqual(ofA);
    expect(regions([], ["B@*"])).toEqual(ofA);
  });

  it("excludes a match and what is inside it", () => {
    expect(shown([], ["decode*"])).toEqual(["forward", "forward/other"]);
    expect(shown(["decode*"], ["mlp"])).toEqual(["forward/decode0"]);
  });

  it("never changes numbers, and says what it left out", () => {
    const all = aggregateOf(sketch);
    const some = aggregateOf(sketch, { selection: { include: ["decode*"], exclude: ["mlp"] } });
    expect(some.totals).toEqual(all.totals);
    expect(some.regions[0]).toEqual(all.regions.find(({ path }) => path.at(-1) === "decode0"));
    expect(some.notes.join()).toContain("leaves out 3 of 4 regions");
  });

  it("that matches nothing gives a report with a note", () => {
    const scope = aggregateOf(sketch, { selection: { include: ["nope"], exclude: [] } });
    expect(scope.regions).toEqual([]);
    expect(scope.notes).toContain("no matching regions");
  });

  const notesFor = (include: string[], exclude: string[] = [], of: ProcessSketch = sketch) =>
    aggregateOf(of, { selection: { include, exclude } }).notes.filter((note) =>
      note.includes("matches no region"),
    );

  it("names each pattern that fits nothing, the nearest label, and the labels that there are", () => {
    const there = "available: forward, LLM@decode0, mlp, other";
    expect(notesFor(["mlp", "fowrard"], ["zzz"])).toEqual([
      `include: 'fowrard' matches no region (nearest: forward); ${there}`,
      `exclude: 'zzz' matches no region; ${there}`,
    ]);
    expect(notesFor(["decod0"])).toEqual([
      `include: 'decod0' matches no region (nearest: decode0); ${there}`,
    ]);
    expect(notesFor(["*", "decode?", "LLM@*"], ["mlp"])).toEqual([]);
  });

  it("says of an included pattern that the excluded ones take all that it fits", () => {
    const notesOf = (include: string[], exclude: string[]) =>
      aggregateOf(sketch, { selection: { include, exclude } }).notes.filter((note) =>
        note.startsWith("include: "),
      );
    expect(notesOf(["mlp", "decode0"], ["mlp", "zzz"])).toEqual([
      "include: 'mlp' matches only regions that exclude leaves out (mlp, zzz)",
    ]);
    // What is inside an excluded region is excluded, too.
    expect(notesOf(["*"], ["*"])).toHaveLength(1);
    expect(notesOf(["*"], ["mlp"])).toEqual([]);
  });

  it("says of a path that patterns are of labels, and which label it is", () => {
    const path = (text: string, label: string) =>
      `include: '${text}' matches no region (patterns match labels, and this is a path: its label is ${label}); available: forward, LLM@decode0, mlp, other`;
    const places = aggregateOf(sketch, {}).regions.map((region) => region.path.join(" / "));
    const [inside] = places.filter((place) => place.endsWith(" / mlp"));
    expect(notesFor([inside ?? ""])).toEqual([path(inside ?? "", "mlp")]);
    expect(notesFor(["* / m?p"])).toEqual([path("* / m?p", "mlp")]);
    expect(notesFor(["nothing / mlp"])[0]).not.toContain("path");
  });

  it("offers labels as patterns that fit them, and not too many", () => {
    const ranges = [
      "50*",
      "user@host",
      "x".repeat(100),
      ...Array.from({ length: 20 }, (_, i) => `r${i}`),
    ];
    const of = {
      ranges: ranges.map((name, index) => ({ name, start: index * 10, end: index * 10 + 5 })),
    };
    const [note = ""] = notesFor(["500"], [], of);
    expect(note).toContain(`available: 50\\*, user\\@host, ${"x".repeat(79)}…, r0, `);
    expect(note).toMatch(/, r16 and 3 more$/);
    expect(notesFor(["50\\*", "user\\@host"], [], of)).toEqual([]);
  });

  it("shows a range without a name as tables do, and never as the nearest", () => {
    const nameless = { name: "", start: 0, end: 5 };
    const of = { ranges: [nameless, { ...nameless, start: 10, end: 15, domain: "D" }] };
    expect(notesFor(["x"], [], of)).toEqual([
      "include: 'x' matches no region; available: (no name), D@(no name)",
    ]);
  });

  it("is silent about patterns where the program opened no ranges", () => {
    expect(notesFor(["zzz"], [], { ranges: [] })).toEqual([]);
  });
});
