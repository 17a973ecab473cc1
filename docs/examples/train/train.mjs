// A program with hydraconf; docs/tutorial.md leads through it.
import { createTargets, hydraMain, instantiate } from "hydraconf";
import { Affine, Descent, Line, points } from "./parts.mjs";
import { summary } from "./summary.mjs";

/** What `_target_` may name in conf/: nothing else is ever called. */
const targets = createTargets({ Affine, Descent, Line, points, summary });

/** Fits a model to points, as an excuse for a task. */
function train(config, job) {
  const data = instantiate(config, { targets, key: "data" });
  const model = instantiate(config, { targets, key: "model" });
  // `_partial_: true` in conf/optimizer/: the model, which only exists now, is still to come.
  const makeOptimizer = instantiate(config, { targets, key: "optimizer" });
  const optimizer = makeOptimizer(model);

  const steps = config.get("steps");
  for (let step = 1; step <= steps; step++) {
    optimizer.step(data, step);
    job.log.debug(`step ${step}: ${model}`);
  }
  const loss = model.loss(data);
  job.log.info(`${model} after ${steps} steps: loss ${loss.toExponential(2)}`);
  // What a task returns is the job's result: callbacks and sweepers see it.
  return loss;
}

await hydraMain(
  {
    configPath: "conf",
    configName: "config",
    schema: "config.schema.json",
    targets,
  },
  train,
);
