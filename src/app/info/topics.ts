import { HYDRA_VERSION } from "../../compose/dialect.ts";
import type { Composition, Defaults } from "../../compose/index.ts";
import type { Plugin } from "../../compose/plugins/plugin.ts";
import { writeYaml } from "../../values/writer.ts";
import type { Composer } from "../composer.ts";
import { pluginsText } from "./plugins.ts";
import { drawTable, title } from "./table.ts";
import { drawTree } from "./tree.ts";

/** One thing `--info` can show. */
export interface Topic {
  readonly name: string;
  /** Its parts as they become known: what stands before a broken part is shown. */
  readonly show: (look: Look) => Iterable<string>;
}

/** What topics look at. */
export interface Look {
  /** What takes part: known also where the values cannot be composed. */
  readonly taken: () => Defaults;
  readonly whole: () => Composition;
  readonly plugins: () => readonly Plugin[];
}

/** @param composer is asked when a topic comes to what it is needed for. */
export const openLook = (composer: () => Composer, overrides: readonly string[]): Look => {
  let taken: Defaults | undefined;
  let whole: Composition | undefined;
  return {
    plugins: () => composer().plugins,
    taken: () => {
      taken ??= composer().defaults(overrides);
      return taken;
    },
    whole: () => {
      whole ??= composer().compose(overrides);
      return whole;
    },
  };
};

const searchPath: Topic = {
  name: "searchpath",
  *show({ whole }) {
    yield `\n${title("Config search path")}`;
    const rows = whole().repository.sources.map(({ provider, scheme, path }) => [
      provider,
      `${scheme}://${path}`,
    ]);
    yield drawTable([["Provider", "Search path"], ...rows]);
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
    yield `\n${title("Defaults List")}${drawTable([header, ...rows], " ")}`;
  },
};

const defaultsTree: Topic = {
  name: "defaults-tree",
  *show({ taken }) {
    yield `\n${title("Defaults Tree")}${drawTree(taken().tree)}`;
  },
};

const config: Topic = {
  name: "config",
  *show(look) {
    for (const topic of [searchPath, defaultsTree, defaultsList]) yield* topic.show(look);
    yield `${title("Config")}${writeYaml(look.whole().config)}\n`;
  },
};

const plugins: Topic = {
  name: "plugins",
  *show(look) {
    yield pluginsText(look.plugins());
  },
};

const all: Topic = {
  name: "all",
  *show(look) {
    const version = `Hydra ${HYDRA_VERSION}`;
    yield `${version}\n${"=".repeat(version.length)}\n`;
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
