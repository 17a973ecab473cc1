/** The program whose sweeps meet faults. Its executions lies outside of the sweep's directory: nothing keeps a job from writing there. */
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import type { HydraMainOptions } from "../../../../src/app/cli/check-main.ts";
import type { Task } from "../../../../src/app/job/job.ts";

/** As in the config below, from the directory of a job. */
const EXECUTIONS = "../../../executions";

export const CONFIG = `x: 1
hydra:
  sweep:
    dir: faulty/s
    subdir: \${hydra:job.num}
`;

export const options = (base: string): HydraMainOptions => ({
  name: "prog",
  base,
  configPath: "conf",
  configName: "config",
  resultFiles: ["result.txt"],
});

export const task: Task = async (config, { log, number, outputDir }) => {
  const tell = (what: string) => appendFileSync(join(outputDir, EXECUTIONS), `${what} ${number}\n`);
  tell("begin");
  log.info("at work");
  const x = Number(config.get("x"));
  tell("end");
  return { x, square: x ** 2 };
};
