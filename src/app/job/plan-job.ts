/** Decides what precedes the files of a job: its directory, its number, its config. */
import { resolve } from "node:path";
import type { Composition } from "../../engine/compose/index.ts";
import { applySchemas, isValidator } from "../../engine/compose/schemas.ts";
import { secretsOfOutput } from "../../engine/compose/secrets.ts";
import {
  type ConfigNode,
  child,
  editTree,
  type MapNode,
  type NodeType,
  scalar,
  setAt,
} from "../../engine/values/node.ts";
import { fromCode } from "../../engine/values/origin.ts";
import type { ResolveContext } from "../../engine/values/resolution/context.ts";
import { resolveTree } from "../../engine/values/resolution/resolve-tree.ts";
import { selectNode } from "../../engine/values/resolution/select.ts";
import { once } from "../../foundation/system/get-or-create.ts";
import type { Continuation } from "./checkpoint.ts";
import { textAt, textsAt } from "./hydra-values.ts";
import { nextFreeDirectory } from "./run-directory.ts";
import type { Session } from "./session.ts";

/** A job with all decisions that precede its files. */
export interface PlannedJob {
  readonly composition: Composition;
  /** The place in a sweep, from 0; undefined for a single run. */
  readonly number?: number;
  /** `hydra.job.id` of a job of a sweep. */
  readonly id?: string;
  /** The whole tree, including the job's number and directory. */
  readonly root: MapNode;
  /** The tree without `hydra`: what the task gets. */
  readonly tree: MapNode;
  readonly outputDir: string;
  /** The earlier job of a sweep that this one continues; absent if it begins anew. */
  readonly continuation?: Continuation;
  /** The overrides of the task's own config, as typed. */
  readonly overrides: readonly string[];
  /** The task's config with every interpolation resolved; computed on first use. */
  readonly resolved: () => ConfigNode;
}

export interface JobPlace {
  /** The directory that relative directories start from. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly context: ResolveContext;
  /** Called with the tree for the `hydra` resolver whenever the job's own values change it. */
  readonly publish: (root: MapNode) => void;
  /** Files whose presence shows that a directory holds results. */
  readonly resultFiles: readonly string[];
  /** `hydra.job.id` of a sweep's job; absent if the launcher uses the job's number. */
  readonly idOf?: (number: number, name: string) => string;
}

/**
 * Plans a job: a single run gets `hydra.run.dir`; a job of a sweep gets its number and the directory
 * `hydra.sweep.dir/hydra.sweep.subdir`, unless `directory` is given. Creates nothing.
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
  const { composition: valid, tree } = withProgramOutput(composition, context);
  return {
    composition: valid,
    ...(number !== undefined && { number }),
    ...(id !== undefined && { id }),
    root: tree === composition.config ? root : withConfig(root, tree),
    tree,
    outputDir,
    overrides: textsAt(root, "hydra.overrides.task", context),
    resolved: once(() => {
      publish(root);
      return resolveTree(tree, context);
    }),
  };
}

/** What the validator of a program gives is known here at the latest: the job has its own values. */
function withProgramOutput(
  composition: Composition,
  context: ResolveContext,
): { readonly composition: Composition; readonly tree: MapNode } {
  const { config, objects, program, root, secrets } = composition;
  if (!program.some(({ schema }) => isValidator(schema))) return { composition, tree: config };
  const output = applySchemas(config, program, { context, refuses: false });
  const made = secretsOfOutput({ root, config: output.root, secrets }, context);
  return {
    composition: {
      ...composition,
      config: output.root,
      secrets: [...secrets, ...made],
      program: output.pending,
      objects: new Map([...objects, ...output.objects]),
    },
    tree: output.root,
  };
}

/** The whole tree with another config beside its `hydra` node. */
const withConfig = (root: MapNode, { entries }: MapNode): MapNode => ({
  ...root,
  entries: new Map([...root.entries, ...entries]),
});

const typed = (value: string | bigint, kind: "str" | "int"): ConfigNode => ({
  ...scalar(value, fromCode("job")),
  type: { kind } satisfies NodeType,
});

/** A null part of a path becomes `None`, as Python prints it. */
function directoryOf(
  root: MapNode,
  composition: Composition,
  { context, cwd, resultFiles }: JobPlace,
  number: number | undefined,
): string {
  const directoryAt = (key: string): string => textAt(root, key, context) ?? "None";
  if (number !== undefined)
    return resolve(cwd, directoryAt("hydra.sweep.dir"), directoryAt("hydra.sweep.subdir"));
  const wished = resolve(cwd, directoryAt("hydra.run.dir"));
  if (resultFiles.length === 0 || isFromOverride(composition, "hydra.run.dir", context))
    return wished;
  return nextFreeDirectory(wished, resultFiles);
}

/**
 * Whether an override set a value directly, or set the interpolation that it came from. A directory that an override
 * names is used as it is; a default one may move to a free name.
 */
export function isFromOverride(
  { root }: Composition,
  key: string,
  context: ResolveContext,
): boolean {
  const written = key
    .split(".")
    .reduce<ConfigNode | undefined>((node, name) => node && child(node, name), root);
  // The target of an interpolation has its own origin, so the unresolved node is checked first.
  if (written?.origin.kind === "override") return true;
  for (let node = selectNode(root, key, context); node !== undefined; node = node.replaced)
    if (node.origin.kind === "override") return true;
  return false;
}

/** The values that planning this program's jobs depends on. */
export const jobPlace = ({ composer, invocation, options }: Session): JobPlace => ({
  cwd: invocation.cwd,
  env: invocation.env,
  context: composer.context,
  publish: composer.publish,
  resultFiles: options.resultFiles ?? [],
});

/**
 * A planned job of a sweep, with its number. That of a single run under a launcher has number 0, for its record alone:
 * the config does not have it.
 */
export type SweepJob = PlannedJob & {
  readonly number: number;
  /** The overrides as the sweeper gave them; a config that sets `hydra.overrides.task` adds its own to `overrides`. */
  readonly swept: readonly string[];
  /**
   * All overrides, including those of `hydra`, and the config's fingerprint; present if the composition is not kept.
   */
  readonly typed?: readonly string[];
  readonly fingerprint?: string;
  /** `hydra.launcher` as this job's own config resolves it, if it may differ between jobs. */
  readonly launcher?: Readonly<Record<string, unknown>>;
};
