import { checkTree } from "../../../src/engine/values/yaml/check-tree.ts";
import { type WriteOptions, writeYaml } from "../../../src/engine/values/yaml/writer.ts";
import { judge } from "../judge.ts";
import type { Suite } from "../suite.ts";
import { fromTagged } from "../tagged.ts";

/** `json` → `yaml` = `OmegaConf.to_yaml(OmegaConf.create(value))`. */
export const omegaconfToYaml: Suite = {
  name: "omegaconf/to_yaml",
  dependsOnVersionBase: false,
  matches: (path) => /(^|\/)omegaconf\/to_yaml\.jsonl$/.test(path),
  run(testCase, { dialect }) {
    const { json, yaml, default_flow_style = false } = testCase;
    const node = fromTagged(json);
    const flow = FLOW_STYLES.get(default_flow_style);
    if (flow === undefined) throw new Error("no such style");
    return judge(testCase, yaml, () =>
      writeYaml(checkTree(node, undefined, undefined, dialect), { dialect, flow }),
    );
  },
};

/** PyYAML's `default_flow_style`. */
const FLOW_STYLES: ReadonlyMap<unknown, WriteOptions["flow"]> = new Map([
  [true, "all"],
  [null, "leaves"],
  [false, "none"],
] as const);
