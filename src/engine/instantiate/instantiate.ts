/** `hydra.utils.instantiate`: makes objects and calls functions as a config says. */
import {
  anything,
  checkOptions,
  listOf,
  type OptionChecks,
  optional,
  recordOf,
  schemaOption,
  text,
  withMethods,
} from "../values/check-options.ts";
import type { ConfigSchema } from "../values/config-schema.ts";
import { type DialectName, dialectNamed, dialectOption } from "../values/dialect.ts";
import { ConfigError } from "../values/errors.ts";
import { keyComponents } from "../values/key-path.ts";
import type { ConfigNode } from "../values/node.ts";
import { fromCode } from "../values/origin.ts";
import {
  createResolveContext,
  type ResolveContext,
  resolveContext,
} from "../values/resolution/context.ts";
import {
  mergeArguments,
  type Overrides,
  type Preparation,
  replaceArguments,
  resolvedTree,
} from "./arguments.ts";
import {
  type Building,
  build,
  defaultMode,
  MODE_KEYS,
  type Mode,
  modeOf,
  type Step,
  type Tree,
} from "./build-objects.ts";
import type { ResolvedTarget, ResultOf } from "./target.ts";
import type { TargetMap, Targets } from "./targets.ts";
import { toTree, withForeign } from "./view.ts";

/** A composed config, as `compose` returns it and tasks receive it. */
interface ConfigWithContext {
  readonly root: ConfigNode;
  readonly context: ResolveContext;
  readonly composition?: Pick<FittedConfig, "objects">;
}

/** The part of a config to instantiate, and its arguments. */
export interface InstantiateOptions<Entries extends TargetMap = TargetMap> {
  /** The targets that `_target_` may name. Default: none; functions in the config itself can always be called. */
  readonly targets?: Targets<Entries>;
  /** The part of the config to instantiate, such as `optimizer`. Default: all of it. */
  readonly key?: string;
  /** Positional arguments; they replace `_args_`. */
  readonly args?: readonly unknown[];
  /**
   * Named arguments, merged over the config: plain data is merged, other objects are passed as they are. `_convert_`,
   * `_recursive_`, `_partial_`, `_args_` and `_target_` may be among them.
   */
  readonly overrides?: Readonly<Record<string, unknown>>;
  /**
   * What the part must fit before the overrides are merged: a JSON Schema, the path of a file with one, or a validator such as zod's. What
   * it gives, defaults and conversions included, is instantiated.
   */
  readonly schema?: ConfigSchema;
  /** Resolvers for a config that is plain data or a node. */
  readonly context?: ResolveContext;
  /** The version of Hydra that it behaves as. Default: that of `context` or of the composed config, else 1.3. */
  readonly dialect?: DialectName;
}

/** A config literal in a program, with the name of a registered target. */
export interface TargetConfig<Name extends string = string> {
  readonly _target_: Name;
  readonly [key: string]: unknown;
}

/** `hydra.utils.instantiate`, as a type. */
export type Instantiate = {
  /**
   * `hydra.utils.instantiate`: calls the targets of a config, innermost first, with the other keys of their maps as
   * arguments. Any other value is passed through, null gives null.
   *
   * Synchronous: a promise that a target returns is passed on, and modules must already be imported. `instantiateAsync`
   * awaits both.
   * @throws ConfigError `instantiate.target`, `instantiate.failed` (whose cause is what the target threw) and
   *   `instantiate.invalid`, each with the key; `value.missing`; those of interpolations
   */
  <Entries extends TargetMap, Name extends keyof Entries & string>(
    config: TargetConfig<Name>,
    options: InstantiateOptions<Entries> & { readonly targets: Targets<Entries> },
  ): ResultOf<Entries[Name]>;
  /** The same, for a config whose target the compiler does not know. */
  <Result = unknown>(config: unknown, options?: InstantiateOptions): Result;
};

/** `instantiate` that awaits, as a type. */
export type InstantiateAsync = {
  /**
   * As `instantiate`, but asynchronous: modules of `module:export` are imported, and a promise that a target returns is
   * awaited before the target around it is called. Targets are called one after the other, in the order of the config.
   * @throws ConfigError as `instantiate`
   */
  <Entries extends TargetMap, Name extends keyof Entries & string>(
    config: TargetConfig<Name>,
    options: InstantiateOptions<Entries> & { readonly targets: Targets<Entries> },
  ): Promise<Awaited<ResultOf<Entries[Name]>>>;
  /** The same, for a config whose target the compiler does not know. */
  <Result = unknown>(config: unknown, options?: InstantiateOptions): Promise<Result>;
};

/** What configs are instantiated with, where a call gives nothing else. */
export interface InstantiateDefaults {
  /** For configs that are plain data or nodes. */
  readonly context: () => ResolveContext;
  readonly targets: Targets;
  /**
   * Checks a part of a config, and returns the config with what its schema gives.
   * @throws ConfigError `schema.mismatch`, `schema.invalid`
   */
  readonly fit: (part: SchemaPart) => FittedConfig;
}

/** A part of a config, and what it must fit. */
export interface SchemaPart {
  readonly root: ConfigNode;
  readonly path: readonly string[];
  readonly context: ResolveContext;
  readonly schema: ConfigSchema;
}

/** A config, and values of it that no node can hold, by the JSON text of their path. */
interface FittedConfig {
  readonly root: ConfigNode;
  readonly objects: ReadonlyMap<string, unknown>;
}

/** The functions that make objects and call functions as configs say. */
export function instantiation(defaults: InstantiateDefaults): {
  readonly instantiate: Instantiate;
  readonly instantiateAsync: InstantiateAsync;
} {
  return {
    instantiate: (config: unknown, options: InstantiateOptions = {}) => {
      checkOptions("instantiate", options, INSTANTIATE_OPTIONS);
      return settled(
        begin(config, options, defaults),
        options.targets ?? defaults.targets,
      ) as never;
    },
    instantiateAsync: async (config: unknown, options: InstantiateOptions = {}) => {
      checkOptions("instantiateAsync", options, INSTANTIATE_OPTIONS);
      return (await settle(
        begin(config, options, defaults),
        options.targets ?? defaults.targets,
      )) as never;
    },
  };
}

function settled(building: Building, targets: Targets): unknown {
  let next = building.next();
  while (next.done !== true) {
    const step = next.value;
    let answer: unknown;
    try {
      answer = step.kind === "settle" ? step.value : locate(step, targets);
    } catch (error) {
      next = building.throw(error);
      continue;
    }
    next = building.next(answer);
  }
  return next.value;
}

/**
 * As `instantiateAsync`, for the part of a composed config at a path of keys, which may contain dots.
 * @throws ConfigError as `instantiate`
 */
export const instantiateAt = (
  { root, context }: ConfigWithContext,
  path: readonly string[],
  targets: Targets,
): Promise<unknown> =>
  settle(buildAt({ root, context, path, key: path.join("."), overrides: {}, args: [] }), targets);

async function settle(building: Building, targets: Targets): Promise<unknown> {
  let next = building.next();
  while (next.done !== true) {
    const step = next.value;
    let answer: unknown;
    try {
      answer = await (step.kind === "settle" ? step.value : load(step, targets));
    } catch (error) {
      next = building.throw(error);
      continue;
    }
    next = building.next(answer);
  }
  return next.value;
}

const INSTANTIATE_OPTIONS: OptionChecks<InstantiateOptions> = {
  targets: optional(
    withMethods(["resolve", "load"], "targets", "make them with createTargets({ name: function })"),
  ),
  key: optional(text),
  args: optional(listOf("arguments", anything)),
  overrides: optional(recordOf(anything)),
  schema: optional(schemaOption),
  context: optional(resolveContext),
  dialect: dialectOption,
};

type LocateStep = Extract<Step, { kind: "locate" }>;

const locate = (step: LocateStep, targets: Targets): ResolvedTarget | undefined =>
  isUnknown(step, targets) ? undefined : targets.resolve(step.name);

const load = async (step: LocateStep, targets: Targets): Promise<ResolvedTarget | undefined> =>
  isUnknown(step, targets) ? undefined : targets.load(step.name);

const isUnknown = ({ name, optional }: LocateStep, { names }: Targets): boolean =>
  optional === true && !names.includes(name);

function* begin(
  config: unknown,
  options: InstantiateOptions,
  defaults: InstantiateDefaults,
): Building {
  const { key = "", args = [], overrides = {}, schema } = options;
  const { composition, context, root } = treeOf(config, options, defaults);
  const path = key === "" ? [] : keyComponents(key, context.dialect);
  const fitted = schema === undefined ? undefined : defaults.fit({ root, path, context, schema });
  const held = new Map([...(composition?.objects ?? []), ...(fitted?.objects ?? [])]);
  const withHeld = [...held].reduce(
    (tree, [id, value]) => withForeign(tree, JSON.parse(id), value),
    fitted?.root ?? root,
  );
  return yield* buildAt({ root: withHeld, context, path, key, overrides, args });
}

function* buildAt(part: Preparation): Building {
  const { args, context, key, overrides } = part;
  const prepared = (context.dialect.argumentsReplace ? replaceArguments : mergeArguments)(part);
  if (prepared === undefined) return null;
  const { place, tree } = prepared;
  if (place.node.kind === "list")
    return yield* build(place, modeOfList(overrides, key, tree), args);
  return yield* build(place, defaultMode(tree), args);
}

function treeOf(
  config: unknown,
  { context, dialect }: InstantiateOptions,
  defaults: InstantiateDefaults,
): ConfigWithContext {
  const composed = isComposed(config) ? config : undefined;
  const base = context ?? composed?.context ?? defaults.context();
  return {
    root: composed?.root ?? toTree(config, fromCode("instantiate()")),
    ...(composed?.composition && { composition: composed.composition }),
    context:
      dialect === undefined ? base : createResolveContext({ base, dialect: dialectNamed(dialect) }),
  };
}

const isComposed = (config: unknown): config is ConfigWithContext =>
  typeof config === "object" && config !== null && "root" in config && "context" in config;

/** A list has no keys, so only mode keys such as `_convert_` among the overrides apply to it. */
function modeOfList(overrides: Overrides, key: string, tree: Tree): Mode {
  const node = toTree(overrides, fromCode("overrides of instantiate()"));
  const mode = modeOf({ kind: "place", node, parent: null }, defaultMode(resolvedTree()));
  const other = Object.keys(overrides).find((name) => !MODE_KEYS.has(name));
  if (!mode.partial && other === undefined) return { ...mode, tree };
  throw new ConfigError({
    code: "instantiate.invalid",
    message: mode.partial
      ? "The _partial_ keyword is not compatible with top-level list instantiation"
      : `A list takes no named arguments: there is nothing to override with '${other}'`,
    ...(key !== "" && { key }),
  });
}
