import type { Composition } from "../../compose/compose.ts";
import type { Repository } from "../../compose/sources/repository.ts";
import { pyStr } from "../../values/python-text.ts";
import type { ResolveContext } from "../../values/resolution/context.ts";
import { selectNode } from "../../values/resolution/select.ts";
import type { Flag } from "../flags/flag.ts";
import { flagsHelp } from "../flags/usage.ts";
import { fillTemplate } from "../python/python-template.ts";
import { showConfig } from "./show-config.ts";

export interface HelpRequest {
  readonly composition: Composition;
  /** The repository whose groups are listed: as in Hydra, without the config's additions to the search path. */
  readonly repository: Repository;
  /** Whether to show the program's help, or that of Hydra's flags and groups. */
  readonly about: "app" | "hydra";
  readonly flags: readonly Flag[];
  readonly resolve: boolean;
}

/**
 * Fills the help template of the config (`hydra.help.template`, `hydra.hydra_help.template`):
 * `$APP_CONFIG_GROUPS`, `$HYDRA_CONFIG_GROUPS`, `$CONFIG` and `$FLAGS_HELP` stand in it.
 *
 * @throws ConfigError `app.help_template` for other names in the template.
 */
export function helpText(request: HelpRequest, context: ResolveContext): string {
  const { composition, repository, about, flags, resolve } = request;
  const key = about === "app" ? "hydra.help.template" : "hydra.hydra_help.template";
  const template = selectNode(composition.root, key, context, { throwOnMissing: true });
  const groups = allGroups(repository);
  const values = {
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

/** Every group that has options of its own, groups inside groups included. */
function allGroups(repository: Repository, parent = ""): readonly string[] {
  return repository.list(parent, "group").flatMap((name) => {
    const group = parent === "" ? name : `${parent}/${name}`;
    const own = repository.list(group, "config").length > 0 ? [group] : [];
    return [...own, ...allGroups(repository, group)];
  });
}

/** `db: mysql, pg`, one line per group. */
function groupLines(repository: Repository, groups: readonly string[]): string {
  return [...groups]
    .sort()
    .map((group) => `${group}: ${repository.list(group, "config").join(", ")}\n`)
    .join("");
}
