import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { samplesOrSkip } from "../ncu/samples.ts";
import { importer } from "./importer.ts";

const { importFiles } = importer();

describe("the outputs in docs/running.md", () => {
  const directory = samplesOrSkip("the outputs of each replay mode in the documentation");
  const text = readFileSync(new URL("../../../docs/running.md", import.meta.url), "utf8");
  const section = text.slice(
    text.indexOf("### NVTX Range Replay"),
    text.indexOf("## Reports, made again"),
  );
  const blocks = [
    ...section.matchAll(/^ {4}\$ deep-profile import (\S+\.csv)\n((?: {4}.*\n)+)/gm),
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
      ]);
      expect(code).toBe(0);
      const shown = stdout.split("\n").map((line) => line.trimEnd());
      // Rows may be left out, and stand in their order.
      const places = lines.map((line) => shown.indexOf(line));
      expect(places, stdout).not.toContain(-1);
      expect(places).toEqual(places.toSorted((a, b) => a - b));
    },
  );
});
