/** What a report tells of its regions: from which numbers on, and in which words. */
import { describe, expect, it } from "vitest";
import {
  childNode,
  createPathTree,
  type PathNode,
  regionAt,
  selectNodes,
} from "../../../src/profiler/analysis/path-tree.ts";
import { labelNotes, unmatchedNotes } from "../../../src/profiler/analysis/region-notes.ts";
import { aggregateOf, scopesOf } from "./models.ts";
import type { ProcessSketch, RangeSketch } from "./timelines.ts";

function treeOf(labels: readonly string[]): PathNode {
  const root = createPathTree();
  for (const label of labels) regionAt(childNode(root, label, ""), "push_pop");
  return root;
}

describe("labels that numbers tell apart", () => {
  const numbered = (count: number, families = 1) =>
    Array.from({ length: count }, (_, at) => `${"x".repeat(at % families)} ${at}`);
  const hintOf = (root: PathNode) => labelNotes(root, null);
  const note = (many: string, few: string, example: string) => [
    `${many} labels would be ${few} without the numbers in them, e.g. in '${example}': label rules unify them (labels.rules; import and report: --label-rule 'REGEX=>TEXT')`,
  ];

  it("are told of from a thousand on, if ten would be one", () => {
    expect(hintOf(treeOf(numbered(1000)))).toEqual([]);
    expect(hintOf(treeOf(numbered(1001)))).toEqual(note("1,001", "1", " 0"));
    expect(hintOf(treeOf(numbered(1010, 101)))).toEqual(note("1,010", "101", " 0"));
    expect(hintOf(treeOf(numbered(1010, 102)))).toEqual([]);
  });

  it("are most of all labels", () => {
    const words = (count: number) => Array.from({ length: count }, (_, at) => "y".repeat(at + 1));
    expect(hintOf(treeOf([...words(99), ...numbered(902)]))).toEqual(note("1,001", "100", " 0"));
    expect(hintOf(treeOf([...words(101), ...numbered(900)]))).toEqual([]);
  });

  it("have for an example one of those that are the most, cut where it is long", () => {
    const few = Array.from({ length: 100 }, (_, at) => `few ${at}`);
    const many = Array.from({ length: 1000 }, (_, at) => `many ${at} ${"z".repeat(100)}`);
    expect(hintOf(treeOf([...few, ...many]))).toEqual(
      note("1,100", "2", `many 0 ${"z".repeat(73)}`),
    );
  });

  it("are those of regions: what is outside of them has none", () => {
    const root = treeOf(numbered(1000));
    const bucket = childNode(root, "1 2", "");
    regionAt(bucket, "outside");
    expect(hintOf(root)).toEqual([]);
    // A range with the name of the bucket is one.
    regionAt(bucket, "push_pop");
    expect(hintOf(root)).toEqual(note("1,001", "2", " 0"));
    // What was only passed through is no region.
    const path = treeOf(numbered(1000));
    childNode(path, "5", "");
    expect(hintOf(path)).toEqual([]);
  });

  it("of PyTorch are unified by its rules", () => {
    for (const key of ["seq", "op_id"])
      expect(
        hintOf(treeOf(Array.from({ length: 1001 }, (_, at) => `mm, ${key} = ${at}`)))[0],
      ).toContain("labels=pytorch unifies the labels that PyTorch numbers");
  });
});

describe("labels that became one", () => {
  it("are named, six of them or five and how many more", () => {
    const noteOf = (families: number) =>
      aggregateOf(
        {
          ranges: Array.from({ length: 3 * families }, (_, at) => ({
            ...{ name: `${"abcdefgh"[at % families]} ${at}`, start: at * 10, end: at * 10 + 5 },
          })),
        },
        { labels: { fold: 2 } },
      ).notes;
    // Where very many labels have numbers, fewer of each are enough.
    const told = (names: string, most = 1) => [
      `labels that differ only in numbers are one region, with # for the numbers, where there are more than ${most} of them: ${names}; labels.fold=null keeps each as it is (import and report: --fold none)`,
    ];
    const [one = ""] = noteOf(1).filter((note) => note.startsWith("labels that"));
    expect([one]).toEqual(told("'a #'", 2));
    expect(noteOf(6)).toEqual(
      expect.arrayContaining(told("'a #', 'b #', 'c #', 'd #', 'e #', 'f #'")),
    );
    expect(noteOf(7)).toEqual(
      expect.arrayContaining(told("'a #', 'b #', 'c #', 'd #', 'e #' and 2 more")),
    );
  });
});

describe("a pattern without a match", () => {
  const notesFor = (root: PathNode, include: string[], exclude: string[] = []) =>
    unmatchedNotes(root, { include, exclude }, selectNodes(root, { include, exclude }));

  it("names twenty labels at most, each once and cut where it is long", () => {
    const labels = Array.from({ length: 21 }, (_, at) => `l${at}`);
    const root = treeOf(labels);
    childNode(childNode(root, "l3", ""), "l4", "");
    expect(notesFor(root, ["zzz"])).toEqual([
      `include: 'zzz' matches no region; available: ${labels.join(", ")}`,
    ]);
    childNode(childNode(root, "l3", ""), "more", "");
    childNode(root, "other", "");
    expect(notesFor(root, ["zzz"])[0]).toMatch(/, l18 and 3 more$/);
    const long = (count: number) => notesFor(treeOf(["x".repeat(count)]), ["zzz"])[0];
    expect(long(80)).toContain(`available: ${"x".repeat(80)}`);
    expect(long(81)).toMatch(/available: x{79}…$/);
  });

  it("is of no interest without patterns or labels", () => {
    expect(notesFor(treeOf(["a"]), [])).toEqual([]);
    expect(notesFor(treeOf([]), ["a"])).toEqual([]);
  });

  it("is offered the label without its domain where that is nearer", () => {
    const root = createPathTree();
    childNode(root, "decode", "LLM");
    expect(notesFor(root, ["LLM@decod"])[0]).toContain("(nearest: LLM@decode)");
    expect(notesFor(root, ["decod*e"])).toEqual([]);
    expect(notesFor(root, ["*decod"])[0]).toContain("(nearest: decode)");
  });

  it("with all paths of a domain is told the label as a pattern of it", () => {
    const root = createPathTree();
    childNode(childNode(root, "step", ""), "load@x", "io");
    expect(notesFor(root, ["step / load@x"])).toEqual([
      "include: 'step / load@x' matches no region (patterns match labels, and this is a path: its label is io@load\\@x); available: step, io@load\\@x",
    ]);
  });
});

describe("notes of processes", () => {
  const range = { name: "a", start: 0, end: 10 };
  const many = (count: number, note: (pid: number) => string): ProcessSketch[] =>
    Array.from({ length: count }, (_, at) => ({
      pid: at + 1,
      ranges: [range],
      notes: [note(at + 1)],
    }));
  const notesOf = (processes: readonly ProcessSketch[]) =>
    scopesOf(processes).get("aggregate")?.notes.slice(0, -1);

  it("are one from the ninth process on that has the same", () => {
    const said = (pid: number) => `process ${pid}: 2 events were lost`;
    expect(notesOf(many(8, said))).toEqual([1, 2, 3, 4, 5, 6, 7, 8].map(said));
    expect(notesOf(many(9, said))).toEqual(["process 1 and 8 others: 2 events were lost"]);
  });

  it("of ends are one from the second process on", () => {
    for (const what of [
      "ended without finishing",
      "1 range was never closed (a)",
      "12 ranges were never closed (a)",
      "the process ended inside a",
    ])
      expect(notesOf(many(2, (pid) => `process ${pid}: ${what}`))).toEqual([
        `process 1 and 1 other: ${what}`,
      ]);
  });

  it("that name another process, or none, stay as they are", () => {
    const notes = many(2, () => "process 7: it ended without finishing");
    expect(notesOf(notes)).toEqual(["process 7: it ended without finishing"]);
    expect(notesOf(many(2, () => "of process 1: lost"))).toEqual(["of process 1: lost"]);
  });

  it("are sixty-four at most", () => {
    const said = (pid: number) => `process ${pid}: ${pid} events were lost`;
    expect(notesOf(many(64, said))).toEqual(Array.from({ length: 64 }, (_, at) => said(at + 1)));
    expect(notesOf(many(65, said))?.slice(-2)).toEqual([
      said(64),
      "1 more note in the reports of the processes",
    ]);
  });

  it("count what overlaps, is too deep or is no operation, in the singular and in the plural", () => {
    const notes = (ranges: readonly RangeSketch[], kernels: ProcessSketch["kernels"] = []) =>
      aggregateOf({ ranges, kernels }).notes;
    const pair = (name: string, start: number) => [
      { name, start, end: start + 10 },
      { name: `${name}x`, start: start + 5, end: start + 20 },
    ];
    expect(notes([...pair("a", 0), ...pair("b", 30)])).toContain(
      "process 100: 2 ranges closed before ranges that were opened later: such ranges overlap, and stand beside each other",
    );
    const deep = Array.from({ length: 257 }, (_, at) => ({ name: "f", start: at, end: 900 - at }));
    expect(notes(deep)).toContain(
      "process 100: 1 range nested deeper than 256 levels counts as part of the enclosing range",
    );
    const operation = { name: "op", start: 0, end: 5, domain: "shallow_resnet.ops" };
    expect(
      notes([operation, { ...operation, start: 6, end: 9 }], [{ name: "k", launch: 1, ns: 1 }]),
    ).toContain("process 100: 2 CPU operations are not counted because GPU kernels were recorded");
  });

  it("say inside what a process ended, if that is one of several open ranges", () => {
    const endedIn = (finished: boolean, ...names: readonly string[]) =>
      aggregateOf({
        finished,
        ranges: names.map((name, start) => ({ name, start, end: null })),
      }).notes.filter((note) => note.includes("ended inside"));
    expect(endedIn(false, "a", "b")).toEqual(["process 100: the process ended inside a / b"]);
    expect(endedIn(true, "a", "b")).toEqual([]);
    expect(endedIn(false, "a")).toEqual([]);
    const long = "x".repeat(80);
    expect(endedIn(false, "a", long)).toEqual([
      `process 100: the process ended inside a / ${"x".repeat(75)}…`,
    ]);
  });
});
