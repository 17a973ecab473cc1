import {
  allGroups,
  type Composition,
  type Defaults,
  type DefaultsTree,
  type DefaultsTreeChild,
  type DefaultsTreeNode,
  type Repository,
} from "../compose/index.ts";
import type { Composer } from "../job/composer.ts";
import type { SweepRegistry } from "../sweep/registry.ts";
import { tableLines, titleLines } from "../text/table.ts";
import type { ConfigNode } from "../values/node.ts";
import { pyStr } from "../values/python-text.ts";
import type { ResolveContext } from "../values/resolution/context.ts";
import { selectNode } from "../values/resolution/select.ts";
import { writeYaml } from "../values/yaml/writer.ts";
import { configView } from "./show-config.ts";

/** One thing `--info` can show. */
export interface Topic {
  readonly name: string;
  /** Its parts as they become known: what stands before a broken part is shown. */
  readonly show: (look: InfoContext) => Iterable<InfoLine>;
}

/** A record of Hydra's log, which `--info` shows bare. The level is Hydra's own. */
export interface InfoLine {
  readonly level: "debug" | "info";
  readonly text: string;
}

const debug = (lines: readonly string[]): readonly InfoLine[] =>
  lines.map((text) => ({ level: "debug", text }));
const info = (lines: readonly string[]): readonly InfoLine[] =>
  lines.map((text) => ({ level: "info", text }));

/** What topics look at. */
export interface InfoContext {
  /** The groups with what the overrides add to the search path. */
  readonly repository: () => Repository;
  /** What takes part: known also where the values cannot be composed. */
  readonly taken: () => Defaults;
  readonly whole: () => Composition;
  readonly context: () => ResolveContext;
  readonly registry: SweepRegistry;
}

/**
 * @param composer is asked when a topic comes to what it is needed for
 * @param composition of the overrides, if there is one already
 */
export const openInfo = (
  composer: () => Composer,
  registry: SweepRegistry,
  overrides: readonly string[],
  composition?: Composition,
): InfoContext => {
  let taken: Defaults | undefined;
  let whole = composition;
  return {
    context: () => composer().context,
    registry,
    repository: () => composer().searchPath(overrides),
    taken: () => {
      taken ??= composer().defaults(overrides, composition ?? {});
      return taken;
    },
    whole: () => {
      whole ??= composer().compose(overrides);
      return whole;
    },
  };
};

function sourceRow(source: ConfigNode): readonly string[] {
  const text = (key: string): string =>
    pyStr((source.kind === "map" ? source.entries.get(key)?.value : undefined) ?? null);
  return [text("provider"), `${text("schema")}://${text("path")}`];
}

/** What the config says of the sources: interpolations in a path find the hydra node only. */
function sourceRows({ context, whole }: InfoContext): readonly (readonly string[])[] {
  const view = configView(whole().root, "hydra");
  const sources = selectNode(view, "hydra.runtime.config_sources", context(), { deep: true });
  return sources?.kind === "list" ? sources.items.map(sourceRow) : [];
}

const searchPath: Topic = {
  name: "searchpath",
  *show(look) {
    yield* debug(["", ...titleLines("Config search path")]);
    yield* debug(tableLines([["Provider", "Search path"], ...sourceRows(look)]));
  },
};

const defaultsList: Topic = {
  name: "defaults",
  *show({ taken }) {
    const rows = taken().defaults.map(({ configPath, isSelf, package: pkg, parent }) => [
      configPath,
      pkg,
      isSelf ? "True" : "False",
      parent ?? "",
    ]);
    const header = ["Config path", "Package", "_self_", "Parent"];
    // Hydra ends the header, and no other row, with a blank.
    yield* debug(["", ...titleLines("Defaults List"), ...tableLines([header, ...rows], " ")]);
  },
};

const defaultsTree: Topic = {
  name: "defaults-tree",
  *show({ taken }) {
    const lines = treeLines(taken().tree);
    yield* info([""]);
    yield* debug(titleLines("Defaults Tree"));
    yield* info(lines);
  },
};

const config: Topic = {
  name: "config",
  *show(look) {
    for (const topic of [searchPath, defaultsTree, defaultsList]) yield* topic.show(look);
    yield* debug(titleLines("Config"));
    const { config, dialect } = look.whole();
    yield* info([writeYaml(config, { dialect })]);
  },
};

const plugins: Topic = {
  name: "plugins",
  *show(look) {
    yield* debug(pluginLines(look.registry));
  },
};

const all: Topic = {
  name: "all",
  *show(look) {
    yield* debug(titleLines(`Hydra ${look.context().dialect.hydraVersion}`, "="));
    for (const topic of [plugins, config]) yield* topic.show(look);
  },
};

export const TOPICS: readonly Topic[] = [
  all,
  config,
  defaultsList,
  defaultsTree,
  plugins,
  searchPath,
];

/** What `--info TOPIC --json` prints, by topic; `all` has each but the config, which `--cfg --json` prints. */
const FACTS: Readonly<Record<string, (look: InfoContext) => unknown>> = {
  groups: ({ repository, taken }) => {
    const known = [...taken().tree.known];
    return allGroups(repository()).map((group) => ({
      name: group,
      options: repository().list(group, "config"),
      // By the key of an override: a group may be in several packages.
      chosen: Object.fromEntries(known.filter(([key]) => key.split("@")[0] === group)),
    }));
  },
  defaults: ({ taken }) =>
    taken().defaults.map((row) => ({
      config_path: row.configPath,
      package: row.package,
      is_self: row.isSelf,
      parent: row.parent ?? null,
    })),
  searchpath: (look) => sourceRows(look).map(([provider = "", path = ""]) => ({ provider, path })),
};

/** For programs: the groups with their options and the choice, the defaults list, the search path. */
export function infoJson(topic: string, look: InfoContext): string {
  const facts = Object.entries(FACTS).flatMap(([name, tell]) =>
    ["all", name === "groups" ? "defaults" : name].includes(topic) ? [[name, tell(look)]] : [],
  );
  const document = { dialect: look.context().dialect.name, ...Object.fromEntries(facts) };
  return `${JSON.stringify(document, null, 2)}\n`;
}

/** The topics that `infoJson` knows. */
export const JSON_TOPICS: readonly string[] = ["all", "defaults", "searchpath"];

/**
 * What there is of each kind of Hydra's plugins, under Hydra's names: configs name launchers and
 * sweepers by them. Beside Hydra's own there are those of the plugins.
 */
export function pluginLines({ launchers, sweepers }: SweepRegistry): readonly string[] {
  const classNames = (all: readonly { readonly targets: readonly string[] }[]) => {
    const targets = all.flatMap((one) => one.targets);
    return [...new Set(targets.map((target) => target.split(".").at(-1) ?? target))];
  };
  const kinds: readonly (readonly [string, readonly string[]])[] = [
    [
      "ConfigSource",
      ["FileConfigSource", "ImportlibResourcesConfigSource", "StructuredConfigSource"],
    ],
    ["CompletionPlugin", ["BashCompletion", "FishCompletion", "ZshCompletion"]],
    ["Launcher", classNames(launchers)],
    ["Sweeper", classNames(sweepers)],
  ];
  const parts = kinds.flatMap(([kind, names]) => {
    const lines = [...titleLines(`${kind}:`, "-"), ...names.map((name) => `\t${name}`)];
    return lines.map((line) => `\t${line}`);
  });
  return [...titleLines("Installed Hydra Plugins"), ...parts];
}

/** The defaults tree, two blanks per level, as `--info defaults-tree` draws it. */
export const treeLines = ({ roots }: DefaultsTree): readonly string[] => [
  "<root>:",
  ...roots.flatMap((root) => drawNode(root, 1)),
];

function drawNode(node: DefaultsTreeChild, depth: number): readonly string[] {
  const indent = "  ".repeat(depth);
  if (node.kind === "self") return [`${indent}${node.path}`];
  const below = node.children.flatMap((child) => drawNode(child, depth + 1));
  return [`${indent}${label(node)}${below.length > 0 ? ":" : ""}`, ...below];
}

function label({ placed }: DefaultsTreeNode): string {
  return placed.overrideKey === null
    ? placed.configPath
    : `${placed.overrideKey}: ${placed.name ?? "null"}`;
}
