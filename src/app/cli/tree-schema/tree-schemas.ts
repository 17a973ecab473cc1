/** The schemas of a config tree: of its primary config, its groups and its resolved data. */
import { EMPTY_CONFIG, type Repository } from "../../../engine/compose/index.ts";
import { alternativesTo, ConfigError } from "../../../engine/values/errors.ts";
import type { ConfigNode, MapNode } from "../../../engine/values/node.ts";
import { INTERPOLATION_DEFINITION, type InferredSchema, inferSchema } from "./infer.ts";

const DIALECT = "https://json-schema.org/draft/2020-12/schema";

/** A config tree to derive schemas from. */
export interface TreeOfConfigs {
  readonly repository: Repository;
  /** The primary config. */
  readonly configName: string;
  /** The composed config, without `hydra`. */
  readonly config: MapNode;
}

/**
 * The schema of the primary config's file, for editors: its defaults list, and the keys of the composed config, since
 * the file may set any of them.
 */
export function primarySchema({ config, configName, repository }: TreeOfConfigs): InferredSchema {
  const groups = groupsOf(repository);
  return document(repository, groups, "", {
    title: `The primary config '${configName}'`,
    content: [config],
    ownProperties: { hydra: { type: "object", description: "Hydra's own configuration" } },
  });
}

/**
 * The schema of the files of a group, for editors: the keys of all options.
 *
 * @throws ConfigError `key.not_found` if there is no such group, or it has no options
 */
export function groupSchema({ repository }: TreeOfConfigs, group: string): InferredSchema {
  const groups = groupsOf(repository);
  const options = repository.list(group, "config");
  if (!groups.includes(group) || options.length === 0) throw noSuchGroup(repository, group);
  const content = options.flatMap((option): readonly ConfigNode[] => {
    const loaded = repository.load(`${group}/${option}`);
    return loaded === undefined ? [] : [loaded.node];
  });
  return document(repository, groups, group, {
    title: `An option of the config group '${group}'`,
    content,
    ownProperties: {},
  });
}

/** The groups with options, which are those with a schema. */
export const groupsWithOptions = (repository: Repository): readonly string[] =>
  groupsOf(repository).filter((group) => repository.list(group, "config").length > 0);

interface Parts {
  readonly title: string;
  readonly content: readonly ConfigNode[];
  readonly ownProperties: Readonly<Record<string, InferredSchema>>;
}

function document(
  repository: Repository,
  groups: readonly string[],
  from: string,
  { content, ownProperties, title }: Parts,
): InferredSchema {
  const inferred = inferSchema(
    content.filter(({ kind }) => kind === "map"),
    "files",
  );
  const branches = (inferred["anyOf"] as readonly InferredSchema[] | undefined) ?? [inferred];
  const properties = branches.map((branch) => branch["properties"]).find((found) => found);
  return {
    $schema: DIALECT,
    title,
    type: "object",
    properties: {
      defaults: defaultsSchema(repository, groups, from),
      ...(properties as Readonly<Record<string, InferredSchema>> | undefined),
      ...ownProperties,
    },
    $defs: { ...INTERPOLATION_DEFINITION, ...optionDefinitions(repository, groups) },
  };
}

function noSuchGroup(repository: Repository, group: string): ConfigError {
  return new ConfigError({
    code: "key.not_found",
    message: `There is no config group '${group}' with options in this tree`,
    ...alternativesTo(group, groupsWithOptions(repository)),
    ...(group.includes("=") && { hint: "name the group alone: overrides change no schema" }),
  });
}

/** Hydra's own groups are rarely overridden in files, and documented elsewhere. */
const OWN = "hydra";

/** All config groups of a tree except Hydra's own, parents first. */
function groupsOf(repository: Repository, parent = ""): readonly string[] {
  return repository.list(parent, "group").flatMap((name) => {
    const group = parent === "" ? name : `${parent}/${name}`;
    return group === OWN ? [] : [group, ...groupsOf(repository, group)];
  });
}

/** The options of every group as enums, for references by `optionOf`. */
const optionDefinitions = (repository: Repository, groups: readonly string[]): InferredSchema =>
  Object.fromEntries(
    groups.flatMap((group) => {
      const options = repository.list(group, "config");
      return options.length === 0 ? [] : [[definitionOf(group), { enum: options }]];
    }),
  );

const definitionOf = (group: string): string => `options of ${group}`;

const optionOf = (group: string): InferredSchema => ({
  $ref: `#/$defs/${encodeURIComponent(definitionOf(group).replaceAll("~", "~0").replaceAll("/", "~1"))}`,
});

/**
 * The defaults list of a config in a group: its items are names of configs in the same group, and options of groups,
 * whose names are relative to that group or, with a leading slash, to the root.
 * @see https://hydra.cc/docs/1.3/advanced/defaults_list/
 */
function defaultsSchema(
  repository: Repository,
  groups: readonly string[],
  from: string,
): InferredSchema {
  const withOptions = groups.filter((group) => repository.list(group, "config").length > 0);
  const named = withOptions.flatMap((group) => [
    ...(from === "" ? [[group, group] as const] : []),
    ...(from !== "" && group.startsWith(`${from}/`)
      ? [[group.slice(from.length + 1), group] as const]
      : []),
    [`/${group}`, group] as const,
  ]);
  return {
    type: "array",
    description: "The defaults list: which configs this one is composed from, in this order",
    items: {
      anyOf: [
        { enum: ["_self_", ...configsIn(repository, from)] },
        { type: "string" },
        {
          type: "object",
          minProperties: 1,
          maxProperties: 1,
          properties: Object.fromEntries(
            named.flatMap(([name, group]) =>
              [name, `override ${name}`].map((key) => [key, choiceOf(group)]),
            ),
          ),
          patternProperties: Object.fromEntries(
            named.map(([name, group]) => [patternOf(name), choiceOf(group)]),
          ),
        },
      ],
    },
  };
}

const configsIn = (repository: Repository, group: string): readonly string[] =>
  repository.list(group, "config").filter((name) => name !== EMPTY_CONFIG);

/** Matches the name with a package (`override db@backup`), or with keywords that `properties` does not list. */
function patternOf(name: string): string {
  const literal = name.replaceAll(/[.*+?^${}()|[\]\\/]/g, "\\$&");
  const keywords = "(?:(?:optional|override) +){0,2}";
  return `^(?:${keywords}${literal}@.*|(?:optional +(?:override +)?|override +optional +)${literal})$`;
}

const choiceOf = (group: string): InferredSchema => ({
  description: `an option of the group ${group}`,
  anyOf: [
    optionOf(group),
    { type: "array", items: optionOf(group) },
    { type: "null" },
    { $ref: "#/$defs/interpolation" },
  ],
});
