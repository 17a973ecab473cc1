/** A tree that is composed in a page: configs, their origins, errors and completions as data. */

import type { Candidate } from "../../app/cli/completion/candidate.ts";
import { completeOverride } from "../../app/cli/completion/override.ts";
import { treeFor } from "../../app/cli/completion/tree.ts";
import { aliasesOf } from "../../engine/compose/aliases.ts";
import type { Composition } from "../../engine/compose/compose.ts";
import { primaryAtRoot } from "../../engine/compose/open-tree.ts";
import { dialectNamed } from "../../engine/values/dialect.ts";
import { type ConfigError, isConfigError } from "../../engine/values/errors.ts";
import type { ResolveContext } from "../../engine/values/resolution/context.ts";
import { createEngine } from "../../portable-engine.ts";
import type { TreeDocument } from "../tree-document.ts";
import { type Problem, problemsOf } from "./problems.ts";

/** What is composed. */
export interface ComposeCall {
  readonly configName: string;
  readonly overrides: readonly string[];
}

/** The result of a composition: a config, or what is wrong. */
export type Composed =
  | {
      readonly kind: "composed";
      readonly composition: Composition;
      readonly context: ResolveContext;
    }
  | { readonly kind: "failed"; readonly problems: readonly Problem[] };

/** A tree with its texts as they are now. */
export interface TreeSession {
  compose(call: ComposeCall): Composed;
  /**
   * What continues a word.
   * @param before the words before it
   */
  complete(word: string, before: readonly string[], configName: string): readonly Candidate[];
}

/** Of the menus, the compared line and completion: each composes the same lines again. */
const MOST_KEPT = 12;

/** @param texts of the files by path, as they are in the page */
export function openSession(
  { dialect, directory, program }: Pick<TreeDocument, "dialect" | "directory" | "program">,
  texts: ReadonlyMap<string, string>,
): TreeSession {
  const files = new Map([...texts].map(([path, text]) => [`${directory}/${path}`, text]));
  const engine = createEngine({ files, dialect });
  const compositionOf = (call: ComposeCall): Composition =>
    engine.composition({
      configDir: directory,
      configName: call.configName,
      overrides: call.overrides,
      jobName: program.jobName,
      fromShell: true,
    });
  const compose = (call: ComposeCall): Composed => {
    try {
      const composition = compositionOf(call);
      return { kind: "composed", composition, context: engine.resolveContext() };
    } catch (error) {
      return { kind: "failed", problems: problemsOf(asConfigError(error), directory) };
    }
  };
  /** By what was composed; the oldest first. */
  const kept = new Map<string, Composed>();
  return {
    compose({ configName, overrides }) {
      const id = JSON.stringify([configName, ...overrides]);
      const composed = kept.get(id) ?? compose({ configName, overrides });
      kept.delete(id);
      kept.set(id, composed);
      for (const oldest of kept.keys())
        if (kept.size > MOST_KEPT) kept.delete(oldest);
        else break;
      return composed;
    },
    complete(word, before, configName) {
      const repository = () => engine.snapshot({ configDir: directory }).repository;
      const composer = {
        configName,
        context: engine.resolveContext(),
        searchPath: repository,
        aliases: () => aliasesOf(primaryAtRoot(configName, repository()), dialectNamed(dialect)),
        compose: (overrides: readonly string[]) => compositionOf({ configName, overrides }),
      };
      const tree = treeFor(composer, before, "run");
      try {
        const place = { tree, schema: undefined, filesFor: () => undefined };
        return completeOverride(place, word, true);
      } catch (error) {
        // The words are wrong: the page tells why.
        if (isConfigError(error)) return [];
        throw error;
      }
    },
  };
}

function asConfigError(error: unknown): ConfigError {
  if (isConfigError(error)) return error;
  throw error;
}
