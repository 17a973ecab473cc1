import { diffConfigs, maskDifferences, type Secrets } from "../../compose/index.ts";
import { ConfigError } from "../../values/errors.ts";
import type { ConfigNode } from "../../values/node.ts";
import { resolveTree } from "../../values/resolution/resolve-tree.ts";
import { diffText } from "../show/diff-text.ts";
import { areRunDirectories, readRunConfig } from "../show/run-config.ts";
import { differencesJson } from "../show/value-json.ts";
import { type Command, EXIT_OK, type Session } from "./command.ts";

/**
 * `OVERRIDES --diff MORE...`: what MORE changes in the job's config. `--diff RUN_A RUN_B`: how the
 * configs of two runs differ. The exit code is 0 either way, as that of `git diff` is.
 */
export const diffCommand: Command = {
  isAsked: ({ flags }) => flags.has("diff"),
  execute: (session) => {
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
        : diffText(differences, invocation.console.stdoutColor === true),
    );
    return EXIT_OK;
  },
};

interface Side {
  readonly config: ConfigNode;
  readonly secrets: Secrets;
}

/** Those of a run were masked when it was saved. */
const savedSide = (directory: string, cwd: string): Side => ({
  config: readRunConfig(directory, cwd),
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
    return [savedSide(before, invocation.cwd), savedSide(after, invocation.cwd)];
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
