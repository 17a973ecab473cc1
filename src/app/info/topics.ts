import type { Composition } from "../../compose/index.ts";
import { writeYaml } from "../../values/writer.ts";
import type { Composer } from "../composer.ts";
import { drawTable, title } from "./table.ts";
import { drawTree } from "./tree.ts";

/** One thing `--info` can show. */
export interface Topic {
  readonly name: string;
  readonly show: (composer: Composer, overrides: readonly string[]) => string;
}

const searchPath: Topic = {
  name: "searchpath",
  show: (composer, overrides) => searchPathText(look(composer, overrides)),
};

const defaultsList: Topic = {
  name: "defaults",
  show: (composer, overrides) => defaultsText(look(composer, overrides)),
};

const defaultsTree: Topic = {
  name: "defaults-tree",
  show: (composer, overrides) => treeText(look(composer, overrides)),
};

const config: Topic = {
  name: "config",
  show: (composer, overrides) => {
    // The config itself is shown: here, unlike for the lists, a sweep would be in the way.
    const composition = composer.compose(overrides);
    const yaml = writeYaml(composition.config);
    return [searchPathText, treeText, defaultsText]
      .map((text) => text(composition))
      .join("")
      .concat(title("Config"), yaml, "\n");
  },
};

export const TOPICS: readonly Topic[] = [searchPath, defaultsList, defaultsTree, config];

/** What takes part is known also where the overrides are those of a sweep. */
const look = (composer: Composer, overrides: readonly string[]): Composition =>
  composer.compose(overrides, { mode: "multirun" });

function searchPathText({ repository }: Composition): string {
  const rows = repository.sources.map(({ provider, scheme, path }) => [
    provider,
    `${scheme}://${path}`,
  ]);
  return `\n${title("Config search path")}${drawTable([["Provider", "Search path"], ...rows])}`;
}

function defaultsText({ defaults }: Composition): string {
  const rows = defaults.map(({ configPath, isSelf, package: pkg, parent }) => [
    configPath,
    pkg,
    isSelf ? "True" : "False",
    parent ?? "",
  ]);
  const header = ["Config path", "Package", "_self_", "Parent"];
  // Hydra ends the header, and no other row, with a blank.
  return `\n${title("Defaults List")}${drawTable([header, ...rows], " ")}`;
}

const treeText = ({ tree }: Composition): string => `\n${title("Defaults Tree")}${drawTree(tree)}`;
