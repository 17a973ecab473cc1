import { dirname } from "node:path";
import type { Config } from "../../../src/compose/index.ts";
import { STANDARD_PLUGINS } from "../../../src/compose/plugins/standard-plugins.ts";
import { createEngine } from "../../../src/engine.ts";
import { child, map } from "../../../src/values/node.ts";
import { fromCode } from "../../../src/values/origin.ts";
import { writeYaml } from "../../../src/values/yaml/writer.ts";
import type { CorpusCase } from "../corpus.ts";
import { judge } from "../judge.ts";
import type { Outcome, Suite, SuiteEnvironment } from "../suite.ts";
import { HYDRA_RESOLVERS } from "./compose-resolvers.ts";

/** `compose/plugins/cases.jsonl`: compositions with Hydra's own plugins installed. */
export const composePlugins: Suite = {
  name: "plugins",
  matches: (path) => /(^|\/)compose\/plugins\/cases\.jsonl$/.test(path),
  run: runPluginCase,
};

function runPluginCase(testCase: CorpusCase, env: SuiteEnvironment): Outcome {
  const { config_name, overrides, yaml, hydra_nodes } = testCase;
  const dir = env.companion(`${dirname(env.file)}/conf`);
  const engine = createEngine({
    cwd: dirname(dir),
    env: {},
    resolvers: HYDRA_RESOLVERS,
    // Hydra's own: what was recorded lists no other.
    plugins: STANDARD_PLUGINS.filter(({ name }) => !["local", "slurm"].includes(name)),
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
