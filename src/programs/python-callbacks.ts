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
import type { Callbacks } from "../job/callbacks.ts";
import type { Invocation } from "../job/process/invocation.ts";
import { makeDirectory } from "../system/files.ts";
import { shellCommand } from "../text/shell-words.ts";
import { getAt, type MapNode } from "../values/node.ts";
import { readIfThere } from "./job-result.ts";
import type { ProgramError } from "./program-failure.ts";

const MODULE = "hydraconf_result";

/**
 * Hydra passes it every job. It must never stop the program: a value without a JSON form becomes a text. If several
 * processes run a job, the first one reports.
 */
const SOURCE = `"""Tells the process that started this program what its task returned (hydraconf run)."""
import json
import os
import traceback


def _plain(value):
    for name in ("item", "tolist"):
        method = getattr(value, name, None)
        if callable(method):
            try:
                return method()
            except Exception:
                pass
    if isinstance(value, (set, frozenset, tuple)):
        return list(value)
    try:
        from omegaconf import OmegaConf

        if OmegaConf.is_config(value):
            return OmegaConf.to_container(value, resolve=True)
    except Exception:
        pass
    try:
        return float(value)
    except Exception:
        return str(value)


def _error(raised):
    frames = traceback.extract_tb(raised.__traceback__)
    own = [frame for frame in frames if "/site-packages/" not in frame.filename and "/hydra/" not in frame.filename]
    last = own[-1] if own else (frames[-1] if frames else None)
    report = traceback.format_exception_only(type(raised), raised)[-1].strip().split("\\n")[0]
    return {
        "message": report,
        "file": last.filename if last else None,
        "line": last.lineno if last else None,
    }


def _keys(value):
    if isinstance(value, dict):
        return {key if isinstance(key, str) else str(key): _keys(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_keys(one) for one in value]
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    return value


def _nothing(*args, **kwargs):
    pass


class ResultCallback:
    def __init__(self):
        # A job of a sweep is no run of its own to the callbacks of the program.
        if os.environ.get("HYDRACONF_JOB_NUMBER"):
            try:
                from hydra._internal.callbacks import Callbacks

                Callbacks.on_run_start = Callbacks.on_run_end = _nothing
            except Exception:
                pass

    def __getattr__(self, name):
        if name.startswith("on_"):
            return _nothing
        raise AttributeError(name)

    def on_job_end(self, config=None, job_return=None, **kwargs):
        path = os.environ.get("HYDRACONF_JOB_REPORT")
        if not path or os.environ.get("RANK", "0") != "0" or os.environ.get("SLURM_PROCID", "0") != "0":
            return
        try:
            returned = getattr(job_return, "_return_value", None)
            if isinstance(returned, BaseException) and getattr(job_return.status, "name", "") == "FAILED":
                report = {"error": _error(returned)}
            else:
                report = {"result": _keys(returned)}
            with open(path + ".new", "w", encoding="utf-8") as file:
                json.dump(report, file, default=_plain)
            os.replace(path + ".new", path)
        except Exception as problem:
            print("hydraconf: the job's result could not be reported: %s" % problem)
`;

/** The report of the callback. */
export interface JobReport {
  readonly result?: unknown;
  readonly error?: ProgramError;
}

/** The callback for one job, placed where Python finds it. */
export interface ResultCallback {
  /** The override that adds it to the callbacks of the program's own config. */
  readonly override: string;
  readonly env: Readonly<Record<string, string>>;
  /** Undefined if the program did not reach the end of its task. */
  read(): JobReport | undefined;
  remove(): void;
}

/** Writes the callback to a new temporary folder, which is removed afterwards: nothing is installed. */
export function placeCallback(env: Readonly<Record<string, string | undefined>>): ResultCallback {
  const { folder, path, remove } = placeModule(`${MODULE}.py`, SOURCE, env);
  const report = join(folder, "report.json");
  return {
    override: `+hydra.callbacks.${MODULE}._target_=${MODULE}.ResultCallback`,
    env: { PYTHONPATH: path, HYDRACONF_JOB_REPORT: report },
    read: () => readReport(report),
    remove,
  };
}

/** Writes a module to a new folder, which comes first on `PYTHONPATH`. */
function placeModule(file: string, source: string, { PYTHONPATH }: Invocation["env"]) {
  const folder = mkdtempSync(join(tmpdir(), "hydraconf-python-"));
  const path = join(folder, file);
  makeDirectory(dirname(path));
  writeFileSync(path, source);
  return {
    folder,
    path: PYTHONPATH ? `${folder}${delimiter}${PYTHONPATH}` : folder,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function readReport(file: string): JobReport | undefined {
  const text = readIfThere(file);
  if (text === undefined) return undefined;
  try {
    const { error, result } = JSON.parse(text);
    if (error === undefined) return { result };
    const { file: source, line, message } = error;
    return {
      error: {
        message: String(message),
        ...(typeof source === "string" && { file: source }),
        ...(typeof line === "number" && { line }),
      },
    };
  } catch {
    return undefined;
  }
}

const SWEEPER = "hydra_plugins.hydraconf_sweep";

/**
 * Hydra loads sweepers only from `hydra_plugins`. This one runs nothing: it waits until the jobs are done, which run
 * elsewhere.
 */
const SWEEPER_SOURCE = `"""Stands in the sweep of this program, whose jobs run elsewhere (hydraconf run)."""
import os
import shutil
import signal
import socket

from hydra.plugins.sweeper import Sweeper


class Waiting(Sweeper):
    def __init__(self, **settings):
        pass

    def setup(self, **given):
        pass

    def sweep(self, arguments):
        # Whoever runs the jobs decides when they end.
        for name in ("SIGINT", "SIGQUIT", "SIGHUP"):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
        with socket.socket(socket.AF_UNIX) as line:
            line.connect(os.environ["HYDRACONF_SWEEP"])
            if not line.recv(1):
                shutil.rmtree(os.path.dirname(os.environ["HYDRACONF_SWEEP"]), ignore_errors=True)
                os._exit(0)
`;

/** Hydra's own callbacks that are called only for jobs. */
const OF_JOBS = /^hydra\.experimental\.(callbacks|pickle_job_info_callback)\./;

/**
 * The sweep callbacks of a Python Hydra program: the program itself is started once in addition to the jobs, with a
 * sweeper that waits for their end. So Hydra calls the callbacks, with the config that it composes. A program without
 * callbacks is not started.
 *
 * @param root the composition of the sweep; undefined for a program without sweep callbacks
 * @param command the command line that begins a multirun of the program
 */
export function sweepCallbacks(
  root: MapNode | undefined,
  command: () => readonly string[],
  { console, cwd, env }: Pick<Invocation, "console" | "cwd" | "env">,
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
        running = await startSweep(command(), { cwd, env });
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
): Promise<RunningSweep | undefined> {
  const module = placeModule(`${SWEEPER.replace(".", "/")}.py`, SWEEPER_SOURCE, env);
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
