/** How a program of Python's Hydra tells what its task returned or raised: a callback of its own process. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { readIfThere } from "./job-result.ts";
import type { ProgramError } from "./program-failure.ts";

const MODULE = "hydraconf_result";

/**
 * Hydra gives it to every job. Nothing of it may stop the program: what has no form in JSON becomes a text. Of a job in several
 * processes the first one tells.
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
    told = traceback.format_exception_only(type(raised), raised)[-1].strip().split("\\n")[0]
    return {
        "message": told,
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


class ResultCallback:
    def __getattr__(self, name):
        if name.startswith("on_"):
            return lambda *args, **kwargs: None
        raise AttributeError(name)

    def on_job_end(self, config=None, job_return=None, **kwargs):
        path = os.environ.get("HYDRACONF_TOLD")
        if not path or os.environ.get("RANK", "0") != "0" or os.environ.get("SLURM_PROCID", "0") != "0":
            return
        try:
            returned = getattr(job_return, "_return_value", None)
            if isinstance(returned, BaseException) and getattr(job_return.status, "name", "") == "FAILED":
                told = {"error": _error(returned)}
            else:
                told = {"result": _keys(returned)}
            with open(path + ".new", "w", encoding="utf-8") as file:
                json.dump(told, file, default=_plain)
            os.replace(path + ".new", path)
        except Exception as problem:
            print("hydraconf: the job's result could not be told: %s" % problem)
`;

/** What a program told through the callback. */
export interface Told {
  readonly result?: unknown;
  readonly error?: ProgramError;
}

/** The callback, where Python finds it, for one job. */
export interface ResultCallback {
  /** The override that adds it to those of the program's own config. */
  readonly override: string;
  readonly env: Readonly<Record<string, string>>;
  /** Undefined where the program did not come to the end of its task. */
  read(): Told | undefined;
  remove(): void;
}

/** Writes the callback into a new folder of its own, which is removed afterwards: nothing is installed. */
export function placeCallback(env: Readonly<Record<string, string | undefined>>): ResultCallback {
  const folder = mkdtempSync(join(tmpdir(), "hydraconf-python-"));
  const told = join(folder, "told.json");
  writeFileSync(join(folder, `${MODULE}.py`), SOURCE);
  const { PYTHONPATH } = env;
  return {
    override: `+hydra.callbacks.${MODULE}._target_=${MODULE}.ResultCallback`,
    env: {
      PYTHONPATH: PYTHONPATH ? `${folder}${delimiter}${PYTHONPATH}` : folder,
      HYDRACONF_TOLD: told,
    },
    read: () => readTold(told),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function readTold(file: string): Told | undefined {
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
