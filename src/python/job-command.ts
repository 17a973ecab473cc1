/** The command of one job: its arguments, its environment, and its config file. */

import { join } from "node:path";
import type { JobFacts } from "../app/job/options.ts";
import { isOverrideOfHydra, overrideText, parseOverride } from "../engine/overrides/index.ts";
import { ConfigError, isConfigError } from "../engine/values/errors.ts";
import { nearestKey } from "../engine/values/key-path.ts";
import { limitsOf } from "../engine/values/limits.ts";
import {
  type ConfigNode,
  child,
  getAt,
  type MapNode,
  scalar,
  withEntry,
} from "../engine/values/node.ts";
import { fromCode } from "../engine/values/origin.ts";
import { toObject } from "../engine/values/plain-objects.ts";
import { pyStr } from "../engine/values/python-text.ts";
import { selectNode } from "../engine/values/resolution/select.ts";
import { writeYaml } from "../engine/values/yaml/writer.ts";
import { isBytes } from "../foundation/system/builtin-types.ts";
import { CONFIG_FILE, type Program } from "./program-command-line.ts";

/** The command that starts the program of a job. */
export interface JobCommand {
  readonly argv: readonly string[];
  /** Variables to add to the environment. */
  readonly env: Readonly<Record<string, string>>;
  /** The config file and its text, which is made only when the program starts. */
  readonly file?: { readonly path: string; readonly text: () => string };
  /** Whether the program's Hydra finds a `hydra.mode` in the config of the job, and is not to add one. */
  readonly hasMode?: boolean;
}

/**
 * The command of a job. Creates no files.
 *
 * @throws ConfigError of an interpolation that cannot be resolved, `key.not_found` for an absent key of `--flags`,
 * `app.unsupported` if two keys map to one variable
 */
export function jobCommand(program: Program, job: JobFacts): JobCommand {
  switch (program.pass) {
    case "hydra":
      return {
        argv: [...program.argv, ...program.ownFlags, ...hydraOverrides(job)],
        env: {},
        hasMode: modeOfConfig(job.root) !== undefined,
      };
    case "file":
      return withFile(program, job);
    case "args":
      return { argv: [...interpolated(program, job), ...flagsFor(program, job)], env: {} };
    case "env":
      return { argv: program.argv, env: variablesOf(program, job) };
  }
}

/** The name of the file for a program's result. */
export const RESULT_FILE = "result.json";
const CONFIG_NAME = "run-config";

/**
 * Overrides of the sweep that the program does not get: it may not have these launchers and sweepers, and gets the
 * directories of its job directly.
 */
const OF_THE_SWEEP =
  /^[+~]*hydra[./](launcher|sweeper|sweep|run|mode|callbacks\.hydraconf_result)\b/;

/**
 * The overrides of a job of a Hydra program, plus those for its number and directory: so names, numbers, directories
 * and logs are those of Hydra's own multirun.
 */
export function hydraOverrides(job: JobFacts): readonly string[] {
  const { number, outputDir, overrides, root } = job;
  const isSweepByConfig = modeOfConfig(root) === "MULTIRUN";
  return [
    ...overrides.flatMap((override) => asHydraTakes(override, job)),
    ...overridesOfHydra(root),
    `hydra.run.dir=${overrideText(outputDir)}`,
    ...(number === undefined
      ? []
      : [
          ...setAsResolved("hydra.sweep.dir", job),
          ...setAsResolved("hydra.sweep.subdir", job),
          `hydra.job.num=${number}`,
          `hydra.job.id=${overrideText(String(number))}`,
        ]),
    ...(isSweepByConfig ? ["hydra.mode=RUN"] : []),
  ];
}

/**
 * Hydra has no `key:=value`: there the key is deleted and added again, which moves it to the end of its map.
 *
 * @throws ConfigError `app.unsupported` for a config group, which Hydra would delete from the defaults list
 */
function asHydraTakes(text: string, { context, root }: JobFacts): readonly string[] {
  // Most overrides need not be parsed to see this.
  if (!/:\s*=/.test(text)) return [text];
  const { keyOrGroup, origin, type } = parseOverride(text, { dialect: context.dialect });
  if (type !== "replace") return [text];
  const choices = getAt(root, ["hydra", "runtime", "choices"]);
  const group = keyOrGroup.replaceAll(".", "/");
  if (choices?.kind === "map" && child(choices, group) !== undefined)
    throw new ConfigError({
      code: "app.unsupported",
      message: `Hydra cannot replace what a config group gives: '${text}'`,
      origin,
      key: keyOrGroup,
      hint: `give the program its config in a file, --pass file, or write an option of '${group}' with these values`,
    });
  return [`~${keyOrGroup}`, `+${text.replace(/:\s*=/, "=")}`];
}

/** The overrides of `hydra` for the program rather than the sweep. */
const overridesOfHydra = (root: MapNode): readonly string[] =>
  textsAt(root, ["hydra", "overrides", "hydra"]).filter((override) => !OF_THE_SWEEP.test(override));

/** An override that sets a key to its resolved value. */
function setAsResolved(
  key: string,
  { context, root }: Pick<JobFacts, "context" | "root">,
): readonly string[] {
  const node = selectNode(root, key, context);
  return node === undefined || (node.kind === "scalar" && node.value === null)
    ? []
    : [`${key}=${overrideText(pyStr(node))}`];
}

/**
 * The command line that begins a multirun of a Hydra program in the directory of a sweep. It lacks what only our sweeps
 * can do.
 *
 * @param sweep the composition of the sweep itself
 */
export const multirunCommand = (
  { argv, ownFlags }: Pick<Program, "argv" | "ownFlags">,
  sweep: Pick<JobFacts, "context" | "root">,
): readonly string[] => [
  ...argv,
  "--multirun",
  ...ownFlags,
  ...textsAt(sweep.root, ["hydra", "overrides", "task"]).filter((override) =>
    isOverrideOfHydra(override, sweep.context.dialect),
  ),
  ...overridesOfHydra(sweep.root),
  ...setAsResolved("hydra.sweep.dir", sweep),
];

/** The mode that a config file sets, disregarding overrides. */
function modeOfConfig(root: MapNode): string | undefined {
  let mode = getAt(root, ["hydra", "mode"]);
  while (mode !== undefined && mode.origin.kind !== "file") mode = mode.replaced;
  return mode?.kind === "scalar" && mode.value !== null ? pyStr(mode).split(".").at(-1) : undefined;
}

const textsAt = (root: MapNode, path: readonly string[]): readonly string[] => {
  const node = getAt(root, path);
  return node?.kind === "list" ? node.items.map((item) => pyStr(item)) : [];
};

function withFile({ argv, format }: Program, job: JobFacts): JobCommand {
  const path = join(job.outputDir, `${CONFIG_NAME}.${format}`);
  const config = job.resolved();
  return {
    argv: argv.map((word) => word.replaceAll(CONFIG_FILE, path)),
    env: { HYDRACONF_CONFIG: path },
    file: {
      path,
      text: () =>
        format === "yaml"
          ? writeYaml(config, { dialect: job.context.dialect, limits: limitsOf(process.env) })
          : `${JSON.stringify(jsonValue(config), null, 2)}\n`,
    },
  };
}

/** Replaces each `${...}` in the arguments by its value; `\${` is a literal `${`. */
function interpolated({ argv }: Program, job: JobFacts): readonly string[] {
  return argv.map((word) =>
    partsOf(word)
      .map((part) => (part.isReference ? referenceText(part.text, word, job) : part.text))
      .join(""),
  );
}

interface Part {
  readonly isReference: boolean;
  readonly text: string;
}

function partsOf(word: string): readonly Part[] {
  const parts: Part[] = [];
  let literal = "";
  for (let offset = 0; offset < word.length; offset++) {
    if (word.startsWith("\\${", offset)) {
      literal += "${";
      offset += 2;
    } else if (word.startsWith("${", offset)) {
      const end = endOfReference(word, offset);
      if (literal !== "") parts.push({ isReference: false, text: literal });
      literal = "";
      parts.push({ isReference: true, text: word.slice(offset, end) });
      offset = end - 1;
    } else literal += word[offset];
  }
  if (literal !== "") parts.push({ isReference: false, text: literal });
  return parts;
}

/** The end of a reference: braces inside it are balanced, except for those in quotes. */
function endOfReference(word: string, from: number): number {
  let depth = 0;
  let quote = "";
  for (let offset = from; offset < word.length; offset++) {
    const char = word[offset] ?? "";
    if (quote !== "") {
      if (char === "\\") offset++;
      else if (char === quote) quote = "";
    } else if (char === "'" || char === '"') quote = char;
    else if (char === "{") depth++;
    else if (char === "}" && --depth === 0) return offset + 1;
  }
  return word.length;
}

const HOLDER = "__argument__";

function referenceText(reference: string, word: string, { context, root }: JobFacts): string {
  const tree = withEntry(root, HOLDER, scalar(reference, fromCode(`argument ${word}`)));
  try {
    const node = selectNode(tree, HOLDER, context, { deep: true, throwOnMissing: true });
    return node === undefined ? "" : argumentText(node);
  } catch (error) {
    if (!isConfigError(error)) throw error;
    throw new ConfigError({
      ...error.details,
      key: undefined,
      origin: undefined,
      available: error.details.available?.filter((name) => name !== HOLDER),
      message: `The argument '${word}' of the program: ${error.message}`,
      hint: `set the key, or write \\${reference} for a text of the program's own`,
    });
  }
}

/** A value as one argument or variable: texts unchanged, `true`, `null`, numbers, and JSON for maps and lists. */
function argumentText(node: ConfigNode): string {
  if (node.kind !== "scalar") return JSON.stringify(jsonValue(node));
  return typeof node.value === "boolean" || node.value === null ? String(node.value) : pyStr(node);
}

/** Integers beyond JSON's and values without a JSON form become texts. */
function jsonValue(node: ConfigNode): unknown {
  return JSON.parse(
    JSON.stringify(toObject(node), (_, value: unknown) =>
      typeof value === "bigint" || (typeof value === "number" && !Number.isFinite(value))
        ? String(value)
        : isBytes(value)
          ? Buffer.from(value).toString("base64")
          : value,
    ),
  );
}

function flagsFor({ flagKeys }: Program, job: JobFacts): readonly string[] {
  if (flagKeys.length === 0) return [];
  const config = job.resolved();
  const leaves =
    flagKeys === "all"
      ? leavesOf(config)
      : flagKeys.map((key) => {
          const node = selectNode(config, key, job.context);
          if (node !== undefined) return [key, node] as const;
          const { available, nearest } = nearestKey(config, key);
          const meant = flagKeys.map((name) => (name === key ? nearest : name)).join(",");
          throw new ConfigError({
            code: "key.not_found",
            message: `Key '${key}' of --flags not found in config`,
            key,
            available,
            nearest,
            hint: nearest === undefined ? undefined : `use --flags=${meant}`,
          });
        });
  return leaves.flatMap(([key, node]) =>
    node.kind === "scalar" && node.value === null ? [] : [`--${key}`, argumentText(node)],
  );
}

type Leaf = readonly [key: string, node: ConfigNode];

/** Every value that is not a map, with its key; a list is one value. */
function leavesOf(node: ConfigNode, path = ""): readonly Leaf[] {
  if (node.kind !== "map") return [[path, node]];
  return [...node.entries.values()].flatMap(({ key, value }) =>
    leavesOf(value, path === "" ? String(key) : `${path}.${String(key)}`),
  );
}

/** `model.lr` becomes `CFG_MODEL__LR`. */
function variablesOf({ envPrefix }: Program, job: JobFacts): Readonly<Record<string, string>> {
  const variables: Record<string, string> = {};
  const keys = new Map<string, string>();
  for (const [key, node] of leavesOf(job.resolved())) {
    if (key === "") continue;
    const name = `${envPrefix}${key.replaceAll(".", "__").replaceAll(/\W/g, "_").toUpperCase()}`;
    const other = keys.get(name);
    if (other !== undefined)
      throw new ConfigError({
        code: "app.unsupported",
        message: `The keys '${other}' and '${key}' would both be the variable ${name}`,
        key,
        hint: "use --pass file, or rename one of them",
      });
    keys.set(name, key);
    if (node.kind === "scalar" && node.value === null) continue;
    variables[name] = argumentText(node);
  }
  return variables;
}
