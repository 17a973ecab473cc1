/** `--help` and `--hydra-help`, by Hydra's templates. */
import { type Alias, aliasTable } from "../../engine/compose/aliases.ts";
import type { Composition } from "../../engine/compose/compose.ts";
import { allGroups, maskSecrets, type RunMode } from "../../engine/compose/index.ts";
import type { Repository } from "../../engine/compose/sources/repository.ts";
import { ConfigError, isConfigError } from "../../engine/values/errors.ts";
import { limitsOf } from "../../engine/values/limits.ts";
import { child, type MapNode } from "../../engine/values/node.ts";
import { pyStr } from "../../engine/values/python-text.ts";
import type { ResolveContext } from "../../engine/values/resolution/context.ts";
import { selectNode } from "../../engine/values/resolution/select.ts";
import { writeYaml } from "../../engine/values/yaml/writer.ts";
import { type Flag, readJsonSchema } from "../job/options.ts";
import { EXIT_OK } from "../job/session.ts";
import type { SweepSession } from "../sweep/registry.ts";
import { subcommandsHelp } from "./arguments/find-subcommand.ts";
import { flagsHelp, keysOfHelp } from "./arguments/hydra-flags.ts";
import { showConfig } from "./show-config.ts";

/** `--help`: shows the program's groups and config. `--help KEY...`: describes these keys, and the program's own topics. */
export function showHelp(session: SweepSession): Promise<number> {
  const keys = keysOfHelp(session);
  return keys.length === 0 ? printHelp(session, "app") : printKeys(keys, session);
}

/** `--hydra-help`: shows the flags and Hydra's own groups. */
export const showHydraHelp = (session: SweepSession): Promise<number> =>
  printHelp(session, "hydra");

async function printKeys(keys: readonly string[], session: SweepSession): Promise<number> {
  const { keyFacts, keyHelp } = await import("./help-key.ts");
  const { composer, invocation, options, overrides } = session;
  const composition = composer.compose(
    overrides.filter((word) => !keys.includes(word)),
    { mode: "multirun" },
  );
  const schema = options.schema === undefined ? undefined : readJsonSchema(options.schema);
  const color = invocation.console.stdoutColor === true;
  const answers = await Promise.all(
    keys.map(async (key) => ({
      topic: (await options.helpTopic?.(key)) ?? null,
      request: { key, composition, color, ...(schema !== undefined && { schema }) },
    })),
  );
  const { stdout } = invocation.console;
  if (session.parsed.flags.has("json")) {
    const data = answers.map(({ request, topic }) =>
      topic === null ? keyFacts(request) : { key: request.key, text: topic },
    );
    stdout(`${JSON.stringify({ version: 1, keys: data }, null, 2)}\n`);
  } else stdout(answers.map(({ request, topic }) => topic ?? keyHelp(request)).join("\n"));
  return EXIT_OK;
}

async function printHelp(session: SweepSession, about: "app" | "hydra"): Promise<number> {
  const { options, flags, invocation } = session;
  const { stdout } = invocation.console;
  const ofTree = () => configHelp(session, about);
  if (options.about === undefined) {
    const help = await ofTree();
    stdout(about === "app" ? help + otherHelp(session, help) : help);
    return EXIT_OK;
  }
  // A program for any tree must show its help even without a tree.
  const text = `${options.about}\n${otherHelp(session, options.about)}\n${flagsHelp(flags)}\n`;
  const help = await unlessMissing(ofTree);
  if (help === null) stdout(text);
  else stdout(about === "app" ? `${text}\n${help}` : help);
  return EXIT_OK;
}

/** Our additions to the help, unless the config's template contains them. */
function otherHelp({ options: { name, subcommands = [] } }: SweepSession, help: string): string {
  if (subcommands.every((subcommand) => help.includes(`${name} ${subcommand.name}`))) return "";
  return `\n== Subcommands ==\nWith arguments of their own (${name} NAME --help)\n\n${subcommandsHelp(name, subcommands)}\n`;
}

async function configHelp(session: SweepSession, about: "app" | "hydra"): Promise<string> {
  const { composer, flags, overrides, parsed } = session;
  // Hydra's own help needs no primary config, and must work even if that is broken.
  const mode: RunMode = composer.context.dialect.helpsWithoutChoices ? "multirun" : "run";
  const changes = about === "hydra" ? { configName: null } : { mode };
  const composed = composer.compose(overrides, changes);
  if (!isDefaultLogging(composed.root, composer.repository)) {
    const { logHelp } = await import("./log-info.ts");
    await logHelp(session, composed);
  }
  const resolving = parsed.flags.has("resolve");
  const composition = { ...composed, root: maskSecrets(composed.root, composed, { resolving }) };
  const request = {
    composition,
    repository: composer.repository,
    ...(composer.context.dialect.hasAliases && {
      aliases: about === "hydra" ? [] : composer.aliases(),
    }),
    about,
    flags,
    resolve: parsed.flags.has("resolve"),
  };
  return helpText(request, composer.context);
}

async function unlessMissing<T>(work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (isConfigError(error) && error.code === "compose.missing_config") return null;
    throw error;
  }
}

interface HelpRequest {
  readonly composition: Composition;
  /** The repository whose groups are listed: as in Hydra, without `hydra.searchpath` of the config. */
  readonly repository: Repository;
  /** The aliases of the primary config, where the version of Hydra has some. */
  readonly aliases?: readonly Alias[];
  /** Whether to show the program's help, or that of Hydra's flags and groups. */
  readonly about: "app" | "hydra";
  readonly flags: readonly Flag[];
  readonly resolve: boolean;
}

/**
 * Fills the help template of the config (`hydra.help.template`, `hydra.hydra_help.template`) with its variables
 * `$APP_CONFIG_GROUPS`, `$HYDRA_CONFIG_GROUPS`, `$CONFIG` and `$FLAGS_HELP`.
 *
 * @throws ConfigError `app.help_template` for other names in the template.
 */
function helpText(request: HelpRequest, context: ResolveContext): string {
  const { composition, repository, about, aliases, flags, resolve } = request;
  const key = about === "app" ? "hydra.help.template" : "hydra.hydra_help.template";
  const template = selectNode(composition.root, key, context, { throwOnMissing: true });
  const groups = allGroups(repository);
  const values = {
    ...(aliases !== undefined && { OVERRIDE_ALIASES: aliasTable(aliases) }),
    FLAGS_HELP: flagsHelp(flags),
    HYDRA_CONFIG_GROUPS: groupLines(repository, groups.filter(isHydraGroup)),
    APP_CONFIG_GROUPS: groupLines(
      repository,
      groups.filter((group) => !isHydraGroup(group)),
    ),
    CONFIG: showConfig(
      {
        root: composition.root,
        view: about === "app" ? "job" : "hydra",
        resolve: resolve && "strictly",
      },
      context,
    ),
  };
  return `${fillTemplate(template === undefined ? "" : pyStr(template), values)}\n`;
}

const isHydraGroup = (group: string): boolean => group === "hydra" || group.startsWith("hydra/");

/** `db: mysql, pg`, one line per group. */
function groupLines(repository: Repository, groups: readonly string[]): string {
  return [...groups]
    .sort()
    .map((group) => `${group}: ${repository.list(group, "config").join(", ")}\n`)
    .join("");
}

/** The option that configures Hydra's own log by default. */
const OPTION = "hydra/hydra_logging/default";

/**
 * Whether Hydra's own log has its default config, which needs no check and drops records below INFO. Determined without
 * loading the logging code.
 */
export function isDefaultLogging(root: MapNode, repository: Repository): boolean {
  const hydra = child(root, "hydra");
  const verbose = hydra && child(hydra, "verbose");
  const config = hydra && child(hydra, "hydra_logging");
  const usual = repository.load(OPTION);
  if (config === undefined || usual === undefined) return false;
  const isQuiet = verbose?.kind === "scalar" && verbose.value === false;
  const limits = limitsOf(process.env);
  return isQuiet && writeYaml(config, { limits }) === writeYaml(usual.node, { limits });
}

/**
 * Python's `string.Template`: `$name` and `${name}` are replaced by values, `$$` by a dollar sign.
 *
 * @throws ConfigError `app.help_template` for a name without a value, and for a single dollar sign.
 */
export function fillTemplate(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(
    /\$(?:(\$)|([_a-zA-Z][_a-zA-Z0-9]*)|\{([_a-zA-Z][_a-zA-Z0-9]*)\})?/g,
    (
      _whole,
      escaped: string | undefined,
      plain: string | undefined,
      braced: string | undefined,
      offset: number,
    ) => {
      if (escaped !== undefined) return "$";
      const name = plain ?? braced;
      if (name === undefined)
        throw failure(
          `Invalid placeholder in string: ${placeIn(template, offset)}`,
          "in the help template, write $$ for a $",
        );
      const value = Object.hasOwn(values, name) ? values[name] : undefined;
      if (value === undefined)
        throw failure(
          `Unknown placeholder '$${name}' in help template`,
          `known: ${Object.keys(values)
            .map((name) => `$${name}`)
            .join(", ")}`,
        );
      return value;
    },
  );
}

/** The line and column of an offset, both from 1 as in Python. */
function placeIn(template: string, offset: number): string {
  const linesAbove = template.slice(0, offset).split("\n");
  return `line ${linesAbove.length}, col ${(linesAbove.at(-1) ?? "").length + 1}`;
}

const failure = (message: string, hint: string): ConfigError =>
  new ConfigError({ code: "app.help_template", message, hint });
