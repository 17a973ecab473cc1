/** Hydra's own sweeper: all combinations of the sweep overrides. */
import { BASIC_SWEEPER_SETTINGS } from "../../../engine/compose/hydra/hydra-schema.ts";
import { leavesOf, pathText, type Repository } from "../../../engine/compose/index.ts";
import { maskSecrets } from "../../../engine/compose/secrets.ts";
import {
  isEndless,
  isSweep,
  leastValues,
  type Override,
  parseOverrides,
  type SweepOptions,
} from "../../../engine/overrides/index.ts";
import { ConfigError } from "../../../engine/values/errors.ts";
import { getAt, type MapNode } from "../../../engine/values/node.ts";
import { pyStr } from "../../../engine/values/python-text.ts";
import { asDeclared, type ResolveContext } from "../../../engine/values/resolution/context.ts";
import { selectNode } from "../../../engine/values/resolution/select.ts";
import { firstFew, plural } from "../../../foundation/text/plural.ts";
import { byKey, pointsOf, product } from "./dimensions.ts";
import { readExclusion } from "./exclusion.ts";
import type { JobOverrides, SweeperDefinition, SweeperRequest } from "./sweeper.ts";

/** Hydra's name, which log configs may use. */
const LOGGER = "hydra._internal.core_plugins.basic_sweeper";

/**
 * Hydra's own sweeper: `hydra.sweeper.params`, then the sweep overrides of the command line; all combinations except
 * those in `hydra.sweeper.exclude` (our addition), in batches of `hydra.sweeper.max_batch_size`.
 * @see https://hydra.cc/docs/1.3/tutorials/basic/running_your_app/multi-run/
 */
export const basicSweeper: SweeperDefinition = {
  targets: ["hydra._internal.core_plugins.basic_sweeper.BasicSweeper"],
  settings: BASIC_SWEEPER_SETTINGS,
  open: (request) => {
    const batches = batchesOf(request);
    let asked = 0;
    return {
      ask: () => batches[asked++],
      mayAskForMore: () => asked < batches.length,
      tell: () => {},
      logger: LOGGER,
    };
  },
};

/**
 * The batches of jobs that a command line and the config ask for.
 * @throws ConfigError as `basicBatches` does, and for wrong settings of the sweeper
 */
export function batchesOf(request: SweepLine): readonly (readonly JobOverrides[])[] {
  const { context, groups, master } = request;
  const size = selectNode(master.root, "hydra.sweeper.max_batch_size", context);
  const all = allOverrides(request);
  const isExcluded = readExclusion(master.root, context, all);
  return basicBatches({
    overrides: all,
    ...(isExcluded !== undefined && { isExcluded }),
    maxBatchSize: size === undefined || pyStr(size) === "None" ? null : Number(pyStr(size)),
    options: globOptions(groups),
  });
}

/** `hydra.sweeper.params` as overrides. */
export function sweepParams(root: MapNode, context: ResolveContext): readonly string[] {
  const params = selectNode(root, "hydra.sweeper.params", asDeclared(context), { deep: true });
  if (params?.kind !== "map") return [];
  return [...params.entries.values()].map(({ key, value }) => `${pyStr(key)}=${pyStr(value)}`);
}

/**
 * The values that each override may contribute to a job. @param overrides overrides of the task, after those of
 * `hydra.sweeper.params`
 */
export function dimensionsOf(request: SweepLine): readonly (readonly JobOverrides[])[] {
  const options = globOptions(request.groups);
  return [...byKey(allOverrides(request)).values()].map((override) => pointsOf(override, options));
}

/** What the jobs of a sweep are made of. */
type SweepLine = Pick<SweeperRequest, "context" | "groups" | "master" | "overrides">;

/** Those of `hydra.sweeper.params`, and then those of the line. */
const allOverrides = ({ context, master, overrides }: SweepLine) =>
  parseOverrides([...sweepParams(master.root, context), ...overrides], {
    dialect: context.dialect,
  });

/** The options that `glob` selects from. */
export const globOptions = (repository: Repository): SweepOptions => ({
  groupOptions: (group) => repository.list(group, "config"),
});

/**
 * Notes about each override without values: a sweep over it has no jobs, which Hydra passes over in silence. A `glob` may
 * select nothing because its group has no options, only groups inside it.
 */
export function emptyNotes({
  context,
  groups,
  master,
  overrides,
}: Pick<SweeperRequest, "context" | "groups" | "master" | "overrides">): readonly string[] {
  const options = globOptions(groups);
  const all = allOverrides({ context, groups, master, overrides });
  if (isSearch(master.root) && !all.some(isSweep))
    return [`nothing is searched: no override has several values${exampleOf(master)}`];
  return [...byKey(all).values()].flatMap((override) => {
    const { keyOrGroup: group, origin, value } = override;
    if (!mayBeEmpty(override) || pointsOf(override, options).length > 0) return [];
    const groupOptions = value?.kind === "glob" ? groups.list(group, "config") : [];
    if (groupOptions.length > 0)
      return [
        `the sweep has no jobs: '${origin.text}' selects none of ${firstFew(groupOptions, MOST_GROUPS)}`,
      ];
    const below = groups.list(group, "group");
    const [first] = value?.kind === "glob" ? below : [];
    return first === undefined
      ? [`the sweep has no jobs: '${origin.text}' gives no values`]
      : [
          `${origin.text} selects nothing: ${group} has no options of its own, only the groups ${firstFew(below, MOST_GROUPS)}; to select from one: ${origin.text.replace(group, `${group}/${first}`)}`,
        ];
  });
}

/** Whether the sweeper is one of ours that draws from a space. */
function isSearch(root: MapNode): boolean {
  const target = getAt(root, ["hydra", "sweeper", "_target_"]);
  return target?.kind === "scalar" && pyStr(target).startsWith("hydraconf.");
}

/** An override with several values, of the first number of the config that is no secret. */
function exampleOf(master: SweepLine["master"]): string {
  const number = leavesOf(maskSecrets(master.config, master)).find(
    ({ node, path }) =>
      node.kind === "scalar" &&
      /^\d+(?:\.\d+)?$/.test(pyStr(node)) &&
      path.every((key) => /^[A-Za-z_]\w*$/.test(String(key))),
  );
  if (number?.node.kind !== "scalar") return "";
  const value = pyStr(number.node);
  return `, as in '${pathText(number.path)}=choice(${value},${Number(value) * 2})'`;
}

/** Whether a sweep may be without values; those of a long range are not collected to know it. */
const mayBeEmpty = (override: Override): boolean =>
  override.value?.kind === "glob" ||
  (override.value?.kind === "range" && !isEndless(override) && leastValues(override) < 1);

const MOST_GROUPS = 5;

export interface BatchesRequest {
  /** The overrides of `hydra.sweeper.params`, then those of the command line. */
  readonly overrides: readonly Override[];
  /** `hydra.sweeper.max_batch_size`; null for a single batch. */
  readonly maxBatchSize: number | null;
  /** Whether a combination is excluded. */
  readonly isExcluded?: (job: JobOverrides) => boolean;
  readonly options?: SweepOptions;
}

/**
 * Every combination of the values of all sweep overrides, the last one changing fastest, in batches. A repeated key
 * keeps its place and takes the new values.
 *
 * @throws ConfigError `override.sweep_not_allowed` for an interval and if every combination is excluded,
 * `override.function` for values that cannot be enumerated, `value.wrong_type` for a batch size below 1
 */
export function basicBatches(request: BatchesRequest): readonly (readonly JobOverrides[])[] {
  const { isExcluded, maxBatchSize, options, overrides } = request;
  // An override that a later one of its key replaces is checked all the same.
  const points = new Map(overrides.map((override) => [override, pointsOf(override, options)]));
  const all = product([...byKey(overrides).values()].map((override) => points.get(override) ?? []));
  const jobs = isExcluded === undefined ? all : all.filter((job) => !isExcluded(job));
  if (jobs.length === 0 && all.length > 0)
    throw new ConfigError({
      code: "override.sweep_not_allowed",
      message: `hydra.sweeper.exclude leaves none of ${plural(all.length, "job")}`,
      key: "hydra.sweeper.exclude",
    });
  if (maxBatchSize === null) return [jobs];
  if (maxBatchSize < 1)
    throw new ConfigError({
      code: "value.wrong_type",
      message: `hydra.sweeper.max_batch_size must be at least 1, not ${maxBatchSize}`,
      key: "hydra.sweeper.max_batch_size",
    });
  return chunks(jobs, maxBatchSize);
}

function chunks<T>(items: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}
