import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { HYDRA_FLAGS } from "../../../src/app/cli/arguments/hydra-flags.ts";
import { treeFor } from "../../../src/app/cli/completion/completion-tree.ts";
import { matchFiles } from "../../../src/app/cli/completion/file-candidates.ts";
import { divideLine, stripProgram } from "../../../src/app/cli/completion/hydra-query.ts";
import { hydraMatches } from "../../../src/app/cli/completion/override.ts";
import { openComposer } from "../../../src/app/job/composer.ts";
import type { Dialect } from "../../../src/engine/values/dialect.ts";
import type { CorpusCase } from "../corpus.ts";
import { judge } from "../judge.ts";
import type { Outcome, Suite } from "../suite.ts";

/** `completion/bash.jsonl`: what Hydra offers for a line, and how it finds the arguments in one. */
export const completionSuite: Suite = {
  name: "completion",
  dependsOnVersionBase: false,
  matches: (path) => /(^|\/)completion\/bash\.jsonl$/.test(path),
  run(testCase, env) {
    const line = String(testCase["line"]);
    return testCase["op"] === "strip"
      ? judge(testCase, testCase["stripped"], () => stripProgram(line, env.dialect))
      : runQuery(testCase, line, env.companion(`${dirname(env.file)}/conf`), env.dialect);
  },
};

function runQuery(testCase: CorpusCase, line: string, conf: string, dialect: Dialect): Outcome {
  const { files, expected } = testCase;
  if (files === undefined)
    return judge(testCase, expected, () => query(testCase, line, conf, conf, dialect));
  const cwd = directoryWith(files as readonly string[]);
  try {
    return judge(testCase, expected, () => query(testCase, line, conf, cwd, dialect));
  } finally {
    rmSync(cwd, { recursive: true });
  }
}

function query(
  testCase: CorpusCase,
  line: string,
  conf: string,
  cwd: string,
  dialect: Dialect,
): readonly string[] {
  const { words, word, isMultirun } = divideLine(line, HYDRA_FLAGS, dialect);
  const { config_name } = testCase;
  const composer = openComposer(
    {
      jobName: "UNKNOWN_NAME",
      configPath: conf,
      configName: config_name === null ? null : String(config_name),
      plugins: [],
      dialect,
    },
    { env: {}, cwd, now: new Date(), console: { stdout() {}, stderr() {} }, argv: [] },
  );
  const tree = treeFor(composer, words, isMultirun ? "multirun" : "run");
  return hydraMatches(tree, word, (typed) => matchFiles(typed, cwd));
}

function directoryWith(files: readonly string[]): string {
  const directory = mkdtempSync(join(tmpdir(), "hydraconf-complete-"));
  for (const file of files) {
    mkdirSync(dirname(join(directory, file)), { recursive: true });
    writeFileSync(join(directory, file), "");
  }
  return directory;
}
