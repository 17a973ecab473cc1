import {
  type Config,
  composeConfig,
  createConfig,
  hydraGroups,
  memorySource,
  schemaSource,
  takeSnapshot,
} from "../../../src/engine/compose/index.ts";
import { parseOverrides } from "../../../src/engine/overrides/index.ts";
import type { Dialect } from "../../../src/engine/values/dialect.ts";
import { createResolveContext } from "../../../src/engine/values/resolution/context.ts";
import { diskSources } from "../../engine/compose/disk-sources.ts";
import type { CorpusCase } from "../corpus.ts";
import { attempt, compare, judge } from "../judge.ts";
import type { Outcome, Suite, SuiteEnvironment } from "../suite.ts";
import { compareResolved } from "./compose-resolved.ts";
import { HYDRA_RESOLVERS } from "./compose-resolvers.ts";

/** `fuzz/compose.jsonl`: a random tree of files each, kept in memory. */
export const fuzzCompose: Suite = {
  name: "composition, random",
  matches: (path) => /(^|\/)fuzz\/compose\.jsonl$/.test(path),
  run: runFuzzCase,
};

function runFuzzCase(testCase: CorpusCase, { dialect }: SuiteEnvironment): Outcome {
  const compose = () => composeFiles(testCase, dialect);
  const result = attempt(compose);
  if (testCase["ok"] === false || !result.ok) return judge(testCase, testCase["yaml"], compose);
  const config = result.value as Config;
  const hydraless = [...config.composition.choices].filter(([key]) => !key.startsWith("hydra/"));
  const outcome = compare(
    { yaml: testCase["yaml"], choices: testCase["choices"] },
    { yaml: config.toYaml(), choices: Object.fromEntries(hydraless) },
  );
  return outcome.pass
    ? compareResolved(config, testCase["resolved"], testCase["resolve_error"])
    : outcome;
}

function composeFiles(testCase: CorpusCase, dialect: Dialect): Config {
  const files = Object.entries(testCase["files"] as Record<string, string>).map(
    ([path, text]) => [path.replace(/\.yaml$/, ""), { text }] as const,
  );
  const cwd = "/";
  const main = memorySource({ scheme: "file", path: "<DIR>", provider: "main" }, new Map(files), {
    dialect,
  });
  const context = createResolveContext({
    env: { FUZZ_ENV: "envval" },
    resolvers: HYDRA_RESOLVERS,
    dialect,
  });
  const composition = composeConfig({
    snapshot: takeSnapshot({
      sources: [hydraGroups(dialect), main],
      schemaSource: schemaSource(new Map(), { dialect }),
      cwd,
      factories: diskSources(),
    }),
    configName: String(testCase["config_name"]),
    overrides: parseOverrides((testCase["overrides"] as readonly unknown[]).map(String), {
      dialect,
    }),
    mode: "run",
    fromShell: false,
    jobName: "fuzz",
    cwd,
    context,
  });
  return createConfig(composition.config, composition, context);
}
