import { dirname } from "node:path";
import {
  buildDefaultsTree,
  checkUsage,
  createRepository,
  EMPTY_CONFIG,
  flattenTree,
  HYDRA_CONFIG,
  memorySource,
  splitOverrides,
} from "../../../src/engine/compose/index.ts";
import { parseOverrides } from "../../../src/engine/overrides/index.ts";
import type { Dialect } from "../../../src/engine/values/dialect.ts";
import { createResolveContext } from "../../../src/engine/values/resolution/context.ts";
import { diskDirectory } from "../../engine/compose/disk-sources.ts";
import type { CorpusCase } from "../corpus.ts";
import { judge } from "../judge.ts";
import type { Outcome, Suite, SuiteEnvironment } from "../suite.ts";
import { rowOf } from "./compose-rows.ts";

/**
 * `compose/defaults_list/defaults.jsonl`: the two passes alone, without Hydra's own groups. Their recorder sets no `version_base`: what
 * that changes of the same tree is in the `cases.jsonl` beside it.
 */
export const defaultsListSuite: Suite = {
  name: "defaults list",
  matches: (path) => /(^|\/)compose\/defaults_list\/defaults\.jsonl$/.test(path),
  run: runDefaultsCase,
  dependsOnVersionBase: false,
};

function runDefaultsCase(testCase: CorpusCase, env: SuiteEnvironment): Outcome {
  const { defaults, config_overrides, choices } = testCase;
  return judge(testCase, { defaults, config_overrides, choices }, () =>
    listOf(testCase, env.companion(`${dirname(env.file)}/conf`), env.dialect),
  );
}

function listOf(testCase: CorpusCase, dir: string, dialect: Dialect): object {
  const repository = createRepository([
    diskDirectory({ provider: "main", path: dir, cwd: dirname(dir), reading: { dialect } }),
    memorySource(
      { scheme: "structured", path: "", provider: "schema" },
      new Map([[EMPTY_CONFIG, { text: "" }]]),
    ),
  ]);
  const overrides = parseOverrides((testCase["overrides"] as readonly unknown[]).map(String), {
    dialect,
  });
  const groups = splitOverrides(overrides, repository, dialect);
  const hydra = testCase["prepend_hydra"] === true;
  const tree = buildDefaultsTree({
    repository,
    roots: [
      ...(hydra ? [{ path: HYDRA_CONFIG, primary: false }] : []),
      { path: String(testCase["config_name"] ?? EMPTY_CONFIG), primary: true },
    ],
    choices: groups,
    skipMissing: testCase["skip_missing"] === true,
    resolvers: createResolveContext({ env: {}, dialect }),
  });
  const rows = flattenTree(tree, { rootName: hydra ? "<root>" : null });
  checkUsage(tree, repository, dialect);
  return {
    defaults: rows.map(rowOf),
    config_overrides: groups.values.map(({ origin }) => origin.text),
    choices: Object.fromEntries(tree.choices),
  };
}
