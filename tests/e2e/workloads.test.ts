import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { afterAll, describe, expect, it } from "vitest";
import { watchRecording } from "../../src/profiler/tools/recorder/recording-progress.ts";
import { callCommand } from "../called-command.ts";
import { availableClients, buildFixture } from "../native/fixtures.ts";
import { eventually, until } from "../wait.ts";
import { commandPath, readBundle, startProfile, temporaryDirectory } from "./command.ts";

const here = temporaryDirectory();
afterAll(here.remove);

const profile = (args: readonly string[]) => callCommand("deep-profile", args, { cwd: here.path });
const inHere = (name: string) => join(here.path, name);
const program = (name: string) =>
  fileURLToPath(new URL(`../fixtures/programs/${name}`, import.meta.url));

const client = availableClients("workloads of other kinds")[0];

describe("deep-profile -- PROG", () => {
  it.runIf(client)("profiles an NVTX program that knows nothing of us", async () => {
    if (client === undefined) return;
    const threads = await buildFixture("threads.cc", client);
    const result = await profile(["hydra.run.dir=threads", "--", threads, "3", "10"]);
    expect(result.code).toBe(0);
    const [aggregate] = readBundle(inHere("threads")).reports;
    const even = (aggregate?.regions ?? []).filter(({ name }) => name === "even");
    // Three threads, every second of ten ranges, whatever start/end ranges were open around them.
    expect(even.reduce((sum, { invocations }) => sum + invocations, 0)).toBe(15);
    for (const region of even) {
      // A start/end range of another thread may begin between the two, and lies in the path then.
      const own = region.path.filter((name) => name !== "started by a worker");
      expect(own).toEqual(["outer", "even"]);
      expect(region).toMatchObject({ kernel_count: 0, total_ms: null });
      expect(region.wall_ms).toBeGreaterThan(0);
    }
  });

  it("passes the arguments on as typed, and saves them so that the run can be repeated", async () => {
    const args = ["a=b", "(x)", "it's", "${HOME}", "\\${y}", "--cfg", "job", ""];
    const print = "console.log(JSON.stringify(process.argv.slice(1)))";
    const command = [process.execPath, "-e", print, "--", ...args];
    const result = await profile(["hydra.run.dir=args", "--", ...command]);
    expect(result.code).toBe(0);
    expect(result.stdout.split("\n")).toContain(JSON.stringify(args));
    const saved = readFileSync(inHere("args/inputs.yaml"), "utf8");
    expect(saved).toContain("- ${HOME}\n- \\${y}\n");

    const shown = await profile(["--cfg", "job", "--resolve", "-p", "workload", "--", ...command]);
    expect(shown.stdout).toContain("- it's\n");
  });

  it.each(["stdout", "disabled", "none", "colorlog"])(
    "runs with the log option %s",
    async (log) => {
      const { code, stdout } = await profile([
        `hydra/job_logging=${log}`,
        `hydra.run.dir=log-${log}`,
        "--",
        process.execPath,
        "-e",
        "0",
      ]);
      expect([code, stdout.includes("No regions.")]).toEqual([0, true]);
    },
  );

  it("says that a program without NVTX has no regions", async () => {
    const result = await profile(["hydra.run.dir=plain", "--", process.execPath, "-e", "0"]);
    expect(result.code).toBe(0);
    expect(readBundle(inHere("plain")).reports[0]?.notes.join("\n")).toMatch(/no matching regions/);
  });

  it("shows control characters in the last words of a workload, and obeys none", async () => {
    const script =
      "process.stderr.write('ding\\x07dong \\x1b[31mbad\\x1b[0m\\x1b]0;owned\\x07 \\x9b2J\\x07\\n'); process.exitCode = 3";
    const failing = [process.execPath, "-e", script];
    const result = await profile(["hydra.run.dir=controls", "--", ...failing]);
    const told = result.stderr.slice(result.stderr.indexOf("node ended with exit code 3"));
    expect(told).toContain("ding\\u{7}dong bad");
    for (const text of [told, result.stdout])
      expect(text.replaceAll("\n", "")).not.toMatch(/\p{Cc}/u);
  });

  it("tells once how a workload failed, with its last words, and reports what there is", async () => {
    const failing = [process.execPath, program("fail.mjs"), "7"];
    const result = await profile(["hydra.run.dir=failed", "--", ...failing]);
    expect(result.code).toBe(1);
    // Once in the answer, for who reads standard output alone, and once as the error.
    expect(result.stdout.match(/exit code 7/g)).toHaveLength(1);
    expect(result.stderr.match(/exit code 7/g)).toHaveLength(1);
    expect(result.stderr).toContain(
      "\nnode ended with exit code 7; the end of its standard error (all of it is in failed/recorder/stderr.txt):\n  problem 21\n",
    );
    expect(result.stderr.trimEnd().endsWith("\n  problem 30")).toBe(true);
    const log = readFileSync(inHere("failed/run.log"), "utf8");
    expect(log).toContain(
      "[deep-profile.failure][ERROR] - node ended with exit code 7; the end of",
    );
    const notes = readBundle(inHere("failed")).reports[0]?.notes.join("\n");
    expect(notes).toContain("exit code 7");
  });

  it.runIf(client)("keeps what a crashing program did before it crashed", async () => {
    if (client === undefined) return;
    const endings = await buildFixture("endings.cc", client);
    const result = await profile(["hydra.run.dir=crash", "--", endings, "segv"]);
    expect(result.code).toBe(1);
    const [report] = readBundle(inHere("crash")).reports;
    expect(report?.regions.length).toBeGreaterThan(0);
    expect(report?.notes.join("\n")).toContain("SIGSEGV");
  });

  it("says what cannot be started", async () => {
    const result = await profile(["hydra.run.dir=absent", "--", "no-such-program"]);
    expect(result.code).toBe(1);
    expect(result.stderr).toContain("'no-such-program' was not found");
    expect(existsSync(inHere("absent"))).toBe(false);
  });

  it("is a usage error with nothing behind the dashes", async () => {
    const result = await profile(["--"]);
    expect(result.code).toBe(2);
    expect(result.stderr).toContain("no program follows '--'");
  });
});

describe("deep-profile workload=python_module", () => {
  it("starts the module with its overrides and a run directory of its own", async () => {
    mkdirSync(inHere("my_package"));
    writeFileSync(
      inHere("my_package/train.py"),
      "import json, sys\nprint(json.dumps(sys.argv[1:]))\n",
    );
    const result = await profile([
      "workload=python_module",
      "workload.module=my_package.train",
      "workload.overrides=['lr=0.1']",
      "hydra.run.dir=python",
    ]);
    expect(result.code).toBe(0);
    const expected = ["lr=0.1", `hydra.run.dir='${inHere("python/workload")}'`];
    const said = result.stdout.split("\n").filter((line) => line.startsWith('["'));
    expect(said.map((line) => JSON.parse(line))).toEqual([expected]);
  });
});

describe("Ctrl-C", () => {
  it("keeps the data on a terminal, too, while progress is shown", async () => {
    const { exitCode, stdout } = await execa(
      "python3",
      [
        program("in_terminal.py"),
        "recording dummy_shallow_resnet: ",
        process.execPath,
        commandPath("deep-profile"),
        "infer.iterations=1000000",
        "device=cpu",
        "hydra.run.dir=terminal",
      ],
      // Spinners are drawn on terminals only, and in CI not even there.
      { cwd: here.path, env: { TERM: "xterm", CI: undefined }, reject: false, stdin: "ignore" },
    );
    expect(exitCode).toBe(130);
    expect(stdout).toContain("terminal/recorder/regions/report.json");
    expect(existsSync(inHere("terminal/recorder/regions/report.json"))).toBe(true);
  });

  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)("%s stops the workload, keeps the data and ends with %i", async (signal, code) => {
    const run = `interrupted-${signal}`;
    // A forward pass that takes long enough to be interrupted.
    const child = startProfile(
      ["infer.iterations=1000000", "device=cpu", `hydra.run.dir=${run}`],
      here.path,
    );
    const ended = new Promise<number | null>((resolve) => child.on("exit", resolve));
    const progress = watchRecording(inHere(`${run}/recorder`));
    await until(() => progress().ranges > 100);
    child.kill(signal);
    expect(await ended).toBe(code);
    const [report] = readBundle(inHere(run)).reports;
    expect(report?.totals.invocations).toBeGreaterThan(10);
    expect(report?.notes.join("\n")).toContain(`stopped by ${signal}`);
  });
});

describe("a second Ctrl-C", () => {
  it("kills a workload that ignores the first one, and still reports", async () => {
    const stubborn = [process.execPath, program("hang.mjs"), "--stubborn"];
    const child = startProfile(["hydra.run.dir=stubborn", "--", ...stubborn], here.path);
    const ended = new Promise<number | null>((resolve) => child.on("exit", resolve));
    const said = (stream: string) =>
      readFileSync(inHere(`stubborn/recorder/${stream}.txt`), "utf8");
    const pids = await eventually(() => JSON.parse(said("stdout")));
    child.kill("SIGINT");
    await until(() => said("stderr").includes("ignored SIGINT"));
    // Signals within half a second count as one.
    await sleep(800);
    child.kill("SIGINT");
    expect(await ended).toBe(130);
    expect(() => process.kill(pids.pid, 0)).toThrow();
    expect(existsSync(inHere("stubborn/report.md"))).toBe(true);
  });
});

describe("a reader that goes away", () => {
  it("does not stop the workload, and does not hang", async () => {
    const many = "for (let i = 0; i < 50000; i++) console.log('line', i)";
    const child = startProfile(
      ["hydra.run.dir=piped", "--", process.execPath, "-e", many],
      here.path,
    );
    const ended = new Promise<number | null>((resolve) => child.on("exit", resolve));
    child.stdout?.once("data", () => child.stdout?.destroy());
    expect(await ended).toBe(0);
    const kept = readFileSync(inHere("piped/recorder/stdout.txt"), "utf8");
    expect(kept.trimEnd().split("\n")).toHaveLength(50_000);
  });
});
