import { EMPTY_CONFIG, type Repository } from "../../compose/index.ts";
import type { InferredSchema } from "./infer.ts";

/** Hydra's own groups are overridden in few files and documented elsewhere. */
const OWN = "hydra";

/** All config groups of a tree, parents first, but for Hydra's own. */
export function groupsOf(repository: Repository, parent = ""): readonly string[] {
  return repository.list(parent, "group").flatMap((name) => {
    const group = parent === "" ? name : `${parent}/${name}`;
    return group === OWN ? [] : [group, ...groupsOf(repository, group)];
  });
}

/** The options of every group as enums, to be referred to by `optionOf`. */
export const optionDefinitions = (
  repository: Repository,
  groups: readonly string[],
): InferredSchema =>
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
 * The defaults list of a config in a group: its items are names of configs beside it, and options of
 * groups, which are named from that group on or, with a leading slash, from the root.
 * @see https://hydra.cc/docs/1.3/advanced/defaults_list/
 */
export function defaultsSchema(
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

/** With a package (`override db@backup`), or with other keywords than `properties` names. */
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
