/** Frequent mistakes: what standard error says of them, and that what it proposes works. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { program } from "./program.ts";

interface Mistake {
  readonly id: string;
  readonly files: Readonly<Record<string, string>>;
  readonly argv: readonly string[];
  readonly version_base?: string;
  /** How many of the last arguments what is proposed takes the place of. Default: 1. */
  readonly replaces?: number;
  /** Texts that standard error contains. */
  readonly says: readonly string[];
  /** Texts that it does not contain. */
  readonly never: readonly string[];
}

const MISTAKES = readFileSync(join(import.meta.dirname, "../../fixtures/mistakes.jsonl"), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as Mistake);

const runOf = (files: Mistake["files"], argv: readonly string[], { version_base }: Mistake) => {
  const inConf = Object.entries(files).map(([name, text]) => [`conf/${name}`, text]);
  const options = version_base === undefined ? {} : { versionBase: version_base };
  // A search needs a result.
  return program(Object.fromEntries(inConf), options).run(argv, () => 1);
};

describe("a frequent mistake", () => {
  it.each(MISTAKES.map((mistake) => [mistake.id, mistake] as const))(
    "%s is answered with what was meant",
    async (_, mistake) => {
      const { stderr } = await runOf(mistake.files, mistake.argv, mistake);
      for (const text of mistake.says) expect(stderr).toContain(text);
      for (const text of mistake.never) expect(stderr).not.toContain(text);
    },
  );
});

/** The overrides that a hint proposes: `use a=1, or +b=2 to add the key`. */
const proposedOverrides = (hint: string): readonly string[] =>
  /^use .*=/.test(hint)
    ? hint
        .slice("use ".length)
        .replace(ALSO_MULTIRUN, "")
        .replace(/; with .* the key is there$/, "")
        .replace(/ \(in a shell: .*\)$/, "")
        .split(", or ")
        .filter((text) => !text.startsWith("add --multirun"))
        .map((text) =>
          text.replace(/ (to add the key|to replace '.*' as a whole|for the list)$/, ""),
        )
    : [];

const ALSO_MULTIRUN = /, and add --multirun .*$/;

/** The override that a hint has as an example of what it says: `close what is open: a=[1]`. */
const correctedOverride = (hint: string): string | undefined =>
  /(?:^use|write) /.test(hint)
    ? undefined
    : /^[^=]*: (?:use )?(\S*?=.*?)(?: \(in a shell: .*\))?(?:, or a config file|; likewise .*)?$/.exec(
        hint,
      )?.[1];

/** The lines that a hint proposes for a file: "write `a: b`, or `c: d`". */
const proposedLines = (hint: string): readonly string[] =>
  /(^|: )write `/.test(hint) ? [...hint.matchAll(/`([^`]+)`/g)].map(([, line = ""]) => line) : [];

/** What a hint proposes for an interpolation of a file: "write ${a.b}". A resolver of the program's own is not there to apply it. */
const proposedInterpolation = (hint: string): string | undefined =>
  /(?:^|: )write (\$\{(?!eval:).*\})$/.exec(hint)?.[1];

/** Of the dialect, whatever is typed. */
const WARNING = /^(UserWarning: .*(\nOmit the version_base .*)?)\n/gm;

describe("what the hint for a mistake proposes", () => {
  const proposals: [
    string,
    Mistake,
    { override: string } | { corrected: string } | { line: string } | { interpolation: string },
  ][] = [];
  it("is an override or a line of the file, in most of them", async () => {
    for (const mistake of MISTAKES) {
      const { stderr } = await runOf(mistake.files, mistake.argv, mistake);
      const hint = /^ {2}Hint: (.*)$/m.exec(stderr)?.[1] ?? "";
      const applied = ALSO_MULTIRUN.test(hint)
        ? { ...mistake, argv: ["-m", ...mistake.argv] }
        : mistake;
      for (const override of proposedOverrides(hint))
        proposals.push([mistake.id, applied, { override }]);
      const corrected = stderr.includes("--> override") ? correctedOverride(hint) : undefined;
      if (corrected !== undefined) proposals.push([mistake.id, mistake, { corrected }]);
      for (const line of proposedLines(hint)) proposals.push([mistake.id, mistake, { line }]);
      const interpolation = proposedInterpolation(hint);
      if (interpolation !== undefined) proposals.push([mistake.id, mistake, { interpolation }]);
    }
    // Of each kind: otherwise the next test says little.
    const kinds = proposals.map(([, , proposal]) => Object.keys(proposal)[0]);
    for (const [kind, least] of [
      ["override", 25],
      ["corrected", 15],
      ["line", 25],
      ["interpolation", 6],
    ] as const)
      expect([kind, kinds.filter((one) => one === kind).length >= least]).toEqual([kind, true]);
  });

  it("composes when it is applied", async () => {
    for (const [id, mistake, proposal] of proposals) {
      const { files, argv, replaces = 1 } = mistake;
      const again = (override: string) =>
        runOf(files, [...argv.slice(0, -replaces), override], mistake);
      if ("corrected" in proposal) {
        // What it is an example for is its syntax: the tree may refuse the key.
        const { stderr } = await again(proposal.corrected);
        expect([id, proposal, /Error parsing.*|.*out of range/.exec(stderr)]).toEqual([
          id,
          proposal,
          null,
        ]);
        continue;
      }
      if ("override" in proposal) {
        const { exitCode, stderr } = await again(proposal.override);
        expect([id, proposal, exitCode, stderr.replaceAll(WARNING, "")]).toEqual([
          id,
          proposal,
          0,
          "",
        ]);
        continue;
      }
      const { stderr } = await runOf(files, argv, mistake);
      const [, name = "", line = ""] = / --> conf\/(\S+?):(\d+):\d+/.exec(stderr) ?? [];
      const lines = (files[name] ?? "").split("\n");
      const at = Number(line) - 1;
      const [before = ""] = /^\s*(- )?/.exec(lines[at] ?? "") ?? [];
      const corrected =
        "line" in proposal
          ? `${before}${proposal.line}`
          : (lines[at] ?? "").replace(/\$\{.*\}|\$\{[^']*/, () => proposal.interpolation);
      const text = lines.with(at, corrected).join("\n");
      const { exitCode } = await runOf({ ...files, [name]: text }, argv, mistake);
      expect([id, proposal, exitCode]).toEqual([id, proposal, 0]);
    }
  });
});
