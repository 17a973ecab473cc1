/** What one command line composes in one dialect, and how two such outcomes differ. */
import type { Composer } from "../../app/job/composer.ts";
import { refuseOtherLauncher } from "../../app/sweep/plan-sweep.ts";
import {
  type Composition,
  type CompositionWarning,
  type Difference,
  diffConfigs,
  pathText,
} from "../../engine/compose/index.ts";
import {
  isEndless,
  isSweep,
  leastValues,
  type Override,
  parseOverride,
  sweepOverrides,
} from "../../engine/overrides/index.ts";
import type { Dialect } from "../../engine/values/dialect.ts";
import { type ConfigError, isConfigError } from "../../engine/values/errors.ts";
import { isInterpolationNode } from "../../engine/values/interpolation/interpolation-parser.ts";
import { type ConfigNode, child, getAt, type Key, type MapNode } from "../../engine/values/node.ts";
import type { Place } from "../../engine/values/place.ts";
import { pyStr } from "../../engine/values/python-text.ts";
import { createResolution } from "../../engine/values/resolution/evaluate-interpolation.ts";

/** Overrides as a command line has them. */
export interface OverrideLine {
  readonly overrides: readonly string[];
  readonly isMultirun: boolean;
}

/** What a line composes: a config, or an error. */
export type Outcome = ComposedOutcome | FailedOutcome;

export interface FailedOutcome {
  readonly kind: "failed";
  readonly error: ConfigError;
}

export interface ComposedOutcome {
  readonly kind: "composed";
  readonly composition: Composition;
  /** What those interpolations of the config give that versions may resolve in different ways, by key. */
  readonly resolved: ReadonlyMap<string, ResolvedValue>;
  /** The values of each sweep, by the position of its override or its key in `hydra.sweeper.params`. */
  readonly sweeps: ReadonlyMap<string, SweepValues>;
  /** Whether a job works in its own directory. */
  readonly changesDirectory: boolean;
  readonly warnings: readonly CompositionWarning[];
  /** The first job that a sweep could not compose. */
  readonly failedJob?: ConfigError;
  /** How many jobs of a sweep over groups were not composed, since there are too many. */
  readonly leftJobs: number;
}

/** The value of an interpolation; without `node` it cannot be resolved. */
export interface ResolvedValue {
  readonly written: ConfigNode;
  readonly path: readonly Key[];
  readonly node?: ConfigNode;
}

/** The values of a sweep as texts, or why there are none. */
export interface SweepValues {
  readonly text: string;
  /** Where the sweep is written, if that is a file. */
  readonly node?: ConfigNode;
  readonly values: readonly string[] | string;
}

/** One way in which a line gives something else. */
export type Change =
  | { readonly kind: "fails"; readonly error: ConfigError }
  | { readonly kind: "value"; readonly difference: Difference; readonly isResolved: boolean }
  | {
      readonly kind: "sweep";
      readonly key: string;
      readonly older: SweepValues;
      readonly newer: SweepValues;
    }
  | { readonly kind: "directory"; readonly older: boolean; readonly newer: boolean };

/** More jobs of a sweep are not composed. */
const MOST_JOBS = 24;
/** More values of a sweep are not compared. */
const MOST_VALUES = 10_000;

/** Composes a line; never throws for what is wrong in it or in the tree. */
export function composeOutcome(composer: Composer, line: OverrideLine): Outcome {
  const { context } = composer;
  const { dialect } = context;
  try {
    const task = composer.composeTask(line.overrides, line.isMultirun);
    const composition = task.composition();
    const resolved = resolvedValues(composition, composer);
    const overrides = line.overrides.map((text) => parseOverride(text, { dialect }));
    const searched = dialect.globsSearchPath ? composition.repository : composer.repository;
    const options = {
      groupOptions: (group: string) => searched.list(group, "config"),
      random: () => HALF,
    };
    const sweeps = new Map(
      overrides.flatMap((override, index) =>
        isSweep(override) ? [[String(index), valuesOf(override, options)] as const] : [],
      ),
    );
    const params = task.mode === "multirun" ? paramsOf(composition, dialect, options) : [];
    const jobs = task.mode === "multirun" ? groupJobs(composition, overrides, sweeps) : [];
    const failedJob = failureOfJobs(composer, composition, jobs.slice(0, MOST_JOBS));
    return {
      kind: "composed",
      composition,
      resolved,
      sweeps: new Map([...sweeps, ...params]),
      changesDirectory: changesDirectory(composition, dialect),
      warnings: composition.warnings,
      ...(failedJob !== undefined && { failedJob }),
      leftJobs: Math.max(0, jobs.length - MOST_JOBS),
    };
  } catch (error) {
    if (isConfigError(error)) return { kind: "failed", error };
    throw error;
  }
}

/** Every shuffle then gives the same order, which is not that of the values. */
const HALF = 0.5;

/** Between the overrides of one job: a zip has several. */
const APART = "\0";

type Options = Parameters<typeof sweepOverrides>[1];

function valuesOf(override: Override, options: Options): SweepValues {
  const { text } = override.origin;
  try {
    if (isEndless(override) || leastValues(override) > MOST_VALUES) return { text, values: text };
    const values: string[] = [];
    for (const texts of sweepOverrides(override, options)) {
      values.push(texts.join(APART));
      if (values.length > MOST_VALUES) break;
    }
    return { text, values };
  } catch (error) {
    if (!isConfigError(error)) throw error;
    // Intervals and other sweeps that only a sweeper draws from.
    return { text, values: text };
  }
}

/** `hydra.sweeper.params`: sweeps of every multirun. */
function paramsOf(
  { hydra }: Composition,
  dialect: Dialect,
  options: Options,
): readonly (readonly [string, SweepValues])[] {
  const params = getAt(hydra, ["sweeper", "params"]);
  if (params?.kind !== "map") return [];
  return [...params.entries.values()].flatMap(({ key, value }) => {
    if (value.kind !== "scalar" || value.value === null) return [];
    const text = `${pyStr(key)}=${pyStr(value)}`;
    try {
      const override = parseOverride(text, { dialect });
      const read = isSweep(override) ? valuesOf(override, options) : { text, values: text };
      return [[`hydra.sweeper.params.${pyStr(key)}`, { ...read, node: value }] as const];
    } catch (error) {
      if (!isConfigError(error)) throw error;
      return [];
    }
  });
}

/** The overrides of a sweep's first job, and, if it is one over groups, of those with each value of each sweep once. */
function groupJobs(
  { repository }: Composition,
  overrides: readonly Override[],
  sweeps: ReadonlyMap<string, SweepValues>,
): readonly (readonly string[])[] {
  const columns = overrides.map(({ origin }, index) => {
    const found = sweeps.get(String(index))?.values;
    return typeof found === "object" && found.length > 0 ? found : [origin.text];
  });
  const isGroup = (override: Override): boolean =>
    isSweep(override) && repository.groupExists(override.keyOrGroup);
  const jobs = jobsOf(columns);
  return overrides.some(isGroup) ? jobs : jobs.slice(0, 1);
}

/** The first error of jobs. */
function failureOfJobs(
  composer: Composer,
  master: Composition,
  jobs: readonly (readonly string[])[],
): ConfigError | undefined {
  try {
    for (const job of jobs) {
      const composition = composer.compose(job);
      if (composer.context.dialect.fixesLauncher) refuseOtherLauncher(master, composition);
    }
    return undefined;
  } catch (error) {
    if (isConfigError(error)) return error;
    throw error;
  } finally {
    composer.publish(master.root);
  }
}

function jobsOf(columns: readonly (readonly string[])[]): readonly (readonly string[])[] {
  const start = columns.map(([value = ""]) => value);
  const changed = columns.flatMap((values, column) =>
    values.slice(1).map((value) => start.map((other, index) => (index === column ? value : other))),
  );
  return [start, ...changed].map((job) => job.flatMap((texts) => texts.split(APART)));
}

function changesDirectory({ hydra }: Composition, dialect: Dialect): boolean {
  const set = getAt(hydra, ["job", "chdir"]);
  return set?.kind === "scalar" && typeof set.value === "boolean"
    ? set.value
    : dialect.changesDirectory;
}

/**
 * Interpolations that versions may resolve in different ways: escapes, indices, integer keys, keys above the root, resolvers of
 * OmegaConf. Other references give what they refer to in all of them, and what only a program registers gives nothing here.
 */
const MAY_DIFFER = /\\|\$\{\.\.|[.[{]-?\d|\$\{[^}]*\[|\$\{oc\.(?!env\b)/;

function resolvedValues(
  { config, root }: Composition,
  { context }: Composer,
): ReadonlyMap<string, ResolvedValue> {
  const values = new Map<string, ResolvedValue>();
  const resolution = createResolution(root, context);
  const visit = (place: Place, path: readonly Key[]): void => {
    const { node } = place;
    if (isInterpolationNode(node)) {
      if (!MAY_DIFFER.test(node.value)) return;
      const entry = { written: node, path };
      try {
        values.set(pathText(path), { ...entry, node: resolution.dereference(place).node });
      } catch (error) {
        if (!isConfigError(error)) throw error;
        values.set(pathText(path), entry);
      }
      return;
    }
    const keys: readonly Key[] =
      node.kind === "map"
        ? [...node.entries.values()].map(({ key }) => key)
        : node.kind === "list"
          ? node.items.map((_, index) => BigInt(index))
          : [];
    for (const key of keys) {
      const below = resolution.places.child(place, key);
      if (below !== undefined) visit(below, [...path, key]);
    }
  };
  for (const { key } of config.entries.values()) {
    const below = resolution.places.child(resolution.root, key);
    if (below !== undefined) visit(below, [key]);
  }
  return values;
}

/** What differs although no tree says so: paths in the `hydra` node. */
export type StandardPaths = ReadonlySet<string>;

/** Paths whose values say how a config was made, and not what it is; sweeps are compared by their values. */
const OF_COMPOSITION =
  /^hydra\.(runtime|overrides|override|help|hydra_help|sweeper\.params)(\.|$)|^hydra\.job\.(override_dirname|chdir|config_name)$/;

/** The changes from one outcome to another; none if the older one is an error. */
export function changesBetween(
  older: Outcome,
  newer: Outcome,
  standard: StandardPaths,
): readonly Change[] {
  if (older.kind === "failed") return [];
  if (newer.kind === "failed") return [{ kind: "fails", error: newer.error }];
  const failed = older.failedJob === undefined ? newer.failedJob : undefined;
  return [
    ...(failed === undefined ? [] : [{ kind: "fails", error: failed } as const]),
    ...valueChanges(older.composition, newer.composition, standard),
    ...resolvedChanges(older, newer),
    ...sweepChanges(older, newer),
    ...(older.changesDirectory === newer.changesDirectory
      ? []
      : [
          {
            kind: "directory",
            older: older.changesDirectory,
            newer: newer.changesDirectory,
          } as const,
        ]),
  ];
}

function valueChanges(
  older: Composition,
  newer: Composition,
  standard: StandardPaths,
): readonly Change[] {
  const ofHydra = diffConfigs(older.hydra, newer.hydra, ["hydra"]).filter(({ path }) => {
    const text = pathText(path);
    return !OF_COMPOSITION.test(text) && !standard.has(text);
  });
  return [...diffConfigs(older.config, newer.config), ...ofHydra].map((difference) => ({
    kind: "value",
    difference,
    isResolved: false,
  }));
}

function resolvedChanges(older: ComposedOutcome, newer: ComposedOutcome): readonly Change[] {
  return [...older.resolved].flatMap(([key, { node, path, written }]): readonly Change[] => {
    const now = newer.resolved.get(key);
    if (node === undefined || now === undefined || !isEqual(written, now.written)) return [];
    if (now.node !== undefined && isEqual(node, now.node)) return [];
    // With the places of the interpolations, where a reader looks first.
    const before = { ...node, origin: written.origin };
    const difference: Difference =
      now.node === undefined
        ? { kind: "removed", path, before }
        : { kind: "changed", path, before, after: { ...now.node, origin: now.written.origin } };
    return [{ kind: "value", difference, isResolved: true }];
  });
}

const isEqual = (left: ConfigNode, right: ConfigNode): boolean =>
  diffConfigs(left, right).length === 0;

function sweepChanges(older: ComposedOutcome, newer: ComposedOutcome): readonly Change[] {
  return [...older.sweeps].flatMap(([key, before]): readonly Change[] => {
    const after = newer.sweeps.get(key);
    if (after === undefined || sameValues(before.values, after.values)) return [];
    return [{ kind: "sweep", key, older: before, newer: after }];
  });
}

/** A sweep without values, such as an interval, is the same whatever its text is. */
const sameValues = (left: SweepValues["values"], right: SweepValues["values"]): boolean =>
  typeof left === "string" || typeof right === "string"
    ? typeof left === typeof right
    : left.length === right.length && left.every((value, index) => value === right[index]);

/** The paths in which the `hydra` nodes of two empty programs differ. */
export const standardPaths = (older: Outcome, newer: Outcome): StandardPaths =>
  new Set(
    older.kind === "failed" || newer.kind === "failed"
      ? []
      : diffConfigs(older.composition.hydra, newer.composition.hydra, ["hydra"]).map(({ path }) =>
          pathText(path),
        ),
  );

/** The entries of a map as texts. */
export const textEntries = (
  node: ConfigNode | undefined,
): readonly (readonly [string, ConfigNode])[] =>
  node?.kind === "map"
    ? [...(node satisfies MapNode).entries.values()].map(
        ({ key, value }) => [pyStr(key), value] as const,
      )
    : [];

/** A text in a map; undefined if it is none. */
export function textAt(node: ConfigNode | undefined, key: string): string | undefined {
  const value = node === undefined ? undefined : child(node, key);
  return value?.kind === "scalar" && typeof value.value === "string" ? value.value : undefined;
}
