import type { Suite } from "../suite.ts";
import { omegaconfInterpolation } from "./omegaconf-interpolation.ts";

/** Random trees in the format of `omegaconf/interpolation`. */
export const fuzzInterpolation: Suite = {
  ...omegaconfInterpolation,
  name: "fuzz/values/interpolation",
  matches: (path) => /(^|\/)fuzz\/values\/interpolation\.jsonl$/.test(path),
};
