import type { Suite } from "../suite.ts";
import { omegaconfYaml } from "./omegaconf-yaml.ts";

/** Random texts in the format of `omegaconf/yaml`. */
export const fuzzYaml: Suite = {
  ...omegaconfYaml,
  name: "fuzz/values/yaml",
  matches: (path) => /(^|\/)fuzz\/values\/yaml\.jsonl$/.test(path),
};
