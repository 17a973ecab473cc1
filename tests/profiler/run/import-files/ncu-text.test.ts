import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { nsightEnvironment, nsightOrSkip } from "../../../nsight.ts";
import { samplesOrSkip } from "../../../shared.ts";
import { importer } from "./importer.ts";

afterEach(() => vi.unstubAllEnvs());
const { cwd, importFiles } = importer();

const sample = samplesOrSkip("sections.txt against ncu's own text");
const ncu = nsightOrSkip("ncu", "sections.txt against ncu's own text");

interface Rule {
  readonly rule: string;
  readonly type: string;
  readonly text: string;
  readonly speedup_type?: string;
}

interface ShownSection {
  readonly title: string;
  /** Metrics with a number: `sections.txt` has no others. */
  readonly metrics: number;
  /** `OPT`, and how much it may gain, as ncu words it. */
  readonly advice: readonly string[];
}

/** As many as ncu prints of a gain. */
const digits = (value = ""): string => Number(value).toPrecision(3);

/** What ncu prints of its first kernel. */
function ofNcu(text: string): readonly ShownSection[] {
  const [, first = ""] = text.split(/^ {2}(?=\S)/m);
  return first.split(/^ {4}Section: /m).flatMap((block, at) => {
    if (at === 0) return [];
    const [title = ""] = block.split("\n");
    const [, , rows = ""] = block.split(/^ {4}-[- ]+-$/m);
    const numbers = rows.split("\n").filter((row) => /\s[\d.]+$/.test(row));
    const advice = [...block.matchAll(/^ {4}(INF|WRN|OPT) {3}(?:Est\. (.*?): ([\d.]+)%)?/gm)];
    return [
      {
        title,
        metrics: numbers.length,
        advice: advice.map(([, type, what, value]) =>
          what === undefined ? `${type}` : `${type} ${what.toLowerCase()} ${digits(value)}`,
        ),
      },
    ];
  });
}

function ofOurs(text: string): readonly ShownSection[] {
  const [, ...blocks] = text.split("\n\n");
  return blocks.map((block) => {
    const [title = "", ...lines] = block.trim().split("\n");
    const advice = block
      .replaceAll(/\n {9}/g, " ")
      .matchAll(/^ {4}(INF|WRN|OPT) {2}.*?(?:\(est\. (.*?) ([\d.]+) %\))?(?: \[\d+ kernels\])?$/gm);
    return {
      title,
      metrics: lines.filter((line) => /^ {4}\w+__/.test(line)).length,
      advice: [...advice].map(([, type, what, value]) =>
        what === undefined ? `${type}` : `${type} ${what} ${digits(value)}`,
      ),
    };
  });
}

describe.skipIf(sample === null || ncu === null)("sections.txt of a region", () => {
  const path = (name: string) => sample?.(name) ?? "";
  const printedBy = (report: string): readonly ShownSection[] => {
    const env = { ...process.env, ...nsightEnvironment(), LC_ALL: "C.UTF-8" };
    const args = ["--import", path(report), "--page", "details"];
    return ofNcu(execFileSync(ncu ?? "", args, { env, encoding: "utf8" }));
  };
  const imported = async (report: string, directory: string): Promise<readonly ShownSection[]> => {
    expect((await importFiles([path(report), "-o", directory])).code).toBe(0);
    const file = join(cwd, directory, "ncu/regions/_outside_/sections.txt");
    return ofOurs(readFileSync(file, "utf8"));
  };

  /** Rules in their words; sections in the order of the report. */
  const rulesIn = (directory: string): unknown => {
    const file = join(cwd, directory, "ncu/regions/report.json");
    const { reports } = JSON.parse(readFileSync(file, "utf8"));
    const sections: Readonly<Record<string, { messages: readonly Rule[] }>> =
      reports[0].regions.at(-1).sections;
    return Object.entries(sections).map(([title, { messages }]) => [
      title,
      messages.map(({ rule, type, text, speedup_type }) => [
        rule,
        type,
        text.replaceAll(/\s+/g, " ").trim(),
        speedup_type,
      ]),
    ]);
  };

  test.each(["r1.ncu-rep", "mojo.ncu-rep", "gpm.ncu-rep"])(
    "has of %s the sections of ncu's own text in its order, their numbers and advice",
    async (report) => {
      const printed = printedBy(report);
      expect(printed.length).toBeGreaterThan(2);
      for (const [name, value] of Object.entries(nsightEnvironment())) vi.stubEnv(name, value);
      expect(await imported(report, `with ${report}`)).toEqual(printed);
      vi.stubEnv("PATH", "");
      expect(await imported(report, `without ${report}`)).toEqual(printed);
      expect(rulesIn(`without ${report}`)).toEqual(rulesIn(`with ${report}`));
    },
  );
});
