import { createConfig } from "../../../src/engine/values/yaml/reader.ts";
import { judge } from "../judge.ts";
import type { Suite } from "../suite.ts";
import { toTagged } from "../tagged.ts";

/** `text` → `json` = `OmegaConf.create(text)`. */
export const omegaconfYaml: Suite = {
  name: "omegaconf/yaml",
  dependsOnVersionBase: false,
  matches: (path) => /(^|\/)omegaconf\/yaml\.jsonl$/.test(path),
  run(testCase, { dialect }) {
    const { text, json, env = {} } = testCase;
    if (typeof text !== "string") throw new Error("the case has no text");
    return judge(testCase, json, () =>
      toTagged(createConfig(text, { dialect, env: env as Readonly<Record<string, string>> })),
    );
  },
};
