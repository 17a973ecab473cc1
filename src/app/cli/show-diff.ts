/** `--diff`: what overrides change, and how two runs differ. */
import { readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import pc from "picocolors";
import {
  type Difference,
  diffConfigs,
  maskDifferences,
  pathText,
  type Secrets,
} from "../../engine/compose/index.ts";
import { showBoth, showValue } from "../../engine/schema/show-value.ts";
import type { Dialect } from "../../engine/values/dialect.ts";
import { ConfigError } from "../../engine/values/errors.ts";
import type { ConfigNode } from "../../engine/values/node.ts";
import { describeOrigin } from "../../engine/values/origin.ts";
import { resolveTree } from "../../engine/values/resolution/resolve-tree.ts";
import { readYaml } from "../../engine/values/yaml/reader.ts";
import { EXIT_OK, type Session } from "../job/session.ts";
import { differencesJson } from "./show-config.ts";
import { oneLine } from "./show-explanation.ts";

/**
 * `OVERRIDES --diff MORE...`: the changes by MORE to the job's config. `--diff RUN_A RUN_B`: the differences between
 * the configs of two runs. The exit code is 0 either way, as with `git diff`.
 */
export function showDiff(session: Session): number {
  const { invocation, parsed } = session;
  const [before, after] = bothSides(session);
  const differences = maskDifferences(
    diffConfigs(before.config, after.config),
    before.secrets,
    after.secrets,
  );
  invocation.console.stdout(
    parsed.flags.has("json")
      ? differencesJson(differences)
      : diffText(differences, invocation.console.stdoutColor === true, invocation.console.redact),
  );
  return EXIT_OK;
}

interface Side {
  readonly config: ConfigNode;
  readonly secrets: Secrets;
}

/** Secrets in a run's config were masked when it was saved. */
const savedSide = (directory: string, { composer, invocation }: Session): Side => ({
  config: readRunConfig(directory, invocation.cwd, composer.context.dialect),
  secrets: { secrets: [], overrides: [] },
});

function bothSides(session: Session): readonly [Side, Side] {
  const { invocation, overrides, parsed } = session;
  const more = parsed.more ?? [];
  if (more.length === 0)
    throw new ConfigError({
      code: "app.usage",
      message: "argument --diff: expected overrides, or two run directories",
    });
  if (overrides.length === 0 && areRunDirectories(more, invocation.cwd)) {
    const [before = "", after = ""] = more;
    return [savedSide(before, session), savedSide(after, session)];
  }
  return [jobConfig(session, overrides), jobConfig(session, [...overrides, ...more])];
}

/** Each side is resolved before the next is composed: `${hydra:...}` reads the latest tree. */
function jobConfig({ composer, parsed }: Session, overrides: readonly string[]): Side {
  const secrets = composer.compose(overrides);
  const { config } = secrets;
  return {
    config: parsed.flags.has("resolve")
      ? resolveTree(config, composer.context, { toMissing: "missing" })
      : config,
    secrets,
  };
}

/**
 * What `--diff` prints: each differing key with both values and their origins; empty without differences.
 *
 * @param redact removes secrets before the origins are aligned: the layout would show their length
 */
export function diffText(
  differences: readonly Difference[],
  color: boolean,
  redact: (text: string) => string = (text) => text,
): string {
  const { bold, green, red } = pc.createColors(color);
  return differences
    .map((difference) => {
      const [before, after] = shown(difference).map((text) => text && redact(text));
      const width = Math.max(before?.length ?? 0, after?.length ?? 0);
      const side = (sign: string, text: string, node: ConfigNode) =>
        `  ${sign} ${text.padEnd(width)}  # ${oneLine(describeOrigin(node.origin))}\n`;
      return [
        `${bold(`${difference.kind} ${pathText(difference.path)}`)}\n`,
        before !== undefined && "before" in difference
          ? red(side("-", before, difference.before))
          : "",
        after !== undefined && "after" in difference
          ? green(side("+", after, difference.after))
          : "",
      ].join("");
    })
    .join("");
}

function shown(difference: Difference): readonly [string | undefined, string | undefined] {
  switch (difference.kind) {
    case "changed":
      return showBoth(difference.before, difference.after);
    case "removed":
      return [showValue(difference.before), undefined];
    case "added":
      return [undefined, showValue(difference.after)];
  }
}

const PLACES = ["config.yaml", ".hydra/config.yaml"];

/**
 * The config in a run directory: `config.yaml`, or Hydra's `.hydra/config.yaml`.
 *
 * @throws ConfigError `app.run_directory` if there is none, and errors of the reader
 */
function readRunConfig(directory: string, cwd: string, dialect: Dialect): ConfigNode {
  const name = PLACES.map((place) => join(directory, place)).find((path) =>
    statSync(resolve(cwd, path), { throwIfNoEntry: false })?.isFile(),
  );
  if (name === undefined)
    throw new ConfigError({
      code: "app.run_directory",
      message: `'${directory}' is not a run directory: it has no ${PLACES.join(" and no ")}`,
    });
  return readYaml(readFileSync(resolve(cwd, name), "utf8"), { name, dialect, env: process.env });
}

/** Whether the words of `--diff` name two runs: directories, or words that cannot be overrides. */
const areRunDirectories = (words: readonly string[], cwd: string): boolean =>
  words.length === 2 &&
  words.every(
    (word) =>
      statSync(resolve(cwd, word), { throwIfNoEntry: false })?.isDirectory() === true ||
      !/[=]|^~/.test(word),
  );
