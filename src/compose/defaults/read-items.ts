import { ConfigError } from "../../values/errors.ts";
import type { ConfigNode, MapNode } from "../../values/node.ts";
import { pyRepr, pyTypeName } from "../../values/python-text.ts";
import type { ConfigItem, DefaultsItem, GroupItem, GroupValue, SelfItem } from "./item.ts";
import { SELF } from "./item.ts";

const KEYWORDS: ReadonlySet<string> = new Set(["optional", "override"]);

/**
 * Reads the `defaults` entry of a config: what the items say, not yet where they lead.
 *
 * @param configPath path of the config that holds the list, for messages.
 * @throws ConfigError `compose.invalid_defaults` at the offending item.
 * @see https://hydra.cc/docs/1.3/advanced/defaults_list/
 */
export function readDefaultsItems(configPath: string, defaults: ConfigNode): DefaultsItem[] {
  if (defaults.kind !== "list")
    throw invalid(
      `Invalid defaults list in '${configPath}', defaults must be a list (got ${defaults.kind === "map" ? "mapping" : pyTypeName(defaults.value)})`,
      defaults,
      "write it as a list, e.g. `defaults: [_self_, {db: mysql}]`",
    );
  return defaults.items.map((item) => readItem(configPath, item));
}

function readItem(configPath: string, item: ConfigNode): DefaultsItem {
  if (item.kind === "map") return readGroupItem(configPath, item);
  if (item.kind === "list" || typeof item.value !== "string")
    throw invalid(
      `Unsupported type in defaults : ${pyTypeName(item)}`,
      item,
      "an item is a config name, `group: option` or `_self_`; quote a name that looks like a number",
    );
  return readConfigItem(item.value, item);
}

function readConfigItem(text: string, node: ConfigNode): ConfigItem | SelfItem {
  const { name, package: pkg } = splitPackage(text);
  if (name !== SELF)
    return { kind: "config", path: name, package: pkg, optional: false, origin: node.origin };
  if (pkg !== null)
    throw invalid(
      "_self_@PACKAGE is not supported",
      node,
      "give the whole file a package with a `# @package` header",
    );
  return { kind: "self", origin: node.origin, group: null };
}

function readGroupItem(configPath: string, item: MapNode): GroupItem | SelfItem {
  const [entry, ...more] = item.entries.values();
  if (entry === undefined)
    throw invalid(`In ${configPath}: Missing group name in {}`, item, "write `group: option`");
  if (more.length > 0)
    throw invalid(
      `In ${configPath}: Too many keys in default item ${pyRepr(item)}`,
      item,
      "write `optional` before the group (`optional db: mysql`), and each group as a separate item",
    );
  if (typeof entry.key !== "string")
    throw invalid(
      `In ${configPath}: the group name in ${pyRepr(item)} must be a string`,
      item,
      "quote the name of the config group",
    );

  const { name, package: pkg } = splitPackage(entry.key);
  const { group, optional, override } = splitKeywords(name);
  const value = readValue(entry.value);
  if (group === "")
    throw invalid(`In ${configPath}: Missing group name in ${pyRepr(item)}`, item, "name a group");
  if (value === SELF) return { kind: "self", origin: item.origin, group };
  return {
    kind: "group",
    group,
    value,
    package: pkg,
    optional,
    override,
    appended: false,
    origin: item.origin,
  };
}

function readValue(node: ConfigNode): GroupValue {
  if (node.kind === "list") return node.items.map(readOption);
  if (node.kind === "scalar" && (node.value === null || typeof node.value === "string"))
    return node.value;
  throw invalid(
    `Unsupported item value in defaults : ${containerType(node)}. Supported: string or list`,
    node,
    "quote the option if its name looks like a number or a boolean",
  );
}

function readOption(node: ConfigNode): string {
  if (node.kind === "scalar" && typeof node.value === "string") return node.value;
  throw invalid(
    `Unsupported item value in defaults : ${containerType(node)}, nested list items must be strings`,
    node,
    "a list selects several options of the config group by name",
  );
}

/**
 * `group@package`. Hydra 1.0 had renames (`group@from:to`); what follows the colon is dropped now.
 */
function splitPackage(text: string): { readonly name: string; readonly package: string | null } {
  const at = text.indexOf("@");
  if (at === -1) return { name: text, package: null };
  const [pkg = ""] = text.slice(at + 1).split(":", 1);
  return { name: text.slice(0, at), package: pkg === "_here_" ? "" : pkg };
}

function splitKeywords(text: string) {
  const words = text.split(" ");
  const group = words.pop() ?? "";
  const end = words.findIndex((word) => !KEYWORDS.has(word));
  const keywords = end === -1 ? words : words.slice(0, end);
  return {
    group,
    optional: keywords.includes("optional"),
    override: keywords.includes("override"),
  };
}

const containerType = (node: ConfigNode): string =>
  node.kind === "map" ? "dict" : node.kind === "list" ? "list" : pyTypeName(node.value);

function invalid(message: string, node: ConfigNode, hint: string): ConfigError {
  return new ConfigError({
    code: "compose.invalid_defaults",
    message,
    origin: node.origin,
    hint,
  });
}
