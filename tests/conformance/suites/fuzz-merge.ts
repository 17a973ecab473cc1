import type { Suite } from "../suite.ts";
import { omegaconfMerge } from "./omegaconf-merge.ts";

/** Random documents in the format of `omegaconf/merge`. */
export const fuzzMerge: Suite = {
  ...omegaconfMerge,
  name: "fuzz/values/merge",
  matches: (path) => /(^|\/)fuzz\/values\/merge\.jsonl$/.test(path),
};
