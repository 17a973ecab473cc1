import type { Composition } from "../../compose/index.ts";
import { launchRefusal } from "../../compose/plugins/plugin.ts";
import { ConfigError, nearest } from "../../values/errors.ts";
import type { ConfigNode } from "../../values/node.ts";
import { pyStr } from "../../values/python-text.ts";
import { selectNode } from "../../values/resolution/select.ts";
import type { Composer } from "../composer.ts";
import { plainAt } from "../job/hydra-values.ts";
import type { InsteadOf } from "../launchers/launcher.ts";

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
