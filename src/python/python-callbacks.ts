/**
 * Gets the return value or exception of a Python Hydra program's task, by a callback in its process; and notifies its
 * own callbacks of a sweep as a whole.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import type { Callbacks } from "../app/job/callbacks.ts";
import type { Invocation } from "../app/job/process/invocation.ts";
import { type JobReport, REPORT_VARIABLE, readJobReport } from "../app/record/job-report.ts";
import { getAt, type MapNode } from "../engine/values/node.ts";
import { makeDirectory } from "../foundation/system/files.ts";
import { shellCommand } from "../foundation/text/shell-words.ts";
import CALLBACK from "./sources/hydraconf_result.py";
import WAITING from "./sources/hydraconf_sweep.py";

const MODULE = "hydraconf_result";

/** How the program of one job tells its result. */
export interface ResultReport {
  /** Further overrides of the program. */
  readonly overrides: readonly string[];
  /** Variables to add to its environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Undefined if the program did not reach the end of its task. */
  read(): JobReport | undefined;
  remove(): void;
}

/** A callback in a folder of its own. */
export interface PlacedCallback {
  readonly folder: string;
  /** The value of `PYTHONPATH` with which it is found. */
  readonly path: string;
  /** For a job's program. @param name of its report, a file in the folder */
  report(name: string): ResultReport;
  remove(): void;
}

/**
 * Writes the callback to a new temporary folder, which is removed afterwards: nothing is installed. It must never stop
 * the program: a value without a JSON form becomes a text. If several processes run a job, the first one reports.
 *
 * @param carried files that Python is to find, too
 */
export function placeCallback(env: Invocation["env"], carried: PythonFiles): PlacedCallback {
  const { folder, path, remove } = placeFiles({ ...carried, [`${MODULE}.py`]: CALLBACK }, env);
  return {
    folder,
    path,
    remove,
    report(name) {
      const report = join(folder, name);
      return {
        overrides: [`+hydra.callbacks.${MODULE}._target_=${MODULE}.ResultCallback`],
        env: { PYTHONPATH: path, [REPORT_VARIABLE]: report },
        read: () => readJobReport(report),
        remove: () => rmSync(report, { force: true }),
      };
    },
  };
}

/** For a program of `hydraMain`, which reports without a callback. */
export function placeReport(): ResultReport {
  const folder = mkdtempSync(join(tmpdir(), "hydraconf-report-"));
  const report = join(folder, "report.json");
  return {
    overrides: [],
    env: { [REPORT_VARIABLE]: report },
    read: () => readJobReport(report),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Python sources, and files that they read, by path below a folder. */
export type PythonFiles = Readonly<Record<string, string>>;

/** Writes files to a new folder, which comes first on `PYTHONPATH`. */
export function placeFiles(files: PythonFiles, { PYTHONPATH }: Invocation["env"]) {
  const folder = mkdtempSync(join(tmpdir(), "hydraconf-python-"));
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, name);
    makeDirectory(dirname(path));
    writeFileSync(path, text);
  }
  return {
    folder,
    path: PYTHONPATH ? `${folder}${delimiter}${PYTHONPATH}` : folder,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/**
 * Hydra loads sweepers only from `hydra_plugins`. This one runs nothing: it waits until the jobs are done, which run
 * elsewhere.
 */
const SWEEPER = "hydra_plugins.hydraconf_sweep";

/** Hydra's own callbacks that are called only for jobs. */
const OF_JOBS = /^hydra\.experimental\.(callbacks|pickle_job_info_callback)\./;

/**
 * The sweep callbacks of a Python Hydra program: the program itself is started once in addition to the jobs, with a
 * sweeper that waits for their end. So Hydra calls the callbacks, with the config that it composes. A program without
 * callbacks is not started.
 *
 * @param root the composition of the sweep; undefined for a program without sweep callbacks
 * @param command the command line that begins a multirun of the program
 * @param carried files that Python is to find
 */
export function sweepCallbacks(
  root: MapNode | undefined,
  command: () => readonly string[],
  { console, cwd, env }: Pick<Invocation, "console" | "cwd" | "env">,
  carried: () => PythonFiles,
): Callbacks {
  const listed = root && getAt(root, ["hydra", "callbacks"]);
  const targets = (listed?.kind === "map" ? [...listed.entries.values()] : []).map(({ value }) => {
    const target = getAt(value, ["_target_"]);
    return target?.kind === "scalar" ? String(target.value) : "";
  });
  const isAny = targets.some((target) => !OF_JOBS.test(target));
  let running: RunningSweep | undefined;
  return {
    hasAny: () => isAny,
    async notify(method, event) {
      if (!isAny) return;
      if (method === "onMultirunStart") {
        running = await startSweep(command(), { cwd, env }, carried());
        if (running === undefined)
          console.stderr(
            `warning: the callbacks of the program are not notified of the sweep: it did not start one (${shellCommand(command())})\n`,
          );
      }
      // As in Hydra, callbacks are not notified of the end of a sweep with a failed job.
      if ("results" in event && event.results.every(({ exitCode }) => exitCode === 0))
        await running?.end();
    },
  };
}

interface RunningSweep {
  /** Lets the program notify its callbacks of the end, and waits for the program to end. */
  end(): Promise<void>;
}

/** @returns undefined if the program ended before it reached its sweep */
async function startSweep(
  [file = "", ...args]: readonly string[],
  { cwd, env }: Pick<Invocation, "cwd" | "env">,
  carried: PythonFiles,
): Promise<RunningSweep | undefined> {
  const module = placeFiles({ ...carried, [`${SWEEPER.replace(".", "/")}.py`]: WAITING }, env);
  const path = join(module.folder, "line");
  const lines: Socket[] = [];
  const server = createServer((line) => {
    lines.push(line.unref());
    // The program may end before it is notified.
    line.on("error", () => {});
    server.emit("begun");
  });
  server.listen(path).unref();
  // The path of a socket has at most 107 bytes; that of the temporary directory may be longer.
  const isListening = await once(server, "listening").then(
    () => true,
    () => false,
  );
  if (!isListening) {
    module.remove();
    return undefined;
  }
  const child = spawn(file, [...args, `hydra.sweeper._target_=${SWEEPER}.Waiting`], {
    cwd,
    env: { ...env, PYTHONPATH: module.path, HYDRACONF_SWEEP: path },
    stdio: ["ignore", "inherit", "inherit"],
  });
  const ended = new Promise<void>((settle) => {
    child.once("error", () => settle());
    child.once("exit", () => settle());
  });
  const hasBegun = await Promise.race([
    once(server, "begun").then(() => true),
    ended.then(() => false),
  ]);
  const close = (): void => {
    server.close();
    module.remove();
  };
  if (!hasBegun) {
    close();
    return undefined;
  }
  // An interrupted sweep does not wait for it.
  child.unref();
  return {
    async end() {
      child.ref();
      for (const line of lines) line.end("\n");
      await ended;
      close();
    },
  };
}
