import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { NvtxLabel } from "../../../../../src/profiler/analysis/labels.ts";
import { ToolError } from "../../../../../src/profiler/machine/tool-error.ts";
import { labelExpressions } from "../../../../../src/profiler/tools/ncu/run/filters.ts";
import { fitOptions } from "../../../../../src/profiler/tools/ncu/run/pass-command.ts";
import { realNcuOrSkip } from "./real-ncu.ts";

const push = (name: string, domain = ""): NvtxLabel => ({ domain, name, kind: "push_pop" });
const many = (count: number, name = "layer") =>
  Array.from({ length: count }, (_, at) => `${name}_${at}`);
const includes = (expressions: readonly string[]) =>
  expressions.flatMap((expression) => ["--nvtx-include", expression]);

describe("options of ncu", () => {
  it("stay on the command line where they are short", () => {
    const options = ["--nvtx", ...includes(["A/", "regex:^b c$/"])];
    expect(fitOptions(options, "f")).toEqual({ options, text: null });
  });

  it("go to a file where they are long, and all others stay in sight", () => {
    const long = `regex:^(${many(10_000).join("|")}|a b\\ c\\\\ d\n)$/`;
    const { options, text } = fitOptions(
      ["--nvtx", ...includes([long]), "--export", "a b", "--kernel-name", "regex:^k$"],
      "/tmp/a b/f",
    );
    expect(options).toEqual(["--nvtx", "--export", "a b", "@/tmp/a b/f"]);
    expect(text).toMatch(/^--nvtx-include regex:\^\(layer_0\|/);
    expect(text?.endsWith("|a\\x20b\\x20c\\\\\\x20d\\x0a)$/\n--kernel-name regex:^k$\n")).toBe(
      true,
    );
  });

  it("stay where a file cannot hold them as one word", () => {
    const spaced = many(4000, "two words").map((name) => `${name}/`);
    const { options, text } = fitOptions(includes([...spaced, "A/"]), "f");
    expect(options).toEqual([...includes(spaced), "@f"]);
    expect(text).toBe("--nvtx-include A/\n");
  });

  it.each([
    ["one of them", [`${"x y".repeat(50_000)}/`]],
    ["all of them", many(60_000, "two words").map((name) => `${name}/`)],
  ])("are refused before anything runs where %s cannot be passed", (_what, expressions) => {
    expect(() => fitOptions(includes(expressions), "f")).toThrow(ToolError);
    expect(() => fitOptions(includes(expressions), "f")).toThrow(
      "more than a command line can hold",
    );
  });
});

describe("expressions of thousands of labels", () => {
  it("are one where all are of one domain", () => {
    const labels = many(2000).map((name) => push(name, "D"));
    expect(labelExpressions(labels)).toEqual([`regex:^D$@^(${many(2000).join("|")})$/`]);
  });

  it("are one each where that would match others, too", () => {
    const labels = [...many(2000).map((name) => push(name, "D")), push("layer_0", "E")];
    expect(labelExpressions(labels)).toHaveLength(2001);
  });
});

const real = realNcuOrSkip("options of ncu in a file");

describe.skipIf(real === null)("the real ncu", () => {
  it("matches by a filter in a file what it matches by one on its command line", () => {
    const names = [
      "A",
      "two words",
      'q"uote',
      "it's",
      "back\\slash",
      "tab\tx",
      "new\nline",
      "漢字",
      "#hash",
      " lead",
      "@at",
      "a\\ b",
      "x",
    ];
    const results = names.map((name, at) => ({ kernel: `kernel${at}`, pushPop: [{ name }] }));
    const wanted = names.slice(0, -1);
    const directory = mkdtempSync(join(tmpdir(), "hydraconf response "));
    const file = join(directory, "options.txt");
    const { options, text } = fitOptions(
      includes(
        labelExpressions([...wanted, ...many(20_000, "layer of")].map((name) => push(name))),
      ),
      file,
    );
    expect(options).toEqual([`@${file}`]);
    writeFileSync(file, text ?? "");
    expect(real?.matching(results)([], options)).toEqual(wanted.map((_, at) => `kernel${at}`));
  });
});
