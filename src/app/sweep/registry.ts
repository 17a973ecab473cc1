/** The launchers and sweepers that a config may choose. */
import { type Composition, launchRefusal } from "../../engine/compose/index.ts";
import { ConfigError, nearest } from "../../engine/values/errors.ts";
import type { ConfigNode } from "../../engine/values/node.ts";
import { pyStr } from "../../engine/values/python-text.ts";
import { selectNode } from "../../engine/values/resolution/select.ts";
import type { Composer } from "../job/composer.ts";
import { plainAt } from "../job/hydra-values.ts";
import type { Logging } from "../job/logging/logging.ts";
import type { Session } from "../job/session.ts";
import type { InsteadOf, LauncherDefinition } from "../launch/launcher.ts";
import { completeBackend, type SweepBackend, unknownLauncher } from "../launch/scheduler.ts";
import { launcherFolder, launcherFolders, sweepFolder } from "../record/layout.ts";
import type { ProjectPython, SweeperDefinition } from "./sweepers/sweeper.ts";

/** The launchers and sweepers of one program run: Hydra's own, and those of plugins. */
export interface SweepRegistry {
  readonly launchers: readonly LauncherDefinition[];
  readonly sweepers: readonly SweeperDefinition[];
  /** The Python interpreter that a settings file names. */
  readonly python?: ProjectPython;
}

/** A program run that may start a sweep. */
export interface SweepSession extends Session {
  /** Loads the plugins' launchers and sweepers, once. */
  readonly registry: () => Promise<SweepRegistry>;
  /** Logs to Hydra's own log how a config was composed, if that log is enabled for it. */
  readonly logInfo: (
    composition: Composition,
    overrides: readonly string[],
    logging: Logging,
  ) => Promise<void>;
}

/**
 * The jobs of a recorded sweep in the scheduler that has or had them, whichever launcher was chosen last.
 *
 * @param directory the absolute path of the sweep's directory
 * @returns undefined if no job was submitted to a scheduler
 */
export async function backendOf(
  launchers: readonly LauncherDefinition[],
  directory: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<SweepBackend | undefined> {
  const folder = sweepFolder(directory);
  for (const { backend, name } of launchers) {
    const found = await backend?.({ directory, notes: launcherFolder(folder, name), env });
    if (found !== undefined) return completeBackend(found, folder);
  }
  const folders = new Set(launchers.map(({ name }) => launcherFolder(folder, name)));
  const unknown = launcherFolders(folder).find((notes) => !folders.has(notes));
  return unknown === undefined ? undefined : unknownLauncher(unknown, folder);
}

/** Overrides that choose or set the launcher. */
export const OF_LAUNCHER = /^[+~]*hydra[./]launcher\b/;

/**
 * The launcher that runs a single run: in programs with `launchesRuns` one that the command line names or sets, and that
 * of a resumed run. Undefined if the run needs none.
 *
 * @throws ConfigError as `chosenOne`
 */
export async function launcherOfRun(
  session: SweepSession,
  composition: Composition,
): Promise<LauncherDefinition | undefined> {
  const { composer, invocation, options, overrides, registry } = session;
  const isResumed = invocation.resumed !== undefined;
  const isNamed =
    options.launchesRuns === true && overrides.some((override) => OF_LAUNCHER.test(override));
  if (!isNamed && !isResumed) return undefined;
  const { launchers } = await registry();
  const chosen = chosenOne("hydra.launcher", launchers, composition, composer);
  return chosen.inThisProcess === true && !isResumed ? undefined : chosen;
}

/** The properties of a launcher or sweeper that matter for choosing it. */
interface Choosable {
  readonly targets: readonly string[];
  readonly settings?: readonly string[];
  readonly insteadOf?: (setting: string) => InsteadOf | undefined;
}

/** Settings of every launcher and sweeper that `instantiate` and the sweep itself read. */
const COMMON_SETTINGS = ["_target_", "_convert_", "_recursive_", "on_failure"];

/**
 * The launcher or the sweeper that the config chose.
 *
 * @throws ConfigError `app.unsupported` for an unknown one, with what to use instead;
 *   `key.not_found` for a setting that it does not support
 */
export function chosenOne<One extends Choosable>(
  key: "hydra.launcher" | "hydra.sweeper",
  all: readonly One[],
  { root }: Composition,
  { context, plugins }: Composer,
): One {
  const node = selectNode(root, key, context);
  const target = node?.kind === "map" ? plainAt(root, `${key}._target_`, context) : undefined;
  const found = all.find(({ targets }) => targets.includes(String(target)));
  if (found !== undefined) {
    refuseUnknownSettings(key, String(target), found, node);
    return found;
  }
  const refusal = launchRefusal(plugins, String(target));
  const isNull = node?.kind === "scalar" && node.value === null;
  // A typo: the dot of a key instead of the slash of a group.
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
    available: all.flatMap(({ targets }) => targets),
    hint,
  });
}

/**
 * Refuses unknown settings. In Hydra they are constructor arguments, where unknown ones are errors. A launcher or
 * sweeper that lists none has those of the class that its group declares.
 */
function refuseUnknownSettings(
  key: "hydra.launcher" | "hydra.sweeper",
  target: string,
  chosen: Choosable,
  node: ConfigNode | undefined,
): void {
  const declared = declaredSettings(node);
  const settings = chosen.settings ?? declared;
  if (settings === undefined || node?.kind !== "map") return;
  // Some versions of Hydra declare settings that others do not have.
  const names = [...settings, ...(declared ?? []), ...COMMON_SETTINGS];
  for (const { key: name, value } of node.entries.values()) {
    const text = pyStr(name);
    if (names.includes(text)) continue;
    const near = nearest(text, names);
    throw new ConfigError({
      code: "key.not_found",
      message: `Error in call to target '${target}':\n${target.split(".").at(-1)} has no setting '${text}'`,
      key: `${key}.${text}`,
      origin: value.origin,
      available: settings,
      nearest: near,
      ...chosen.insteadOf?.(text),
    });
  }
}

const declaredSettings = (node: ConfigNode | undefined): readonly string[] | undefined =>
  node?.type?.kind === "object" ? [...node.type.fields.keys()] : undefined;
