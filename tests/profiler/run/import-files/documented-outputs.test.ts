import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { samplesOrSkip } from "../../../shared.ts";
import { importer } from "./importer.ts";

const { importFiles } = importer();

/** A page from one heading up to the next one of its level or above. */
function section(page: string, heading: string): string {
  const text = readFileSync(new URL(`../../../../docs/${page}`, import.meta.url), "utf8");
  const [, level = ""] = /^(#+) /.exec(heading) ?? [];
  const body = text.slice(text.indexOf(`\n${heading}\n`) + heading.length + 2);
  const end = body.search(new RegExp(`^#{1,${level.length}} `, "m"));
  return end === -1 ? body : body.slice(0, end);
}

describe("the outputs in the documentation", () => {
  const directory = samplesOrSkip("the outputs of each replay mode in the documentation");
  const shown = [
    section("running.md", "### NVTX Range Replay"),
    section("reports.md", "## Memory bound or compute bound?"),
  ].join("\n");
  const blocks = [
    ...shown.matchAll(/^ {4}\$ deep-profile import (\S+\.csv) --sort tree\n((?: {4}.*\n)+)/gm),
  ].map(([, sample = "", lines = ""]) => ({
    sample,
    lines: lines
      .trimEnd()
      .split("\n")
      .map((line) => line.slice(4)),
  }));

  test("show each kind of result", () => {
    expect(blocks.map(({ sample }) => sample.split("-").slice(0, 3).join("-"))).toEqual([
      "syn-raw-nvtx",
      "syn-range-raw",
      "pub-cfregly-app",
      "raw-1kernel-t4",
    ]);
  });

  test.skipIf(directory === null).each(blocks)(
    "are those of $sample",
    async ({ sample, lines }) => {
      const { code, stdout } = await importFiles([
        directory?.(sample) ?? "",
        "-o",
        `docs-${sample}`,
        "--sort",
        "tree",
      ]);
      expect(code).toBe(0);
      // Notes are wrapped.
      const printed = stdout
        .replaceAll(/\n {6}(?=\S)/g, " ")
        .split("\n")
        .map((line) => line.trimEnd());
      // Rows may be left out, and stand in their order.
      const places = lines.map((line) => printed.indexOf(line));
      expect(places, stdout).not.toContain(-1);
      expect(places).toEqual(places.toSorted((a, b) => a - b));
    },
  );
});
