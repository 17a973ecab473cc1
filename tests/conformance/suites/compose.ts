import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  type Composition,
  type Config,
  type DefaultsRow,
  toPlain,
} from "../../../src/engine/compose/index.ts";
import { memoryAccess } from "../../../src/engine/compose/sources/memory-files.ts";
import { ajvWith, createConfigReader } from "../../../src/engine/schema/config-reader.ts";
import type { Dialect } from "../../../src/engine/values/dialect.ts";
import { getAt, map } from "../../../src/engine/values/node.ts";
import { fromCode } from "../../../src/engine/values/origin.ts";
import { readYaml } from "../../../src/engine/values/yaml/reader.ts";
import { writeYaml } from "../../../src/engine/values/yaml/writer.ts";
import { type EngineOptions, openNodeEngine } from "../../../src/engine.ts";
import { getOrCreate } from "../../../src/foundation/system/get-or-create.ts";
import { type Engine, openEngine } from "../../../src/open-engine.ts";
import type { CorpusCase } from "../corpus.ts";
import { attempt, compare, judge } from "../judge.ts";
import type { Outcome, Suite, SuiteEnvironment } from "../suite.ts";
import { toTagged } from "../tagged.ts";
import { composePlugins } from "./compose-plugins.ts";
import { compareResolved } from "./compose-resolved.ts";
import { HYDRA_RESOLVERS } from "./compose-resolvers.ts";
import { rowOf } from "./compose-rows.ts";

/** `compose/<suite>/cases.jsonl`: `hydra.compose` over the `conf` directory beside the cases. */
export const composeSuite: Suite = {
  name: "composition",
  matches: (path) => /(^|\/)compose\/.+\/cases\.jsonl$/.test(path) && !composePlugins.matches(path),
  run: (testCase, env) => runComposeCase(testCase, env, openNodeEngine),
};

/** The same, where the files are read before, and the engine has them in memory. */
export const composeInMemory: Suite = { ...composeSuite, run: inMemory() };

function inMemory(): Suite["run"] {
  const texts = new Map<string, ReadonlyMap<string, string>>();
  const open: OpenEngine = ({ cwd = "/", env = {}, ...options }, dialect) =>
    openEngine({
      ...options,
      cwd,
      env,
      plugins: [],
      dialect,
      files: memoryAccess(getOrCreate(texts, cwd, () => textsBelow(cwd))),
      schemaReader: createConfigReader({ ajvOf: ajvWith(undefined), readFile: () => true }),
    });
  return (testCase, env) => runComposeCase(testCase, env, open);
}

const textsBelow = (directory: string): ReadonlyMap<string, string> =>
  new Map(
    readdirSync(directory, { recursive: true, encoding: "utf8" })
      .map((name) => join(directory, name))
      .filter((path) => statSync(path).isFile())
      .map((path) => [path, readFileSync(path, "utf8")]),
  );

type OpenEngine = (options: EngineOptions, dialect: Dialect) => Engine;

function runComposeCase(testCase: CorpusCase, env: SuiteEnvironment, open: OpenEngine): Outcome {
  const { conf = "conf", config_name, overrides } = testCase;
  const dir = env.companion(`${dirname(env.file)}/${String(conf)}`);
  const engine = engineOf(dir, testCase["env"], env.dialect, open);
  const standard = standardOf(env);
  const compose = (): Config =>
    engine.compose({
      configDir: dir,
      configName: config_name === null ? null : String(config_name),
      overrides: (overrides as readonly unknown[]).map(String),
    });

  if (testCase["ok"] === false) return judge(testCase, undefined, compose);
  const result = attempt(compose);
  if (!result.ok) return judge(testCase, expectedOf(testCase), compose);
  const config = result.value as Config;
  const actual = actualOf(config, testCase, dir, standard);
  const outcome = compare(expectedOf(testCase), actual);
  return outcome.pass
    ? compareResolved(config, testCase["resolved_yaml"] ?? undefined, testCase["resolve_error"])
    : outcome;
}

/** One engine per directory and environment: its snapshot reads every file once. */
const engines = new Map<OpenEngine, Map<string, Engine>>();

function engineOf(dir: string, variables: unknown, dialect: Dialect, open: OpenEngine): Engine {
  const env = Object.fromEntries(
    Object.entries((variables ?? {}) as Record<string, unknown>).filter(([, v]) => v !== null),
  ) as Record<string, string>;
  const id = JSON.stringify([dir, env, dialect.name, dialect.libyaml]);
  const opened = getOrCreate(engines, open, () => new Map());
  const options = { cwd: dirname(dir), env, resolvers: HYDRA_RESOLVERS, plugins: [] };
  return getOrCreate(opened, id, () => open(options, dialect));
}

interface Standard {
  readonly defaults: readonly unknown[];
  readonly choices: Readonly<Record<string, unknown>>;
}

/** What the cases leave out: the part of every composition that is Hydra's own. */
const standards = new Map<string, Standard>();

function standardOf(env: SuiteEnvironment): Standard {
  const path = env.companion("compose/standard_hydra.yaml");
  const known = standards.get(path);
  if (known !== undefined) return known;
  const plain = toPlain(readYaml(readFileSync(path, "utf8"))) as Record<string, unknown>;
  const standard: Standard = {
    defaults: plain["hydra_defaults"] as readonly unknown[],
    choices: plain["hydra_choices"] as Record<string, unknown>,
  };
  standards.set(path, standard);
  return standard;
}

const COMPARED = [
  "defaults",
  "hydra_defaults",
  "yaml",
  "json",
  "choices",
  "choices_removed",
  "hydra_yaml",
  "warnings",
] as const;

function expectedOf(testCase: CorpusCase): Record<string, unknown> {
  return Object.fromEntries(
    COMPARED.filter((name) => testCase[name] !== undefined).map((name) => [name, testCase[name]]),
  );
}

function actualOf(
  config: Config,
  testCase: CorpusCase,
  dir: string,
  standard: Standard,
): Record<string, unknown> {
  const { composition } = config;
  const isHydra = (row: DefaultsRow): boolean => row.configPath.startsWith("hydra/");
  const hydraRows = composition.defaults.filter(isHydra).map(rowOf);
  const anonymous = (text: string) =>
    text.replaceAll(dir, "<DIR>").replaceAll(dirname(dir), "<PARENT>");
  const fields: Record<string, unknown> = {
    defaults: composition.defaults.filter((row) => !isHydra(row)).map(rowOf),
    yaml: config.toYaml(),
    json: toTagged(config.root),
    choices: ownChoices(composition, standard),
  };
  if (JSON.stringify(hydraRows) !== JSON.stringify(standard.defaults))
    fields["hydra_defaults"] = hydraRows;
  const removed = Object.keys(standard.choices).filter((key) => !composition.choices.has(key));
  if (removed.length > 0) fields["choices_removed"] = removed.sort();
  const warnings = composition.warnings.map(({ message }) => anonymous(message));
  if (warnings.length > 0) fields["warnings"] = warnings;
  if (testCase["hydra_yaml"] !== undefined)
    fields["hydra_yaml"] = anonymous(
      writeYaml(map([["hydra", composition.hydra]], fromCode("test")), {
        dialect: config.context.dialect,
      }),
    );
  return fields;
}

/** As the config has them: overrides may have added some. */
function ownChoices({ hydra }: Composition, standard: Standard): Record<string, unknown> {
  const choices = getAt(hydra, ["runtime", "choices"]);
  return Object.fromEntries(
    Object.entries(choices === undefined ? {} : (toPlain(choices) as object)).filter(
      ([key, value]) => !(key in standard.choices && standard.choices[key] === value),
    ),
  );
}
