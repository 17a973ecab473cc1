import { ConfigError } from "../values/errors.ts";
import { alternativesTo } from "../values/nearest.ts";
import type { ConfigNode, Key, ScalarValue } from "../values/node.ts";
import { child, isMissing } from "../values/node.ts";
import { fullKeyOf, type Place } from "../values/place.ts";
import { pyRepr, pyTypeName } from "../values/python-text.ts";

/** What maps and lists become that are arguments. */
export type Convert = "none" | "partial" | "object" | "all";

const CONVERSIONS: readonly Convert[] = ["none", "partial", "object", "all"];

/** How a node is instantiated; what is below it inherits all but `partial`. */
export interface Mode {
  readonly convert: Convert;
  readonly recursive: boolean;
  readonly partial: boolean;
}

export const DEFAULT_MODE: Mode = { convert: "none", recursive: true, partial: false };

/** Keys of a map that say how its target is called and are no arguments. */
export const MODE_KEYS: ReadonlySet<Key> = new Set([
  "_target_",
  "_convert_",
  "_recursive_",
  "_partial_",
]);

/**
 * The mode of a map: its own keys over what it inherits.
 * @throws ConfigError `instantiate.invalid` for other values than there are
 */
export function modeOf(place: Place, inherited: Mode): Mode {
  return {
    convert: readConvert(place) ?? inherited.convert,
    recursive: readFlag(place, "_recursive_") ?? inherited.recursive,
    partial: readFlag(place, "_partial_") ?? inherited.partial,
  };
}

/** What is missing counts as not there. */
function given(place: Place, name: string): ConfigNode | undefined {
  const node = child(place.node, name);
  return node === undefined || isMissing(node) ? undefined : node;
}

function readFlag(place: Place, name: string): boolean | undefined {
  const node = given(place, name);
  if (node === undefined) return undefined;
  if (node.kind === "scalar" && typeof node.value === "boolean") return node.value;
  throw new ConfigError({
    code: "instantiate.invalid",
    message: `Instantiation: ${name} flag must be a bool, got ${pyTypeName(node)}`,
    key: fullKeyOf(place, name),
    origin: node.origin,
  });
}

function readConvert(place: Place): Convert | undefined {
  const node = given(place, "_convert_");
  if (node === undefined) return undefined;
  const value: ScalarValue | undefined = node.kind === "scalar" ? node.value : undefined;
  if (value === null) return "none";
  const text = typeof value === "string" ? value.toLowerCase() : "";
  const found = CONVERSIONS.find((convert) => convert === text);
  if (found !== undefined) return found;
  throw new ConfigError({
    code: "instantiate.invalid",
    message: `Instantiation: there is no _convert_ mode ${pyRepr(node)}`,
    key: fullKeyOf(place, "_convert_"),
    origin: node.origin,
    ...alternativesTo(text, CONVERSIONS),
  });
}
