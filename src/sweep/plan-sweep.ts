import { resolve } from "node:path";
import type { Composition } from "../compose/index.ts";
import { launchRefusal } from "../compose/plugins/plugin.ts";
import type { Composer } from "../job/composer.ts";
import { plainAt, requiredAt, textsAt } from "../job/hydra-values.ts";
import type { SweepJob } from "../job/plan-job.ts";
import { isFromOverride, type JobPlace, planJob } from "../job/plan-job.ts";
import { nextFreeDirectory } from "../job/run-directory.ts";
import type { InsteadOf } from "../launch/launcher.ts";
import { quoted } from "../overrides/index.ts";
import { SWEEPERS } from "../plugins/kinds.ts";
import { ConfigError, nearest } from "../values/errors.ts";
import type { ConfigNode } from "../values/node.ts";
import { pyStr } from "../values/python-text.ts";
import { selectNode } from "../values/resolution/select.ts";
import type { JobOverrides, Sweeper } from "./sweepers/sweeper.ts";

/** Hydra's record of a sweep, in its directory. */
export const SWEEP_FILE = "multirun.yaml";

/** A sweep with all that is decided before anything is made. */
export interface PlannedSweep {
  /** The composition of the sweep itself: the sweeps are still overrides in it. */
  readonly master: Composition;
  /** The absolute path of `hydra.sweep.dir`. */
  readonly directory: string;
  readonly sweeper: Sweeper;
  /**
   * The jobs of a batch, composed.
   *
   * @param first the place of the first one in the sweep, from 0
   * @param numberOf the number of a job, by its place and the overrides of its task; its place unless told
   */
  planBatch(
    batch: readonly JobOverrides[],
    first: number,
    numberOf?: (place: number, overrides: readonly string[]) => number,
  ): readonly SweepJob[];
}

/**
 * @param wished the composition of the sweep itself, unless another directory is needed
 * @param resumedIn the absolute path of the directory of a sweep that goes on
 * @throws ConfigError for what cannot be composed, and for a sweeper or sweeps that cannot be
 */
export function planSweep(
  wished: Composition,
  overrides: readonly string[],
  composer: Composer,
  place: JobPlace,
  resumedIn?: string,
): PlannedSweep {
  const { context } = composer;
  const free =
    resumedIn === undefined
      ? freeDirectory(wished, place)
      : directoryOf(wished, place) === resumedIn
        ? undefined
        : resumedIn;
  const master =
    free === undefined
      ? wished
      : composer.compose([...overrides, `hydra.sweep.dir=${quoted(free, "'")}`], {
          mode: "multirun",
        });
  const { root } = master;
  const directory = directoryOf(master, place);
  const ofHydra = textsAt(root, "hydra.overrides.hydra", context);
  return {
    master,
    directory,
    sweeper: chosenKind("hydra.sweeper", SWEEPERS, master, composer).open({
      master,
      groups: composer.repository,
      overrides: textsAt(root, "hydra.overrides.task", context),
      directory,
      context,
    }),
    planBatch: (batch, first, numberOf = (at) => at) =>
      batch.map((job, index) => {
        const at = first + index;
        const composition = composer.compose([...ofHydra, ...job]);
        const planned = planJob(composition, place, at);
        const number = numberOf(at, planned.overrides);
        const numbered = number === at ? planned : planJob(composition, place, number);
        return { ...numbered, number, swept: job };
      }),
  };
}

/**
 * Where the results of two sweeps must not mix, a directory that nobody chose by name steps aside
 * for another sweep's. Undefined where it can stay.
 */
function freeDirectory(
  master: Composition,
  { context, cwd, resultFiles }: JobPlace,
): string | undefined {
  if (resultFiles.length === 0 || isFromOverride(master, "hydra.sweep.dir", context))
    return undefined;
  const wished = directoryOf(master, { context, cwd });
  const free = nextFreeDirectory(wished, [SWEEP_FILE]);
  return free === wished ? undefined : free;
}

const directoryOf = (
  { root }: Composition,
  { context, cwd }: Pick<JobPlace, "context" | "cwd">,
): string => resolve(cwd, String(requiredAt(root, "hydra.sweep.dir", context) ?? "None"));

/** A launcher or a sweeper, as far as it is chosen. */
interface Choosable {
  readonly targets: readonly string[];
  readonly settings?: readonly string[];
  readonly insteadOf?: (setting: string) => InsteadOf;
}

/** What `instantiate` and the sweep itself read in the settings of every launcher and sweeper. */
const COMMON_SETTINGS = ["_target_", "_convert_", "_recursive_", "on_failure"];

/**
 * The launcher or the sweeper that the config chose.
 *
 * @throws ConfigError `app.unsupported` for one that is not there, with what to use instead;
 *   `key.not_found` for a setting that it would not follow
 */
export function chosenKind<Kind extends Choosable>(
  key: "hydra.launcher" | "hydra.sweeper",
  kinds: readonly Kind[],
  { root }: Composition,
  { context, plugins }: Composer,
): Kind {
  const node = selectNode(root, key, context);
  const target = node?.kind === "map" ? plainAt(root, `${key}._target_`, context) : undefined;
  const kind = kinds.find(({ targets }) => targets.includes(String(target)));
  if (kind !== undefined) {
    refuseUnknownSettings(key, String(target), kind, node);
    return kind;
  }
  const refusal = launchRefusal(plugins, String(target));
  const isNull = node?.kind === "scalar" && node.value === null;
  // Written with the dot of a key, in the place of the slash of a group.
  const chosen = node?.kind === "scalar" && !isNull ? plainAt(root, key, context) : undefined;
  const hint =
    refusal?.reason ??
    (chosen === undefined
      ? undefined
      : `choose an option of a config group with a slash: ${key.replace(".", "/")}=${String(chosen)}`);
  throw new ConfigError({
    code: "app.unsupported",
    message: isNull
      ? `Hydra ${key.slice("hydra.".length)} is not configured`
      : target === undefined
        ? `${key}: Input config does not have a \`_target_\` field`
        : `${key}: '${String(target)}' cannot be used here`,
    key: `${key}._target_`,
    available: kinds.flatMap(({ targets }) => targets),
    hint,
  });
}

/**
 * In Hydra they are arguments of a constructor, which refuses those that it does not have. A kind that
 * lists none has those of the class that its group declares.
 */
function refuseUnknownSettings(
  key: "hydra.launcher" | "hydra.sweeper",
  target: string,
  kind: Choosable,
  node: ConfigNode | undefined,
): void {
  const settings = kind.settings ?? declaredSettings(node);
  if (settings === undefined || node?.kind !== "map") return;
  const known = [...settings, ...COMMON_SETTINGS];
  for (const { key: name, value } of node.entries.values()) {
    const text = pyStr(name);
    if (known.includes(text)) continue;
    const near = nearest(text, known);
    throw new ConfigError({
      code: "key.not_found",
      message: `Error in call to target '${target}':\n${target.split(".").at(-1)} has no setting '${text}'`,
      key: `${key}.${text}`,
      origin: value.origin,
      available: settings,
      nearest: near,
      ...kind.insteadOf?.(text),
    });
  }
}

const declaredSettings = (node: ConfigNode | undefined): readonly string[] | undefined =>
  node?.type?.kind === "object" ? [...node.type.fields.keys()] : undefined;
