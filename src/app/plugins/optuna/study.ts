/** An Optuna study in a Python process. */
import { createHash } from "node:crypto";
import { ConfigError } from "../../../engine/values/errors.ts";
import type { MapNode } from "../../../engine/values/node.ts";
import { pyStr } from "../../../engine/values/python-text.ts";
import { asDeclared } from "../../../engine/values/resolution/context.ts";
import { selectNode } from "../../../engine/values/resolution/select.ts";
import { once } from "../../../foundation/system/get-or-create.ts";
import { refuseSetting } from "../../sweep/sweepers/search-settings.ts";
import type { SweeperMessage, SweeperRequest } from "../../sweep/sweepers/sweeper.ts";
import { interpreterOf } from "../python/interpreter.ts";
import {
  type Encoded,
  encodeNode,
  encodeScalar,
  PythonEnded,
  type PythonFailure,
  type PythonPeer,
  startPython,
} from "../python/python-peer.ts";
import SOURCE from "./optuna_study.py";

export interface Study {
  /** How many trials there are to ask for. */
  readonly trials: number;
  /** @throws ConfigError `app.launcher` for an error of Optuna or of the project */
  call<Value>(name: string, argument: unknown): Value;
  /** Adds a message to those of the study. */
  note(level: SweeperMessage["level"], text: string): void;
  /** The messages since the last call. */
  takeNotes(): readonly SweeperMessage[];
  close(): void;
}

interface StudySettings {
  /** A dotted path of a function that extends the space; null for none. */
  readonly custom: string | null;
  readonly trials: number;
  readonly [setting: string]: unknown;
}

/** The name of the plugin's logger, which log configs may use. */
const LOGGER = "hydra_plugins.hydra_optuna_sweeper._impl";

/** What stands for a sampler in Hydra 1.4. */
const REMOVED = "hydra_plugins.hydra_optuna_sweeper.config.raise_motpe_removed";

/**
 * Opens a study in the project's Python, with the sampler and the storage that the config describes.
 *
 * @throws ConfigError `app.launcher` if there is no Optuna, or it refuses the settings; `plugin.untrusted` if the user has not
 * trusted the settings that name the Python
 */
export function openStudy(request: SweeperRequest, settings: StudySettings): Study {
  const { context, directory, isPlan = false, master, project } = request;
  const { cwd, env, python: named } = project ?? { cwd: process.cwd(), env: process.env };
  if (named?.refusal !== undefined) throw named.refusal;
  const python = interpreterOf(named === undefined ? {} : { python: named }, { cwd, env });
  const encodedAt = (name: string): Encoded => {
    const node = selectNode(master.root, `hydra.sweeper.${name}`, asDeclared(context), {
      deep: true,
    });
    return node === undefined ? null : encodeNode(node);
  };
  refuseRemoved(request);
  const notes: SweeperMessage[] = [];
  const note: Study["note"] = (level, text) => {
    notes.push({ logger: LOGGER, level, text });
  };
  const peer = once((): PythonPeer => startPython(SOURCE, [], { python, cwd, env }));
  const call = <Value>(name: string, argument: unknown): Value => {
    const answer = asked<Value>(peer, JSON.stringify({ [name]: argument }), python);
    for (const [level, text] of answer.notes) note(level, text);
    return answer.result;
  };
  const trials = call<number>("open", {
    ...settings,
    sampler: encodedAt("sampler"),
    storage: encodedAt("storage"),
    pruner: encodedAt("pruner"),
    ...(settings.custom === null
      ? { config: null, folders: [] }
      : { config: configOf(master.root, context), folders: [cwd] }),
    seed: seedOf(directory),
    sweep: directory,
    is_plan: isPlan,
    excludes_stop: context.dialect.newerPlugins,
  });
  return {
    trials,
    call,
    note,
    takeNotes: () => notes.splice(0),
    close: () => peer().close(),
  };
}

interface Noted<Value> {
  readonly result: Value;
  readonly notes: readonly (readonly [SweeperMessage["level"], string])[];
}

function asked<Value>(peer: () => PythonPeer, question: string, python: string): Noted<Value> {
  try {
    const answer = peer().ask<Noted<Value>>(question);
    if ("value" in answer) return answer.value;
    throw failed(answer, python);
  } catch (error) {
    if (!(error instanceof PythonEnded)) throw error;
    throw new ConfigError({
      code: "app.launcher",
      message: `hydra/sweeper=optuna: the Python '${python}' could not be asked: ${error.message}`,
      key: "hydra.sweeper",
      hint: `name the project's own: python: .venv/bin/python in hydraconf.yaml; ${WITHOUT_PYTHON}`,
    });
  }
}

const WITHOUT_PYTHON = "hydra/sweeper=tpe searches without Python";

function failed({ error, file, line }: PythonFailure, python: string): ConfigError {
  const where = file ? ` (${file.split("/").at(-1)}:${line})` : "";
  const lacks = /^LookupError: no optuna/.test(error)
    ? "optuna"
    : /cmaes/i.test(error) && /import/i.test(error)
      ? "cmaes"
      : undefined;
  if (lacks === undefined)
    return new ConfigError({
      code: "app.launcher",
      message: `hydra/sweeper=optuna: ${error}${where}`,
      key: "hydra.sweeper",
    });
  return new ConfigError({
    code: "app.launcher",
    message: `hydra/sweeper=optuna: the Python '${python}' has no module '${lacks}'`,
    key: "hydra.sweeper",
    hint: `install it: ${python} -m pip install ${lacks} (Debian: apt-get install python3-${lacks}), or name another Python (python: .venv/bin/python in hydraconf.yaml); ${WITHOUT_PYTHON}`,
  });
}

function refuseRemoved(request: SweeperRequest): void {
  const { context, master } = request;
  const target = selectNode(master.root, "hydra.sweeper.sampler._target_", asDeclared(context));
  if (target === undefined || pyStr(target) !== REMOVED) return;
  refuseSetting(request, "sampler")("is motpe, which Optuna does not have any more", {
    hint: "hydra/sweeper/sampler=tpe has several directions, too",
  });
}

/** The config of the sweep; what cannot be resolved there is given as written. */
const configOf = (root: MapNode, context: SweeperRequest["context"]): Encoded => ({
  m: [...root.entries.values()].map(({ key, value }) => {
    const name = encodeScalar(key);
    try {
      const resolved = selectNode(root, String(key), asDeclared(context), { deep: true });
      return [name, encodeNode(resolved ?? value)] as const;
    } catch {
      return [name, encodeNode(value)] as const;
    }
  }),
});

/** A seed for a sampler without one: the same when the sweep goes on. */
const seedOf = (directory: string): number =>
  createHash("sha256").update(directory).digest().readUInt32LE(0) >>> 2;

/** What a task returned, or what is left of it in a record. */
export function encodedValue(value: unknown): Encoded {
  if (value === null || value === undefined) return null;
  if (typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number" || typeof value === "bigint") return encodeScalar(value);
  if (Array.isArray(value) || ArrayBuffer.isView(value))
    return { l: Array.from(value as ArrayLike<unknown>, encodedValue) };
  return typeof value === "object"
    ? { m: Object.entries(value).map(([key, element]) => [key, encodedValue(element)] as const) }
    : String(value);
}
