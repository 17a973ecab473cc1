import { checkTree } from "../../../src/values/yaml/check-tree.ts";
import { writeYaml } from "../../../src/values/yaml/writer.ts";
import { judge } from "../judge.ts";
import type { Suite } from "../suite.ts";
import { fromTagged } from "../tagged.ts";

/** `json` → `yaml` = `OmegaConf.to_yaml(OmegaConf.create(value))`. */
export const omegaconfToYaml: Suite = {
  name: "omegaconf/to_yaml",
  dependsOnVersionBase: false,
  matches: (path) => /(^|\/)omegaconf\/to_yaml\.jsonl$/.test(path),
  run(testCase) {
    const { json, yaml } = testCase;
    const node = fromTagged(json);
    return judge(testCase, yaml, () => writeYaml(checkTree(node)));
  },
};
