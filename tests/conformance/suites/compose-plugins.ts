import { dirname } from "node:path";
import { STANDARD_PLUGINS } from "../../../src/app/plugins/standard-plugins.ts";
import type { Config } from "../../../src/engine/compose/index.ts";
import { child, map } from "../../../src/engine/values/node.ts";
import { fromCode } from "../../../src/engine/values/origin.ts";
import { writeYaml } from "../../../src/engine/values/yaml/writer.ts";
import { createEngine } from "../../../src/engine.ts";
import type { CorpusCase } from "../corpus.ts";
import { judge } from "../judge.ts";
import type { Outcome, Suite, SuiteEnvironment } from "../suite.ts";
import { HYDRA_RESOLVERS } from "./compose-resolvers.ts";

/** `compose/plugins/cases.jsonl`: compositions with Hydra's own plugins installed. */
export const composePlugins: Suite = {
  name: "plugins",
  dependsOnVersionBase: false,
  matches: (path) => /(^|\/)compose\/plugins\/cases\.jsonl$/.test(path),
  run: runPluginCase,
};

/** Hydra's own: what was recorded lists no other. */
const OURS = ["hydra/launcher/local", "hydra/launcher/slurm"];
const HYDRA_PLUGINS = STANDARD_PLUGINS.map(({ configs = {}, ...plugin }) => ({
  ...plugin,
  configs: Object.fromEntries(Object.entries(configs).filter(([path]) => !OURS.includes(path))),
}));

function runPluginCase(testCase: CorpusCase, env: SuiteEnvironment): Outcome {
  const { config_name, overrides, yaml, hydra_nodes } = testCase;
  const dir = env.companion(`${dirname(env.file)}/conf`);
  const engine = createEngine({
    cwd: dirname(dir),
    env: {},
    dialect: env.dialect.name,
    resolvers: HYDRA_RESOLVERS,
    plugins: HYDRA_PLUGINS,
  });
  return judge(testCase, { yaml, hydra_nodes }, () => {
    const config = engine.compose({
      configDir: dir,
      configName: config_name === null ? null : String(config_name),
      overrides: (overrides as readonly unknown[]).map(String),
    });
    return {
      yaml: config.toYaml(),
      hydra_nodes: hydraNodes(config, Object.keys((hydra_nodes ?? {}) as object)),
    };
  });
}

/** The text of each of these parts of the hydra node. */
const hydraNodes = ({ composition: { hydra } }: Config, names: readonly string[]) =>
  Object.fromEntries(
    names.map((name) => {
      const part = child(hydra, name);
      return [name, part && writeYaml(map([[name, part]], fromCode("test")))];
    }),
  );
