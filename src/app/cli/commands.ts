/** The commands that flags select; without any, a program runs its task. */

import { type Composition, explain, maskSecrets } from "../../engine/compose/index.ts";
import { ConfigError } from "../../engine/values/errors.ts";
import { nearestKey, splitKey } from "../../engine/values/key-path.ts";
import { shellQuote, splitAtEquals } from "../../foundation/text/shell-words.ts";
import { type Flag, type ProgramOptions, readJsonSchema } from "../job/options.ts";
import type { WorkerRequest } from "../job/process/invocation.ts";
import { EXIT_OK, type ParsedArguments, type Session } from "../job/session.ts";
import type { SweepSession } from "../sweep/registry.ts";
import { flagIn } from "./arguments/parse-argv.ts";
import { showHelp, showHydraHelp } from "./help.ts";
import {
  type ConfigView,
  explanationJson,
  showConfig,
  showConfigJson,
  showOrigins,
  showOriginsJson,
  showParts,
} from "./show-config.ts";
import { showDiff } from "./show-diff.ts";
import { ONE_KEY, renderExplanation } from "./show-explanation.ts";

/** An action of a program: running its task, or something else that a flag asks for. */
export interface Command {
  readonly isAsked: (parsed: ParsedArguments, options: ProgramOptions) => boolean;
  /** @returns the exit code */
  readonly execute: (session: SweepSession) => number | Promise<number>;
}

/** `--help [KEY...]` */
export const helpCommand: Command = {
  isAsked: ({ flags }) => flags.has("help"),
  execute: async (session) =>
    session.options.tool === undefined
      ? showHelp(session)
      : (await import("./command-line-tool.ts")).showToolHelp(session),
};

/** `--hydra-help` */
export const hydraHelpCommand: Command = {
  isAsked: ({ flags }) => flags.has("hydra-help"),
  execute: showHydraHelp,
};

/** `--diff OVERRIDE...`, `--diff RUN_A RUN_B` */
export const diffCommand: Command = {
  isAsked: ({ flags }) => flags.has("diff"),
  execute: showDiff,
};

/** Runs the program's task, once or as a sweep. Its code is loaded when something runs. */
export const runCommand: Command = {
  isAsked: () => true,
  execute: async (session) => {
    session.invocation.console.openStreams?.();
    return session.options.tool === undefined
      ? (await import("./run-task.ts")).runTask(session)
      : (await import("./command-line-tool.ts")).runTool(session);
  },
};

/** The action of a program that a launcher started: one job of a sweep. */
export const workerCommand = (request: WorkerRequest): Command => ({
  isAsked: () => true,
  execute: async (session) => {
    session.invocation.console.openStreams?.();
    const { runWorkers } = await import("../launch/worker.ts");
    return runWorkers(session, request, async () => (await session.registry()).launchers);
  },
});

/** `--dry-run`: shows what would run, where and with which config; creates nothing. */
export const dryRunCommand: Command = {
  isAsked: ({ flags }) => flags.has("dry-run"),
  execute: async (session) => (await import("./dry-run.ts")).dryRun(session),
};

/** `--info TOPIC`: how the configuration is composed. */
export const infoCommand: Command = {
  isAsked: ({ flags }) => flags.has("info"),
  execute: async (session) => {
    const { infoJson, JSON_TOPICS, openInfo, TOPICS } = await import("./info.ts");
    const { invocation, parsed } = session;
    const asked = String(parsed.flags.get("info"));
    const context = openInfo(
      () => session.composer,
      await session.registry(),
      () => session.overrides,
      invocation.console.redact,
    );
    if (parsed.flags.has("json")) {
      if (!JSON_TOPICS.includes(asked))
        throw new ConfigError({
          code: "app.flags",
          message: `--info ${asked} cannot be printed as JSON`,
          available: JSON_TOPICS,
          hint: "--cfg job --json prints the config",
        });
      invocation.console.stdout(infoJson(asked, context));
      return EXIT_OK;
    }
    if (
      asked === "aliases" &&
      !context.context().dialect.hasAliases &&
      context.aliases().length === 0
    )
      throw new ConfigError({
        code: "app.flags",
        message: `--info aliases: Hydra ${context.context().dialect.hydraVersion} has no aliases of overrides`,
        hint: "Hydra 1.4 has them: --version-base 1.4; for every version: `aliases` of hydraconf.yaml",
      });
    const topic = TOPICS.find(({ name }) => name === asked);
    for (const { text } of topic?.show(context) ?? []) invocation.console.stdout(`${text}\n`);
    return EXIT_OK;
  },
};

/** `--shell-completion`: installs completion in a shell, and answers the shell's requests. */
export const completionCommand: Command = {
  isAsked: ({ flags }) => flags.has("shell-completion"),
  execute: async (session) => {
    const { runCompletion } = await import("./completion/shell-completion.ts");
    await runCompletion(session);
    return EXIT_OK;
  },
};

/** `--schema`: the JSON Schema that the program's config must fit. */
export const schemaCommand: Command = {
  isAsked: ({ flags }) => flags.has("schema"),
  execute: ({ invocation, options }) => {
    if (options.schema === undefined)
      throw new ConfigError({
        code: "app.unsupported",
        message: `--schema: ${options.name} declares no schema of its config`,
      });
    const schema = readJsonSchema(options.schema);
    if (schema === undefined)
      throw new ConfigError({
        code: "app.unsupported",
        message: `--schema: the schema of ${options.name} is a validator without a JSON Schema`,
        hint: "a library that implements standardschema.dev/json-schema gives one for what JSON Schema can express, such as zod 4.2",
      });
    invocation.console.stdout(`${JSON.stringify(schema, null, 2)}\n`);
    return EXIT_OK;
  },
};

/** `--explain KEY`: shows where a value comes from. */
export const explainCommand: Command = {
  isAsked: ({ flags }) => flags.has("explain"),
  execute: ({ composer, flags, invocation, overrides, parsed }) => {
    if (isRepeated("explain", invocation.argv, flags))
      throw new ConfigError({
        code: "app.usage",
        message: "argument --explain: takes one key",
        hint: ONE_KEY,
      });
    const key = String(parsed.flags.get("explain"));
    const composition = composer.compose(overrides);
    const explanation = explain(composition, key);
    if (explanation === undefined) {
      const bare = splitAtEquals(key)[0].replace(/^[+~]+/, "");
      const isOverride = bare !== key && explain(composition, bare) !== undefined;
      throw new ConfigError({
        code: "key.not_found",
        message: `Key '${key}' not found in config`,
        key,
        ...(isOverride
          ? { hint: `it takes a key without a value: --explain ${shellQuote(bare)}` }
          : nearestKey(composition.root, splitKey(key, composition.dialect))),
      });
    }
    const isJson = parsed.flags.has("json");
    invocation.console.stdout(
      isJson ? explanationJson(explanation) : `${renderExplanation(explanation)}\n`,
    );
    return EXIT_OK;
  },
};

/** Whether a flag is given more than once: the last would be taken, in silence. */
function isRepeated(id: string, argv: readonly string[], flags: readonly Flag[]): boolean {
  const dashes = argv.indexOf("--");
  const words = dashes < 0 ? argv : argv.slice(0, dashes);
  return words.filter((word) => flagIn(word, flags)?.flag.id === id).length > 1;
}

/** `--cfg job|hydra|all`, also the action of a display-only program without flags. */
export const showCommand: Command = {
  isAsked: ({ flags }, { whenBare }) => flags.has("cfg") || whenBare === "show",
  execute: (session) => {
    const { composer, invocation, overrides, parsed } = session;
    // Hydra refuses --cfg with --multirun, so this is the sweep of a display-only program.
    if (parsed.flags.has("multirun")) return showJobs(session);
    const composition = composer.compose(overrides);
    const request = { root: shownRoot(session, composition), ...viewOf(parsed) };
    const parts = isPlain(parsed)
      ? showParts(request, composer.context)
      : [writerFor(parsed)(request, composer.context)];
    for (const part of parts) invocation.console.stdout(part);
    return EXIT_OK;
  },
};

/** One YAML document for each job of a sweep, or a JSON array. */
async function showJobs(session: SweepSession): Promise<number> {
  const { planSweep } = await import("../sweep/plan-sweep.ts");
  const { jobPlace } = await import("../job/plan-job.ts");
  const { composer, invocation, overrides, parsed } = session;
  const { planBatch, sweeper } = planSweep(
    composer.compose(overrides, { mode: "multirun" }),
    overrides,
    composer,
    jobPlace(session),
    await session.registry(),
    { isPlan: true },
  );
  const { stdout } = invocation.console;
  const isJson = parsed.flags.has("json");
  let number = 0;
  for (let batch = sweeper.ask(); batch !== undefined; batch = sweeper.ask()) {
    for (const job of planBatch(batch, number)) {
      const root = shownRoot(session, job.composition, job.root);
      const text = writerFor(parsed)({ root, ...viewOf(parsed) }, composer.context);
      const separator = isJson ? "," : "---\n";
      const title = isJson ? "" : `${[`# job ${job.number}:`, ...job.overrides].join(" ")}\n`;
      stdout(`${number === 0 ? (isJson ? "[" : "") : separator}${title}${text}`);
      number++;
    }
    sweeper.tell([]);
  }
  if (isJson) stdout(`${number === 0 ? "[" : ""}]\n`);
  return EXIT_OK;
}

/** The tree with its secrets masked, after `${hydra:...}` is set to read it. */
function shownRoot(
  { composer, parsed }: Session,
  composition: Composition,
  root = composition.root,
) {
  const shown = maskSecrets(root, composition, { resolving: parsed.flags.has("resolve") });
  composer.publish(shown);
  return shown;
}

const viewOf = ({ flags }: ParsedArguments) => {
  const part = flags.get("package");
  return {
    // The flag's choices are the views.
    view: (flags.get("cfg") ?? "job") as ConfigView,
    resolve: flags.has("resolve"),
    ...(typeof part === "string" && { package: part }),
  };
};

const isPlain = ({ flags }: ParsedArguments): boolean =>
  !flags.has("origins") && !flags.has("json");

function writerFor({ flags }: ParsedArguments): typeof showConfig {
  if (!flags.has("origins")) return flags.has("json") ? showConfigJson : showConfig;
  return flags.has("json") ? showOriginsJson : showOrigins;
}
