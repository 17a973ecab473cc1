/** The configs that completion looks at: groups, options and keys for the words before the cursor. */
import type { Alias } from "../../../engine/compose/aliases.ts";
import {
  type Composition,
  checkSweeps,
  type Repository,
  type RunMode,
  splitOverrides,
} from "../../../engine/compose/index.ts";
import { secretTexts } from "../../../engine/compose/secrets.ts";
import { parseOverrides } from "../../../engine/overrides/index.ts";
import { ConfigError } from "../../../engine/values/errors.ts";
import { type ConfigNode, holdsContainer, isMissing } from "../../../engine/values/node.ts";
import { keyText, pyStr } from "../../../engine/values/python-text.ts";
import type { ResolveContext } from "../../../engine/values/resolution/context.ts";
import { selectNode } from "../../../engine/values/resolution/select.ts";
import { once } from "../../../foundation/system/get-or-create.ts";
import type { Composer } from "../../job/composer.ts";

/** A program's configs for the words before the one to complete; each is computed once. */
export interface ComposedTree extends CompletionTree {
  readonly configName: string | null;
  composition(): Composition;
  /**
   * Short names for overrides, of the primary config and of the user's settings.
   *
   * @throws ConfigError for invalid ones
   */
  aliases(): readonly Alias[];
  /** The secret texts of all compositions so far. */
  secrets(): readonly string[];
}

/** What composes the configs that are looked at. */
export type CompletionComposer = Pick<
  Composer,
  "aliases" | "compose" | "configName" | "context" | "searchPath"
>;

/** @param hydrasOptionsOnly whether groups leave out the launchers and sweepers that only hydraconf has */
export function treeFor(
  composer: CompletionComposer,
  words: readonly string[],
  mode: RunMode,
  { hydrasOptionsOnly = false }: { readonly hydrasOptionsOnly?: boolean } = {},
): ComposedTree {
  const groups = once<Repository>(() => {
    const repository = composer.searchPath(words);
    return hydrasOptionsOnly ? withHydrasOptions(repository) : repository;
  });
  let composed: Composition | undefined;
  const composition = (): Composition => {
    composed ??= composer.compose(words, { mode });
    return composed;
  };
  return {
    configName: composer.configName,
    groups,
    composition,
    aliases: once(() => composer.aliases()),
    secrets: () => (composed === undefined ? [] : secretTexts(composed, composer.context)),
    checkWords() {
      const { dialect } = composer.context;
      const overrides = parseOverrides(words, { dialect });
      checkSweeps(overrides, { mode, fromShell: true });
      splitOverrides(overrides, groups(), dialect);
    },
    config: () => composition().root,
    context: composer.context,
  };
}

/** Ours still compose, where a file names them: the plugin in the wheel lets Python's Hydra do so, too. */
const withHydrasOptions = (repository: Repository): Repository => ({
  ...repository,
  list: (group, kind) =>
    repository
      .list(group, kind)
      .filter((name) => kind === "group" || !isOurs(repository, group, name)),
});

/** Only launchers and sweepers can be ours. */
const isOurs = (repository: Repository, group: string, name: string): boolean =>
  /^hydra\/+(launcher|sweeper)$/.test(group) && isReplaceable(repository, `${group}/${name}`);

function isReplaceable(repository: Repository, path: string): boolean {
  try {
    return repository.load(path)?.replaceable === true;
  } catch {
    // A file of the user that cannot be read.
    return false;
  }
}

/** A program's configs, as completion needs them, for the words before the one to complete. */
export interface CompletionTree {
  /** Options and groups, including those of a search path in the words. Needs no composition. */
  groups(): Repository;
  /**
   * Checks the words, without a composition.
   *
   * @throws ConfigError for overrides that are invalid in any config, such as `group=null`
   */
  checkWords(): void;
  /** The composed tree with its `hydra` node. */
  config(): ConfigNode;
  readonly context: ResolveContext;
}

/** Names of groups, or options of one group, that complete a word. */
export interface GroupMatches {
  readonly matches: readonly string[];
  /** Whether the word names a group, and so cannot be a key of the config. */
  readonly isOption: boolean;
}

/**
 * `db` → `db=`, `model/` → `model/resnet=`, `db=my` → `db=mysql`; the same after `+` or `~`. A group with only groups
 * in it ends with `/`; one that also has options stays as it is.
 */
export function matchGroups(groups: Repository, typed: string): GroupMatches {
  const prefix = /^[+~]?/.exec(typed)?.[0] ?? "";
  const word = typed.slice(prefix.length);
  const equals = word.lastIndexOf("=");
  if (equals >= 0) {
    const group = word.slice(0, equals);
    const options = groups.list(group, "config");
    const names = options.map((option) => (group === "" ? option : `${group}=${option}`));
    return { matches: startingWith(names, word, prefix), isOption: options.length > 0 };
  }
  const parent = word.slice(0, Math.max(0, word.lastIndexOf("/")));
  const names = groups
    .list(parent, "group")
    .map((name) => (parent === "" ? name : `${parent}/${name}`))
    .filter((name) => name.startsWith(word))
    .map((name) => `${name}${groupEnding(groups, name, prefix)}`);
  return { matches: startingWith(names, "", prefix), isOption: false };
}

function groupEnding(groups: Repository, name: string, prefix: string): "" | "=" | "/" {
  const hasOptions = groups.list(name, "config").length > 0;
  const hasGroups = groups.list(name, "group").length > 0;
  if (hasGroups) return hasOptions ? "" : "/";
  return hasOptions && prefix !== "~" ? "=" : "";
}

const startingWith = (names: readonly string[], word: string, prefix: string): readonly string[] =>
  names.filter((name) => name.startsWith(word)).map((name) => `${prefix}${name}`);

/**
 * Keys of a config that complete a word (`db.` for a container, `db.port=` for a value), and after `=` the key's
 * current value. Interpolations are listed, not followed.
 *
 * @throws ConfigError of an interpolation on the path, and for a word that leads through a value
 */
export function matchKeys(
  config: ConfigNode,
  word: string,
  context: ResolveContext,
): readonly string[] {
  if (/[.=]$/.test(word)) {
    const key = word.slice(0, -1);
    return valuesAt(config, key, context).map((match) => `${word}${match}`);
  }
  const dot = word.lastIndexOf(".");
  if (dot < 0) return keysOf(config, word, itemAt(config, "", context));
  const base = word.slice(0, dot);
  const node = selectNode(config, base, context);
  if (node === undefined || isNull(node)) return [];
  if (!holdsContainer(node))
    throw new ConfigError({
      code: "value.wrong_type",
      message: `There are no keys below '${base}', which is a value`,
      key: base,
    });
  return keysOf(node, word.slice(dot + 1), itemAt(config, base, context)).map(
    (match) => `${base}.${match}`,
  );
}

/** The completions after a key and a dot or an equals sign. */
function valuesAt(config: ConfigNode, key: string, context: ResolveContext): readonly string[] {
  const node = selectOrMissing(config, key, context);
  if (node === "missing") return [""];
  if (node === undefined || isNull(node)) return [];
  if (holdsContainer(node)) return keysOf(node, "", itemAt(config, key, context));
  return [
    node.kind === "scalar" && typeof node.value === "boolean" ? String(node.value) : pyStr(node),
  ];
}

function selectOrMissing(
  config: ConfigNode,
  key: string,
  context: ResolveContext,
): ConfigNode | "missing" | undefined {
  try {
    return selectNode(config, key, context, { throwOnMissing: true });
  } catch (error) {
    if (error instanceof ConfigError && error.code === "value.missing") return "missing";
    throw error;
  }
}

/** The items of a list at a key, resolved at their places. */
const itemAt =
  (config: ConfigNode, key: string, context: ResolveContext) =>
  (index: number): ConfigNode | undefined =>
    selectNode(config, `${key}[${index}]`, context);

function keysOf(
  node: ConfigNode,
  prefix: string,
  item: (index: number) => ConfigNode | undefined,
): readonly string[] {
  if (node.kind === "map")
    return [...node.entries.values()]
      .map(({ key, value }) => ({ name: keyText(key), value }))
      .filter(({ name }) => name.startsWith(prefix))
      .map(({ name, value }) => nameOf(name, value));
  if (node.kind !== "list") return [];
  // As in Hydra, a missing item is offered whatever was typed.
  return node.items.flatMap((written, index) => {
    if (isMissing(written)) return [nameOf(String(index), written)];
    const value = item(index) ?? written;
    return String(index).startsWith(prefix) ? [nameOf(String(index), value)] : [];
  });
}

const nameOf = (name: string, value: ConfigNode): string =>
  `${name}${holdsContainer(value) ? "." : "="}`;

const isNull = (node: ConfigNode): boolean => node.kind === "scalar" && node.value === null;

/** Whether a text contains one of the secrets. */
export const holdsSecret = (text: string, secrets: readonly string[]): boolean =>
  secrets.some((secret) => secret !== "" && text.includes(secret));

/** Whether a candidate's value contains a secret. Keys are not secret, whatever their text. */
export const showsSecret = (candidate: string, secrets: readonly string[]): boolean =>
  candidate.includes("=") && holdsSecret(candidate.slice(candidate.indexOf("=") + 1), secrets);
