import { expect, it } from "vitest";
import { nearest } from "../../src/values/nearest.ts";

it.each([
  { name: "prot", candidates: ["host", "port"], near: "port" },
  { name: "mysqll", candidates: ["mysql", "postgresql"], near: "mysql" },
  { name: "x", candidates: ["y", "zzzz"], near: "y" },
  { name: "learning_rat", candidates: ["learning_rate", "epochs"], near: "learning_rate" },
  { name: "abc", candidates: ["xyz"], near: undefined },
  { name: "optimizer", candidates: ["scheduler"], near: undefined },
  { name: "a", candidates: [], near: undefined },
  { name: "nvtx", candidates: ["command", "nvtx_regions"], near: "nvtx_regions" },
  { name: "hopper", candidates: ["ncu.default", "ncu.hopper"], near: "ncu.hopper" },
  { name: "rtx", candidates: ["rtx3090.memory", "rtx3090.compute"], near: undefined },
  { name: "nc", candidates: ["ncu.default.cfg"], near: undefined },
])("nearest to $name of $candidates is $near", ({ name, candidates, near }) => {
  expect(nearest(name, candidates)).toBe(near);
});
