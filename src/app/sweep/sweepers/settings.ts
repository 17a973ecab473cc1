/** Reads the settings of sweepers. */
import { parseOverrides } from "../../../engine/overrides/index.ts";
import { ConfigError } from "../../../engine/values/errors.ts";
import { selectNode } from "../../../engine/values/resolution/select.ts";
import { plainAt, textAt } from "../../job/hydra-values.ts";
import { globOptions, sweepParams } from "./basic-sweeper.ts";
import { readExclusion } from "./exclusion.ts";
import type { Direction, OptimizingRequest } from "./optimizing-sweeper.ts";
import { type SearchSpace, searchSpace } from "./search-space.ts";
import type { SweeperRequest } from "./sweeper.ts";

/** Typed access to the settings of a sweeper. */
export interface Settings {
  text(name: string): string | undefined;
  /** @throws ConfigError `value.wrong_type` for a value below `least` or not a number */
  number(name: string, least: number): number | undefined;
  int(name: string, least: number): number | undefined;
  /** A number that preserves whether it was an int. */
  intOrFloat(name: string): bigint | number | undefined;
  refuse(name: string, problem: string, hint?: string): never;
}

export function readSettings({ context, master: { root } }: SweeperRequest): Settings {
  const keyOf = (name: string) => `hydra.sweeper.${name}`;
  const refuse = (name: string, problem: string, hint?: string): never => {
    const node = selectNode(root, keyOf(name), context);
    throw new ConfigError({
      code: "value.wrong_type",
      message: `${keyOf(name)} ${problem}`,
      key: keyOf(name),
      origin: node?.origin,
      hint,
    });
  };
  const intOrFloat = (name: string): bigint | number | undefined => {
    const node = selectNode(root, keyOf(name), context);
    const value = node?.kind === "scalar" ? node.value : undefined;
    if (value === null || value === undefined) return undefined;
    if (typeof value === "bigint" || typeof value === "number") return value;
    return refuse(name, `must be a number, not '${String(value)}'`);
  };
  const number = (name: string, least: number): number | undefined => {
    const value = intOrFloat(name);
    if (value === undefined) return undefined;
    return Number(value) >= least
      ? Number(value)
      : refuse(name, `must be at least ${least}, not ${value}`);
  };
  return {
    text: (name) => textAt(root, keyOf(name), context),
    number,
    int: (name, least) =>
      typeof intOrFloat(name) === "number" ? refuse(name, "must be an int") : number(name, least),
    intOrFloat,
    refuse,
  };
}

/** The overrides that span the space: those of `hydra.sweeper.params`, then those of the command line. */
export const readOverrides = ({ context, master, overrides }: SweeperRequest) =>
  parseOverrides([...sweepParams(master.root, context), ...overrides], {
    dialect: context.dialect,
  });

/** The space that all overrides span, without the combinations that `hydra.sweeper.exclude` excludes. */
export function readSpace(
  request: SweeperRequest,
  overrides: ReturnType<typeof readOverrides> = readOverrides(request),
): SearchSpace {
  const { context, groups, master } = request;
  const isExcluded = readExclusion(master.root, context, overrides);
  return searchSpace(overrides, globOptions(groups), isExcluded);
}

/** The settings that all optimising sweepers share. */
export function readCommon(
  settings: Settings,
  request: SweeperRequest,
): Omit<OptimizingRequest, "name" | "search"> {
  return {
    direction: readDirection(settings, request),
    batchSize: settings.int("n_jobs", 1),
    maxFailureRate: settings.number("max_failure_rate", 0) ?? 0,
    objective: settings.text("objective"),
    directory: request.directory,
    dialect: request.context.dialect,
  };
}

/** The direction; also accepts a list of one, as Hydra's optuna sweeper does. */
function readDirection(settings: Settings, { context, master }: SweeperRequest): Direction {
  const value = plainAt(master.root, "hydra.sweeper.direction", context);
  const directions = Array.isArray(value) ? value : [value];
  const [direction] = directions;
  if (directions.length > 1)
    return settings.refuse(
      "direction",
      "has several directions, but a task has only one objective",
    );
  if (direction === "minimize" || direction === "maximize") return direction;
  return settings.refuse("direction", `must be minimize or maximize, not '${String(direction)}'`);
}

/**
 * The seed as text. By default it is the directory of the sweep, so that another sweep draws other numbers, and the
 * same sweep, resumed, the same ones.
 */
export const seedOf = (seed: number | undefined, { directory }: SweeperRequest): string =>
  seed === undefined ? directory : String(seed);
