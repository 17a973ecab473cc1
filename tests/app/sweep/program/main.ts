/**
 * A program for tests that need processes. `x` is its input; `do` says how it behaves. It leaves a
 * line in `ran.txt` of its working directory when a job begins and when it ends well.
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { type Callback, exitCode, hydraMain } from "../../../../src/app/index.ts";
import { runSweepCommand } from "../../../../src/app/sweep/sweep-command.ts";
import { createTargets } from "../../../../src/instantiate/index.ts";

const RAN = `${process.cwd()}/ran.txt`;

const wait = (seconds: number) => new Promise((done) => setTimeout(done, seconds * 1000));

void hydraMain(
  {
    name: "prog",
    base: process.cwd(),
    configPath: "conf",
    configName: "config",
    flags: [{ id: "fast", names: ["--fast"], takes: "nothing", help: "a flag of its own" }],
    resultFiles: process.env["PROG_RESULTS"] === undefined ? [] : ["result.txt"],
    restAsOverrides: () => [],
    targets: createTargets({
      "prog.Tell": (): Callback => ({
        onMultirunStart: () => appendFileSync(RAN, "sweep begins\n"),
        onMultirunEnd: ({ results }) => appendFileSync(RAN, `sweep ends ${results.length}\n`),
      }),
    }),
    subcommands: [{ name: "sweep", summary: "as hydraconf's", run: runSweepCommand }],
  },
  async (config, job) => {
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
        process.exit(3);
        break;
      case "code":
        return exitCode(4, x);
      case "crash":
        setTimeout(() => {
          throw new TypeError("out of the blue");
        });
        await wait(60);
        break;
      case "kill":
        process.kill(process.pid, "SIGKILL");
        await wait(60);
        break;
      case "stubborn":
        process.on("SIGTERM", () => {});
        await wait(60);
        break;
      case "touchy":
        await new Promise((_, fail) => {
          process.on("SIGTERM", () => fail(new Error("how dare you")));
          appendFileSync(RAN, `listens ${job.number}\n`);
          setTimeout(() => {}, 60_000);
        });
        break;
      case "saves":
        await new Promise((done) => {
          for (const signal of ["SIGTERM", "SIGUSR2"]) process.once(signal, done);
          setTimeout(done, 60_000);
        });
        return "saved in time";
      // Until the test lets it go on (`release` of its workplace).
      case "hold":
        while (!existsSync(`${process.cwd()}/released`)) await wait(0.02);
        break;
      case "graceful": {
        const signal = await new Promise<void>((done) => {
          const timer = setInterval(() => {}, 1000);
          process.once("SIGTERM", () => {
            clearInterval(timer);
            done();
          });
        });
        void signal;
        return exitCode(143, "stopped in its own way");
      }
    }
    await wait(Number(config.get("seconds")));
    appendFileSync(RAN, `end ${job.number} ${process.pid} ${gpu} ${Date.now()}\n`);
    return { x, square: Number(x) ** 2, fast: job.flags.has("fast"), rest: job.restArgs };
  },
).then((code) => {
  process.exitCode = code;
});

function readLines(): readonly string[] {
  try {
    return readFileSync(RAN, "utf8").split("\n");
  } catch {
    return [];
  }
}
