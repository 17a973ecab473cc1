import type { Dialect } from "../../../src/engine/values/dialect.ts";
import { ConfigError } from "../../../src/engine/values/errors.ts";
import type { ConfigNode } from "../../../src/engine/values/node.ts";
import {
  createResolveContext,
  type ResolveContext,
} from "../../../src/engine/values/resolution/context.ts";
import { selectNode } from "../../../src/engine/values/resolution/select.ts";
import { createConfig } from "../../../src/engine/values/yaml/reader.ts";
import type { CorpusCase } from "../corpus.ts";
import { judge } from "../judge.ts";
import type { Suite } from "../suite.ts";
import { toTagged } from "../tagged.ts";
import { corpusResolvers } from "./omegaconf-resolvers.ts";

/** `yaml`, `key`, optional `env` → `value`: the selected node, resolved to the bottom. */
export const omegaconfInterpolation: Suite = {
  name: "omegaconf/interpolation",
  dependsOnVersionBase: false,
  matches: (path) => /(^|\/)omegaconf\/interpolation\.jsonl$/.test(path),
  run(testCase, { dialect }) {
    const { yaml, key, value, warnings } = testCase;
    if (typeof yaml !== "string" || typeof key !== "string")
      throw new Error("the case has no yaml or no key");
    const issued: string[] = [];
    const expected = warnings === undefined ? { value } : { value, warnings };
    return judge(testCase, expected, () => {
      const found = selectDeep(
        createConfig(yaml, { dialect }),
        key,
        contextOf(testCase, issued, dialect),
      );
      const result = { value: toTagged(found) };
      return warnings === undefined ? result : { ...result, warnings: issued };
    });
  },
};

function selectDeep(root: ConfigNode, key: string, context: ResolveContext): ConfigNode {
  const found = selectNode(root, key, context, { throwOnMissing: true, deep: true });
  if (found !== undefined) return found;
  throw new ConfigError({ code: "key.not_found", message: `Key not found: '${key}'`, key });
}

function contextOf(testCase: CorpusCase, issued: string[], dialect: Dialect): ResolveContext {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(testCase["env"] ?? {}))
    if (typeof value === "string") env[name] = value;
  return createResolveContext({
    resolvers: corpusResolvers(),
    dialect,
    env,
    onWarning: (message) => issued.push(message),
  });
}
