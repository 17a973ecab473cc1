import type { Suite } from "../suite.ts";
import { runOverrideCase } from "./overrides-parse.ts";

/** `fuzz/values/overrides.jsonl`: the format of `overrides/parse.jsonl` with fewer fields. */
export const fuzzOverrides: Suite = {
  name: "override language, random",
  dependsOnVersionBase: false,
  matches: (path) => /(^|\/)fuzz\/values\/overrides\.jsonl$/.test(path),
  run: runOverrideCase,
};
