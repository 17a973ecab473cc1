/**
 * A program for tests that need processes. `x` is its input; `do` says how it behaves. It leaves a
 * line in `ran.txt` of its working directory when a job begins and when it ends well.
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { HydraMainOptions } from "../../../../src/app/cli/check-main.ts";
import { runSweepCommand } from "../../../../src/app/cli/sweep-command.ts";
import type { Callback } from "../../../../src/app/job/callbacks.ts";
import { exitCode, type Task } from "../../../../src/app/job/job.ts";
import { createTargets } from "../../../../src/engine/instantiate/module-targets.ts";

const RAN = join(process.cwd(), "ran.txt");

const wait = (seconds: number) => new Promise((done) => setTimeout(done, seconds * 1000));

/** Goes on until something ends the process, or the task. */
const forever = () => new Promise<never>(() => setInterval(() => {}, 60_000));

/** Goes on until one of the signals has come. */
const signalled = (...signals: readonly NodeJS.Signals[]) =>
  new Promise<void>((done) => {
    const alive = setInterval(() => {}, 60_000);
    const onSignal = () => {
      clearInterval(alive);
      done();
    };
    for (const signal of signals) process.once(signal, onSignal);
  });

/** What the program is, in this directory. */
export function optionsIn(cwd: string): HydraMainOptions {
  const ran = join(cwd, "ran.txt");
  return {
    name: "prog",
    base: cwd,
    configPath: "conf",
    configName: "config",
    choosesDialect: true,
    flags: [{ id: "fast", names: ["--fast"], takes: "nothing", help: "a flag of its own" }],
    ...(existsSync(`${cwd}/conf/schema.json`) ? { schema: "conf/schema.json" } : {}),
    resultFiles: process.env["PROG_RESULTS"] === undefined ? [] : ["result.txt"],
    restAsOverrides: () => [],
    targets: createTargets({
      "prog.Tell": (): Callback => ({
        onMultirunStart: () => appendFileSync(ran, "sweep begins\n"),
        onMultirunEnd: ({ results }) => appendFileSync(ran, `sweep ends ${results.length}\n`),
      }),
      "prog.TellEnds": (): Callback => ({
        onJobEnd: ({ result }) =>
          appendFileSync(ran, `job ends ${result.status} ${result.exitCode}\n`),
        onRunEnd: ({ result }) => appendFileSync(ran, `run ends ${result.status}\n`),
        onMultirunEnd: () => appendFileSync(ran, "sweep ends\n"),
      }),
    }),
    subcommands: [{ name: "sweep", summary: "as hydraconf's", run: runSweepCommand }],
  };
}

/** What a job of it does, in the process that was started for it. */
export const task: Task = async (config, job) => {
  const x = config.get("x");
  const attempts = readLines().filter((line) => line.startsWith(`begin ${job.number} `)).length;
  const gpu = process.env["CUDA_VISIBLE_DEVICES"] ?? "-";
  appendFileSync(RAN, `begin ${job.number} ${process.pid} ${gpu} ${Date.now()}\n`);
  console.log(`x is ${x}`);
  switch (config.get("do")) {
    case "fail":
      throw new Error(`boom ${x}\nsecond line`);
    case "flaky":
      if (attempts < 2) throw new Error(`not yet ${x}`);
      break;
    case "exit":
      return process.exit(3);
    case "code":
      return exitCode(4, { returnValue: x });
    case "crash":
      setTimeout(() => {
        throw new TypeError("out of the blue");
      });
      await forever();
      break;
    case "kill":
      process.kill(process.pid, "SIGKILL");
      await forever();
      break;
    case "hungry":
      for (const all: unknown[] = []; ; ) all.push(new Array(1e6).fill(all.length + 0.5));
    case "gone after":
      // Its process ends when it is told of its next job, before it can do anything for it.
      process.prependListener("message", () => process.kill(process.pid, "SIGKILL"));
      return { x };
    case "stubborn":
      process.on("SIGTERM", () => {});
      await forever();
      break;
    case "touchy": {
      const asked = signalled("SIGTERM");
      appendFileSync(RAN, `listens ${job.number}\n`);
      await asked;
      throw new Error("how dare you");
    }
    case "saves":
      await signalled("SIGTERM", "SIGUSR2");
      return "saved in time";
    case "interruptible":
      await signalled("SIGINT");
      return "in its own way";
    case "saves slowly":
      await signalled("SIGTERM");
      appendFileSync(RAN, `saves ${job.number}\n`);
      await signalled("SIGTERM");
      return "saved in time";
    // Until the test lets it go on (`release` of its workplace).
    case "hold":
      while (!existsSync(`${process.cwd()}/released`)) await wait(0.02);
      break;
    // The first job is better than all others, which go on until they are ended.
    case "report":
      for (let step = 1; step === 1 || job.number !== 0; step++) {
        job.report(step, { loss: job.number === 0 ? 1 : 2 });
        await wait(0.02);
      }
      break;
    case "graceful":
      await signalled("SIGTERM");
      return exitCode(143, { returnValue: "stopped in its own way" });
  }
  await wait(Number(config.get("seconds")));
  appendFileSync(RAN, `end ${job.number} ${process.pid} ${gpu} ${Date.now()}\n`);
  return { x, square: Number(x) ** 2, fast: job.flags.has("fast"), rest: job.restArgs };
};

function readLines(): readonly string[] {
  try {
    return readFileSync(RAN, "utf8").split("\n");
  } catch {
    return [];
  }
}
