// A program with hydraconf: `node train.mjs`, `node train.mjs optimizer=decaying`, `node train.mjs -m optimizer=sgd,decaying steps=5,20`
import { createTargets, hydraMain } from "hydraconf";
import { summary } from "./summary.mjs";

/** Fits y = weight * x to two points, as an excuse for a task. */
function train(config, job) {
  const { steps, optimizer } = config.toObject({ resolve: true });
  let weight = 0;
  for (let step = 1; step <= steps; step++) {
    const slope = 2 * (weight * 1 - 2) + 2 * 2 * (weight * 2 - 4);
    weight -= optimizer.lr * (optimizer.decay === 0 ? slope : slope / (1 + optimizer.decay * step));
    job.log.debug(`step ${step}: weight ${weight.toFixed(4)}`);
  }
  const loss = (weight - 2) ** 2;
  job.log.info(`${config.get("model.name")}: loss ${loss.toExponential(2)}`);
  // What a task returns is the job's result: callbacks and sweepers see it.
  return loss;
}

process.exitCode = await hydraMain(
  {
    configPath: "conf",
    configName: "config",
    schema: new URL("config.schema.json", import.meta.url).pathname,
    targets: createTargets({ summary }),
  },
  train,
);
