import {
  type Composition,
  type Repository,
  type RunMode,
  splitOverrides,
} from "../../compose/index.ts";
import { parseOverrides } from "../../overrides/index.ts";
import type { Composer } from "../composer.ts";
import type { CompletionTree } from "./matches.ts";

/** The configs of a program for the words before the one to complete; each is worked out once. */
export interface ComposedTree extends CompletionTree {
  readonly configName: string | null;
  composition(): Composition;
}

export function treeFor(composer: Composer, words: readonly string[], mode: RunMode): ComposedTree {
  const groups = once<Repository>(() => composer.searchPath(words));
  const composition = once<Composition>(() => composer.compose(words, { mode }));
  return {
    configName: composer.configName,
    groups,
    composition,
    checkWords: () => void splitOverrides(parseOverrides(words), groups()),
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
