import {
  type Composition,
  checkSweeps,
  type Repository,
  type RunMode,
  splitOverrides,
} from "../../compose/index.ts";
import { parseOverrides } from "../../overrides/index.ts";
import type { Composer } from "../composer.ts";
import { secretTexts } from "../secrets/learn-secrets.ts";
import type { CompletionTree } from "./matches.ts";

/** The configs of a program for the words before the one to complete; each is worked out once. */
export interface ComposedTree extends CompletionTree {
  readonly configName: string | null;
  composition(): Composition;
  /** Texts that must not be shown, as far as anything has been composed that could hold them. */
  secrets(): readonly string[];
}

export function treeFor(composer: Composer, words: readonly string[], mode: RunMode): ComposedTree {
  const groups = once<Repository>(() => composer.searchPath(words));
  let composed: Composition | undefined;
  const composition = (): Composition => {
    composed ??= composer.compose(words, { mode });
    return composed;
  };
  return {
    configName: composer.configName,
    groups,
    composition,
    secrets: () => (composed === undefined ? [] : secretTexts(composed, composer.context)),
    checkWords() {
      const overrides = parseOverrides(words);
      checkSweeps(overrides, { mode, fromShell: true });
      splitOverrides(overrides, groups());
    },
    config: () => composition().root,
    context: composer.context,
  };
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
