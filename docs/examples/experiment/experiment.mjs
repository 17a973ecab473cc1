// An experiment runner: each job minimises a function, writes its curve and returns its loss.
//
//   node experiment.mjs optimizer.lr=0.2
//   node experiment.mjs -m optimizer=sgd,momentum 'optimizer.lr=choice(0.05,0.2)'
//   node experiment.mjs -m hydra/launcher=local optimizer=sgd,momentum
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { hydraMain } from "hydraconf";

await hydraMain(
  {
    configPath: "conf",
    configName: "config",
    schema: {
      required: ["optimizer", "steps"],
      properties: {
        steps: { type: "integer", minimum: 1 },
        optimizer: { properties: { lr: { type: "number", exclusiveMinimum: 0 } } },
      },
    },
    summarizeSweep: async (rows) => {
      const done = rows.filter(({ status }) => status === "completed");
      const [best] = done.sort((a, b) => a.result - b.result);
      return best && `best: ${JSON.stringify(best.swept)} with ${best.result}\n`;
    },
  },
  (config, job) => {
    const { optimizer, steps, seed } = config.toObject({ resolve: true });
    let x = 1 + (seed % 10);
    let velocity = 0;
    const curve = [];
    for (let step = 0; step < steps; step++) {
      velocity = (optimizer.beta ?? 0) * velocity - optimizer.lr * 2 * x;
      x += velocity;
      curve.push(x * x);
    }
    const loss = Number((x * x).toPrecision(3));
    writeFileSync(join(job.outputDir, "curve.json"), JSON.stringify(curve));
    job.log.info(`${optimizer.name}: loss ${loss} after ${steps} steps`);
    return loss;
  },
);
