import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { runCompare } from "../../../src/profiler/cli/subcommand-lines.ts";
import { compareReports } from "../../../src/report/compare/compare-reports.ts";
import { comparisonJsonPieces } from "../../../src/report/compare/comparison.ts";
import { comparisonMarkdownPieces } from "../../../src/report/compare/comparison-markdown.ts";
import { renderBundleJson } from "../../../src/report/render/json.ts";
import { bundleOf, firstReport } from "../../report/bundles.ts";
import { joined } from "../../report/joined.ts";

const directory = mkdtempSync(join(tmpdir(), "hydraconf-compare-"));
afterAll(() => rmSync(directory, { recursive: true }));

it.each([
  ["--json", comparisonJsonPieces, 2130_000],
  ["--markdown", comparisonMarkdownPieces, 130_000],
] as const)(
  "compare %s prints a large comparison in pieces: one string could not hold the largest",
  async (form, render, least) => {
    const ranges = Array.from({ length: 2500 }, (_, at) => ({
      name: `layer ${[...String(at)].map((digit) => "abcdefghij"[Number(digit)]).join("")}`,
      start: at * 10,
      end: at * 10 + 9,
    }));
    const bundle = bundleOf([{ pid: 1, ranges }]);
    for (const name of ["a.json", "b.json"])
      writeFileSync(join(directory, name), renderBundleJson(bundle));
    const printed: string[] = [];
    const code = await runCompare(["a.json", "b.json", form], {
      cwd: directory,
      env: {},
      now: new Date(0),
      console: { stdout: (text) => printed.push(text), stderr: (text) => expect(text).toBe("") },
    });
    expect(code).toBe(0);
    const reports = compareReports(firstReport(bundle), firstReport(bundle));
    const whole = joined(
      render({
        names: { a: "a.json", b: "b.json" },
        reports,
        config: null,
        gates: [],
      }),
    );
    expect(printed.join("")).toBe(whole);
    expect(whole.length).toBeGreaterThan(least);
    expect(Math.max(...printed.map(({ length }) => length))).toBeLessThan(whole.length / 2);
  },
);

/** What `compare` prints. */
async function shown(...args: readonly string[]): Promise<string> {
  const printed: string[] = [];
  await runCompare(args, {
    cwd: directory,
    env: {},
    now: new Date(0),
    console: { stdout: (text) => printed.push(text), stderr: (text) => expect(text).toBe("") },
  });
  return printed.join("");
}

it("says that A and B are one report, under whatever names", async () => {
  const text = renderBundleJson(bundleOf([{ pid: 1, ranges: [{ name: "x", start: 0, end: 9 }] }]));
  for (const name of ["one.json", "copy.json"]) writeFileSync(join(directory, name), text);
  symlinkSync("one.json", join(directory, "link.json"));
  const note = "A and B are the same report file";
  expect(await shown("one.json", "./link.json")).toContain(note);
  expect(await shown("one.json", "copy.json")).not.toContain(note);
});

it("says that two aggregates are of other numbers of processes", async () => {
  const ofProcesses = (count: number) =>
    Array.from({ length: count }, (_, at) => ({
      pid: at + 1,
      ranges: [{ name: "step", start: 0, end: 9 }],
    }));
  for (const count of [1, 4])
    writeFileSync(join(directory, `${count}.json`), renderBundleJson(bundleOf(ofProcesses(count))));
  const note = "the number of processes differs: 1 and 4";
  expect(await shown("1.json", "4.json", "--markdown")).toContain(note);
  expect(await shown("4.json", "4.json", "--markdown")).not.toContain("number of processes");
  const one = ["1.json", "4.json", "--markdown", "--scope", "process:1"];
  expect(await shown(...one)).not.toContain("number of processes");
});

it("says which collectors of two runs are not compared, unless one was asked for", async () => {
  const text = renderBundleJson(
    bundleOf([{ pid: 1, ranges: [{ name: "step", start: 0, end: 9 }] }]),
  );
  const run = (name: string, collectors: readonly string[]) => {
    for (const collector of collectors) {
      mkdirSync(join(directory, name, collector, "regions"), { recursive: true });
      writeFileSync(join(directory, name, collector, "regions", "report.json"), text);
    }
  };
  run("whole", ["recorder", "nsys", "ncu"]);
  run("half", ["recorder"]);
  const note = "these are the numbers of recorder; only A has nsys, ncu";
  expect(await shown("whole", "half", "--markdown")).toContain(note);
  expect(await shown("half", "whole", "--markdown")).toContain("only B has nsys, ncu");
  expect(await shown("whole", "whole", "--markdown")).not.toContain("numbers of recorder");
  const chosen = ["whole", "half", "--markdown", "--collector", "recorder"];
  expect(await shown(...chosen)).not.toContain("numbers of recorder");
});

it("lists what changed of many regions on a terminal, and all of them if asked", async () => {
  const COUNT = 100;
  const ofLength = (length: number) => {
    const ranges = Array.from({ length: COUNT }, (_, at) => ({
      name: `layer ${at}`,
      start: at * 1_000,
      end: at * 1_000 + (at === 70 ? length : 100),
    }));
    return renderBundleJson(bundleOf([{ pid: 1, ranges }], { labels: { fold: null } }));
  };
  writeFileSync(join(directory, "short.json"), ofLength(100));
  writeFileSync(join(directory, "long.json"), ofLength(400));
  // Of the table: what the regions contribute stands before it.
  const layers = (text: string) =>
    text
      .slice(text.indexOf("Region "))
      .split("\n")
      .filter((line) => line.startsWith("layer"));

  const folded = await shown("short.json", "long.json");
  expect(layers(folded)).toEqual([expect.stringMatching(/^layer 70 .* unclear$/)]);
  expect(folded).toContain("regions not shown: 99 same; --regions 100 shows all\n");
  expect(layers(await shown("short.json", "long.json", "--regions", "100"))).toHaveLength(COUNT);
  await expect(shown("short.json", "long.json", "--regions", "all")).rejects.toThrow(
    "--regions: 'all' is not a number",
  );
  // Before anything is read.
  await expect(shown("no.json", "such.json", "--collector", "nsy")).rejects.toThrow(
    "--collector: 'nsy' is not one of recorder, nsys, counters, ncu, pytorch",
  );
  expect(await shown("short.json", "long.json", "--markdown", "--regions", "1")).toContain(
    "layer 3 ",
  );
});
