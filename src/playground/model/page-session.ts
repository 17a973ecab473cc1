/** A tree that is composed in a page: configs, their origins, errors and completions as data. */

import type { Candidate } from "../../app/cli/completion/candidate.ts";
import { treeFor } from "../../app/cli/completion/completion-tree.ts";
import { completeOverride } from "../../app/cli/completion/override.ts";
import { aliasesOf, expandAliases } from "../../engine/compose/aliases.ts";
import type { Composition } from "../../engine/compose/compose.ts";
import type { Repository, RunMode } from "../../engine/compose/index.ts";
import { primaryAtRoot } from "../../engine/compose/open-tree.ts";
import { isSweep, parseOverrides } from "../../engine/overrides/index.ts";
import { dialectNamed } from "../../engine/values/dialect.ts";
import { type ConfigError, isConfigError } from "../../engine/values/errors.ts";
import type { ResolveContext } from "../../engine/values/resolution/context.ts";
import { createEngine } from "../../portable-engine.ts";
import type { TreeDocument } from "../tree-document.ts";
import { type Problem, problemsOf, warningsOf } from "./problems.ts";
import { type JobOverrides, sweepJobs } from "./sweep-jobs.ts";

/** What is composed. */
export interface ComposeCall {
  readonly configName: string;
  readonly overrides: readonly string[];
}

/** The result of a composition: a config, or what is wrong. */
export type Composed =
  | ComposedConfig
  | { readonly kind: "failed"; readonly problems: readonly Problem[] };

export interface ComposedConfig {
  readonly kind: "composed";
  /** Of a sweep, that of its first job. */
  readonly composition: Composition;
  readonly warnings: readonly Problem[];
  /** Empty if the line is of one job. */
  readonly jobs: readonly JobOverrides[];
  readonly context: ResolveContext;
}

/** A tree with its texts as they are now. */
export interface TreeSession {
  compose(call: ComposeCall): Composed;
  /** Whether the line makes several jobs, also where they cannot be shown. */
  isSweep(call: ComposeCall): boolean;
  /**
   * What continues a word.
   * @param preceding the words before it
   */
  complete(word: string, preceding: readonly string[], configName: string): readonly Candidate[];
  /** The groups and configs of the tree, also while nothing composes. */
  repository(): Repository;
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
  const compositionOf = (call: ComposeCall, mode: RunMode = "run"): Composition =>
    engine.composition({
      configDir: directory,
      configName: call.configName,
      overrides: call.overrides,
      jobName: program.jobName,
      fromShell: true,
      mode,
    });
  const repository = (): Repository => engine.snapshot({ configDir: directory }).repository;
  const aliases = (configName: string) =>
    aliasesOf(primaryAtRoot(configName, repository()), dialectNamed(dialect));
  const isSweeping = ({ configName, overrides }: ComposeCall): boolean => {
    try {
      const definedAliases = aliases(configName);
      const { overrides: expanded } = expandAliases(
        overrides,
        definedAliases,
        dialectNamed(dialect),
      );
      return parseOverrides(expanded, { dialect: dialectNamed(dialect) }).some(isSweep);
    } catch (error) {
      // Composing tells what is wrong.
      if (isConfigError(error)) return false;
      throw error;
    }
  };
  const jobsOf = (call: ComposeCall): readonly JobOverrides[] => {
    if (!isSweeping(call)) return [];
    const { configName, overrides } = call;
    const expanded = expandAliases(overrides, aliases(configName), dialectNamed(dialect));
    const master = compositionOf(call, "multirun");
    return sweepJobs(master, expanded.overrides, engine.resolveContext());
  };
  const compose = (call: ComposeCall): Composed => {
    try {
      const jobs = jobsOf(call);
      const composition = compositionOf({ ...call, overrides: jobs[0] ?? call.overrides });
      return {
        kind: "composed",
        composition,
        warnings: warningsOf(composition, directory),
        jobs,
        context: engine.resolveContext(),
      };
    } catch (error) {
      return { kind: "failed", problems: problemsOf(asConfigError(error), call, directory) };
    }
  };
  /** By what was composed; the oldest first. */
  const kept = new Map<string, Composed>();
  return {
    repository,
    isSweep: isSweeping,
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
    complete(word, preceding, configName) {
      const mode = isSweeping({ configName, overrides: preceding }) ? "multirun" : "run";
      const composer = {
        configName,
        context: engine.resolveContext(),
        searchPath: repository,
        aliases: () => aliases(configName),
        compose: (overrides: readonly string[]) => compositionOf({ configName, overrides }, mode),
      };
      const tree = treeFor(composer, preceding, mode);
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

/**
 * The config of a line without its wrong overrides, all of them where none is to blame, and those that were left out; undefined if
 * nothing composes.
 */
export function withoutMistakes(
  session: TreeSession,
  { configName, overrides }: ComposeCall,
): { readonly composed: ComposedConfig; readonly left: readonly string[] } | undefined {
  let kept = overrides;
  for (;;) {
    const composed = session.compose({ configName, overrides: kept });
    if (composed.kind === "composed")
      return { composed, left: overrides.filter((override) => !kept.includes(override)) };
    if (kept.length === 0) return undefined;
    const wrong = composed.problems.flatMap(({ place }) =>
      place?.kind === "override" ? [place.override] : [],
    );
    const next = kept.filter((override) => !wrong.includes(override));
    kept = next.length === kept.length ? [] : next;
  }
}

function asConfigError(error: unknown): ConfigError {
  if (isConfigError(error)) return error;
  throw error;
}
