import { resolve } from "node:path";
import type { Composition } from "../compose/index.ts";
import { once } from "../system/get-or-create.ts";
import {
  type ConfigNode,
  child,
  editTree,
  type MapNode,
  type NodeType,
  scalar,
  setAt,
} from "../values/node.ts";
import { fromCode } from "../values/origin.ts";
import type { ResolveContext } from "../values/resolution/context.ts";
import { resolveTree } from "../values/resolution/resolve-tree.ts";
import { selectNode } from "../values/resolution/select.ts";
import { textAt, textsAt } from "./hydra-values.ts";
import { nextFreeDirectory } from "./run-directory.ts";
import type { Session } from "./session.ts";

/** A job with all that is decided before anything is made. */
export interface PlannedJob {
  readonly composition: Composition;
  /** The place in a sweep, from 0; undefined for a single run. */
  readonly number?: number;
  /** `hydra.job.id` of a job of a sweep. */
  readonly id?: string;
  /** The whole tree, with the job's number and directory in it. */
  readonly root: MapNode;
  /** The tree without `hydra`: what the task gets. */
  readonly tree: MapNode;
  readonly outputDir: string;
  /** The overrides of the task's own config, as typed. */
  readonly overrides: readonly string[];
  /** The task's config with every interpolation resolved; worked out on first use. */
  readonly resolved: () => ConfigNode;
}

export interface JobPlace {
  /** Where relative directories start. */
  readonly cwd: string;
  readonly context: ResolveContext;
  /** Is told the tree that `${hydra:...}` is to read, whenever the job's own values change it. */
  readonly publish: (root: MapNode) => void;
  /** What says that a directory holds results. */
  readonly resultFiles: readonly string[];
  /** What `hydra.job.id` is in a job of a sweep, where the launcher does not take its number. */
  readonly idOf?: (number: number, name: string) => string;
}

/**
 * Plans a job: `hydra.run.dir` for a single run; for a job of a sweep its number, and the
 * directory `hydra.sweep.dir/hydra.sweep.subdir`, unless another is given. Makes nothing.
 */
export function planJob(
  composition: Composition,
  place: JobPlace,
  number?: number,
  directory?: string,
): PlannedJob {
  const { context, idOf, publish } = place;
  const edited = editTree(composition.root);
  let id: string | undefined;
  if (number !== undefined) {
    const name = () => textAt(composition.root, "hydra.job.name", context) ?? "None";
    id = idOf?.(number, name()) ?? String(number);
    edited.set(["hydra", "job", "id"], typed(id, "str"));
    edited.set(["hydra", "job", "num"], typed(BigInt(number), "int"));
  }
  publish(edited.root);
  const outputDir = directory ?? directoryOf(edited.root, composition, place, number);
  const root = setAt(edited.root, ["hydra", "runtime", "output_dir"], typed(outputDir, "str"));
  publish(root);
  const tree = composition.config;
  return {
    composition,
    ...(number !== undefined && { number }),
    ...(id !== undefined && { id }),
    root,
    tree,
    outputDir,
    overrides: textsAt(root, "hydra.overrides.task", context),
    resolved: once(() => {
      publish(root);
      return resolveTree(tree, context);
    }),
  };
}

const typed = (value: string | bigint, kind: "str" | "int"): ConfigNode => ({
  ...scalar(value, fromCode("job")),
  type: { kind } satisfies NodeType,
});

/** Where Python would print `None`, there stands `None`. */
function directoryOf(
  root: MapNode,
  composition: Composition,
  { context, cwd, resultFiles }: JobPlace,
  number: number | undefined,
): string {
  const at = (key: string): string => textAt(root, key, context) ?? "None";
  if (number !== undefined) return resolve(cwd, at("hydra.sweep.dir"), at("hydra.sweep.subdir"));
  const wished = resolve(cwd, at("hydra.run.dir"));
  if (resultFiles.length === 0 || isFromOverride(composition, "hydra.run.dir", context))
    return wished;
  return nextFreeDirectory(wished, resultFiles);
}

/**
 * Whether an override set a value, itself or the interpolation that it came from. A directory that
 * an override names is meant; one that the config makes up may step aside.
 */
export function isFromOverride(
  { root }: Composition,
  key: string,
  context: ResolveContext,
): boolean {
  const written = key
    .split(".")
    .reduce<ConfigNode | undefined>((node, name) => node && child(node, name), root);
  // What an interpolation leads to is of another place.
  if (written?.origin.kind === "override") return true;
  for (let at = selectNode(root, key, context); at !== undefined; at = at.replaced)
    if (at.origin.kind === "override") return true;
  return false;
}

/** The surroundings in which this program's jobs are planned. */
export const placeOf = ({ composer, invocation, options }: Session): JobPlace => ({
  cwd: invocation.cwd,
  context: composer.context,
  publish: composer.publish,
  resultFiles: options.resultFiles ?? [],
});

/** A job of a sweep: planned, and with a number. */
export type SweepJob = PlannedJob & {
  readonly number: number;
  /** The overrides as the sweeper gave them: a config that sets `hydra.overrides.task` adds its own to `overrides`. */
  readonly swept: readonly string[];
  /** The same with those of `hydra`, and the fingerprint of the config: where the composition is not kept. */
  readonly typed?: readonly string[];
  readonly fingerprint?: string;
  /** `hydra.launcher` as this job's own config resolves it, where that may differ from job to job. */
  readonly launcher?: Readonly<Record<string, unknown>>;
};
