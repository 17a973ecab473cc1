import { expect, it } from "vitest";
import { loadYaml } from "../../src/index.ts";
import { nearestKey } from "../../src/values/nearest-key.ts";

const TREE = loadYaml(`
pipeline: {nsys: {enable: false, trace: nvtx}, ncu: {enable: false, ncu_cli: {set: full}}}
infer: {batch_size: 4}
mode: deep
hydra: {mode: RUN, run: {dir: out}}
`);

it.each([
  ["batch_size", ["infer.batch_size"], "infer.batch_size"],
  ["ncu.enable", ["pipeline.ncu.enable"], "pipeline.ncu.enable"],
  ["enable", ["pipeline.nsys.enable", "pipeline.ncu.enable"], undefined],
  ["run.dir", ["hydra.run.dir"], "hydra.run.dir"],
  ["ncu_cli.set", ["pipeline.ncu.ncu_cli.set"], "pipeline.ncu.ncu_cli.set"],
  ["infer.batch_siz", ["infer.batch_size"], "infer.batch_size"],
  ["infer.set", ["infer.batch_size"], undefined],
  ["infr.batch_size", ["pipeline", "infer", "mode", "hydra"], "infer.batch_size"],
  ["nope.x", ["pipeline", "infer", "mode", "hydra"], undefined],
])("for %s there is %j", (key, available, nearest) => {
  expect(nearestKey(TREE, key)).toEqual({ available, ...(nearest && { nearest }) });
});
