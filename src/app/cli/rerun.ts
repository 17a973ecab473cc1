/** `--experimental-rerun`: the request of an earlier run, which is composed again. */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { quoted } from "../../engine/overrides/print.ts";
import type { Dialect } from "../../engine/values/dialect.ts";
import { ConfigError } from "../../engine/values/errors.ts";
import { type ConfigNode, getAt, isMissingOrNull } from "../../engine/values/node.ts";
import { pyStr } from "../../engine/values/python-text.ts";
import { readYaml } from "../../engine/values/yaml/reader.ts";
import type { ParsedArguments } from "../job/session.ts";

/** A recorded job, as the command line of its next run. */
export interface Rerun {
  /** The command line with the primary config of the job. */
  readonly parsed: ParsedArguments;
  /** The overrides of the job, expanded, in front of those that are typed now. */
  readonly overrides: readonly string[];
}

/** Flags that choose what the record of a job says. */
const CHOSEN = ["multirun", "config-name"];

/**
 * `--experimental-rerun DIR`: the job of an output directory is composed anew from the overrides that are recorded in it, with its name,
 * number and directory. Undefined without the flag.
 *
 * @throws ConfigError `app.flags` for a flag that the record decides, `app.usage` for a directory without a record
 */
export function readRerun(
  parsed: ParsedArguments,
  cwd: string,
  dialect: Dialect,
): Rerun | undefined {
  const setting = parsed.flags.get("experimental-rerun");
  if (setting === undefined || !dialect.rerunsByComposition) return undefined;
  const other = CHOSEN.find((id) => parsed.flags.has(id));
  if (other !== undefined)
    throw new ConfigError({
      code: "app.flags",
      message: `--experimental-rerun does not support --${other}`,
      hint: "the record of the job decides this: leave the flag out",
    });
  const directory = resolve(cwd, String(setting));
  const read = (name: string): ConfigNode => {
    const path = join(directory, ".hydra", name);
    return readYaml(recordedText(path), { name: path, dialect, env: process.env });
  };
  const hydra = read("hydra.yaml");
  const task = textsOf(read("overrides.yaml"), join(directory, ".hydra/overrides.yaml"));
  const recorded = (...path: readonly string[]) => getAt(hydra, ["hydra", ...path]);
  const hydraOverrides = recorded("overrides", "hydra");
  const configName = recorded("job", "config_name");
  const job = (["id", "num"] as const).flatMap((key) => {
    const node = recorded("job", key);
    if (node === undefined || isMissingOrNull(node)) return [];
    const text = pyStr(node);
    return [`hydra.job.${key}=${key === "id" ? quoted(text, '"') : text}`];
  });
  const flags = new Map(parsed.flags);
  if (configName !== undefined && !isMissingOrNull(configName))
    flags.set("config-name", pyStr(configName));
  return {
    parsed: { ...parsed, flags },
    overrides: [
      ...task,
      ...(hydraOverrides === undefined
        ? []
        : textsOf(hydraOverrides, join(directory, ".hydra/hydra.yaml"))),
      ...job,
      "hydra.mode=RUN",
      `hydra.run.dir=${quoted(directory, '"')}`,
    ],
  };
}

function recordedText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const problem =
      code === "ENOTDIR"
        ? "Not a directory"
        : code === "ENOENT"
          ? "No such file or directory"
          : code;
    throw new ConfigError({
      code: "app.flags",
      message: `--experimental-rerun: ${problem}: '${path}'`,
      hint: "name the output directory of a job: it holds .hydra/hydra.yaml and .hydra/overrides.yaml",
      cause: error,
    });
  }
}

function textsOf(node: ConfigNode, path: string): readonly string[] {
  if (node.kind === "list") return node.items.map((item) => pyStr(item));
  if (node.kind === "scalar" && node.value === null) return [];
  throw new ConfigError({
    code: "app.flags",
    message: `--experimental-rerun: the overrides in '${path}' must be a list`,
    origin: node.origin,
    hint: "each item is one override, as on the command line",
  });
}
