import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa, type Options } from "execa";
import { hydraMain } from "../../../../src/app/cli/hydra-main.ts";
import { type JobState, readJobState } from "../../../../src/app/record/job-state.ts";
import { sweepFolder } from "../../../../src/app/record/layout.ts";
import { bundled } from "../../../bundled.ts";
import { capturedConsole } from "../../../captured-console.ts";
import { optionsIn } from "./program.ts";

const CONFIG = `x: 1
do: ok
seconds: 0
hydra:
  sweep:
    dir: s
    subdir: \${hydra:job.num}
`;

const HOOK = fileURLToPath(new URL("../../../foundation/system/kill-at/hook.cjs", import.meta.url));

/** The program as one file, so that a process of it starts quickly. */
export const builtProgram = () =>
  bundled(new URL("main.ts", import.meta.url), "prog", (program, env) => {
    const cwd = withConfig(CONFIG);
    for (const argv of [
      ["-m", "x=1,2"],
      ["-m", "x=1,2", "hydra.sweep.dir=t", "hydra/launcher=local"],
      ["sweep", "status", "s"],
    ])
      execFileSync(process.execPath, [program, ...argv], { cwd, env, stdio: "ignore" });
  });

function withConfig(config: string): string {
  const cwd = mkdtempSync(join(tmpdir(), "hydraconf-sweep-"));
  mkdirSync(join(cwd, "conf"));
  writeFileSync(join(cwd, "conf/config.yaml"), config);
  return cwd;
}

/** The task where only the launcher is in this process. */
const notHere = () => Promise.reject(new Error("it runs in the process of the launcher"));

const places = new Set<string>();

/**
 * Ends what tests left running in their workplaces: launchers, and workers that no longer have one. A test that
 * succeeds leaves nothing.
 */
export function endWorkplaces(): void {
  const running = places.size > 0 && existsSync("/proc") ? readdirSync("/proc") : [];
  for (const pid of running.filter((name) => /^\d+$/.test(name)))
    try {
      if (places.has(readlinkSync(`/proc/${pid}/cwd`))) process.kill(Number(pid), "SIGKILL");
    } catch {
      // It has ended by itself, or is somebody else's.
    }
  places.clear();
}

/** A working directory for the program, with its config. */
export function workplace(config = CONFIG) {
  const cwd = withConfig(config);
  places.add(realpathSync(cwd));
  const command = [process.execPath, builtProgram()];
  const folder = sweepFolder(join(cwd, "s"));
  return {
    cwd,
    folder,
    command,
    /** `hydraconf sweep ...` on a process of its own; the same result. */
    sweep: (argv: readonly string[], options: Options = {}) =>
      execa(process.execPath, [builtProgram(), "sweep", ...argv], {
        cwd,
        reject: false,
        stdin: "ignore",
        ...options,
      }),
    /** Starts the program under `system/kill-at`, which reads its orders from the environment. */
    startHooked: (argv: readonly string[], env: Readonly<Record<string, string>>) =>
      execa(process.execPath, ["--require", HOOK, builtProgram(), ...argv], {
        cwd,
        reject: false,
        stdin: "ignore",
        env,
      }),
    /** Starts the program; its result has `exitCode`, `stdout`, `stderr`. */
    start: (argv: readonly string[], options: Options = {}) =>
      execa(process.execPath, [builtProgram(), ...argv], {
        cwd,
        reject: false,
        stdin: "ignore",
        ...options,
      }),
    /** The same in this process, whose workers are processes of the program. */
    async launch(argv: readonly string[]) {
      const { console, out } = capturedConsole();
      const [, script = ""] = command;
      const invocation = { argv, command, console, cwd, env: { ...process.env }, script };
      const exitCode = await hydraMain(optionsIn(cwd), notHere, invocation);
      return { exitCode, ...out };
    },
    state: (number: number): JobState | undefined => readJobState(folder, number),
    /** What `ran.txt` says: lines of a kind, as numbers of jobs. */
    ran: (kind: "begin" | "end"): readonly number[] =>
      lines(join(cwd, "ran.txt")).flatMap((line) =>
        line.startsWith(`${kind} `) ? [Number(line.split(" ")[1])] : [],
      ),
    lines: (name: string) => lines(join(cwd, name)),
    /** Lets jobs with `do=hold` go on. */
    release: () => writeFileSync(join(cwd, "released"), ""),
  };
}

function lines(file: string): readonly string[] {
  try {
    return readFileSync(file, "utf8").split("\n").slice(0, -1);
  } catch {
    return [];
  }
}
