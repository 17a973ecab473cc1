/** What the page asks the worker that composes, and the answers to it. */
import type { Candidate } from "../../app/cli/completion/candidate.ts";
import { messageOf } from "../../foundation/system/builtin-types.ts";
import type { TreeDocument } from "../tree-document.ts";
import { type ChoiceMenu, choiceMenus, groupMenus, lineWithOption } from "./choice-menus.ts";
import {
  type ConfigTextLine,
  configLines,
  type ValueHistory,
  valueHistory,
} from "./config-lines.ts";
import { type DefaultsRow, defaultsRows } from "./defaults-rows.ts";
import { differencesOf, type ShownDifference } from "./differences.ts";
import {
  type ComposeCall,
  type Composed,
  type ComposedConfig,
  openSession,
  type TreeSession,
  withoutMistakes,
} from "./page-session.ts";
import type { Problem } from "./problems.ts";
import type { JobOverrides } from "./sweep-jobs.ts";

/** What changed in the files of the page since they were sent before. */
export interface FilesUpdate {
  readonly tree: Omit<TreeDocument, "files">;
  readonly changed: readonly (readonly [path: string, text: string])[];
  readonly removed: readonly string[];
}

/** What is looked at. */
export interface ViewRequest {
  readonly call: ComposeCall;
  /** Whether interpolations are resolved in the lines of the config. */
  readonly resolve: boolean;
  /** The overrides of the config that it is compared with; undefined while no difference is shown. */
  readonly compared: readonly string[] | undefined;
  /** Undefined while the defaults tree is not shown. */
  readonly defaults: { readonly withHydra: boolean } | undefined;
}

/** What the page shows. */
export interface View {
  /** Whether the line makes several jobs, also where it has a mistake or its jobs are chosen while they run. */
  readonly isSweep: boolean;
  /** What is wrong. */
  readonly problems: readonly Problem[];
  /** What is warned of in the config. */
  readonly warnings: readonly Problem[];
  /** Undefined as long as nothing can be composed of the primary config. */
  readonly config: ConfigView | undefined;
  /** The groups, also where there is no config. */
  readonly menus: readonly ChoiceMenu[];
  /** Undefined if it was not asked for. */
  readonly difference: Difference | undefined;
}

export interface ConfigView {
  /** Identifies it in requests for the history of a value. */
  readonly number: number;
  readonly source: ConfigSource;
  readonly lines: readonly ConfigTextLine[];
  /** Undefined if they were not asked for. */
  readonly rows: readonly DefaultsRow[] | undefined;
}

/** What a config was composed of: the line, the first job of its sweep, the line before it had a mistake, or without the wrong words. */
export type ConfigSource =
  | { readonly kind: "line" }
  | { readonly kind: "sweep"; readonly count: number; readonly first: readonly JobOverrides[] }
  | { readonly kind: "earlier" }
  | { readonly kind: "without"; readonly overrides: readonly string[] };

/** What is wrong with the compared line, or what differs. */
export type Difference =
  | { readonly kind: "failed"; readonly problems: readonly Problem[] }
  | { readonly kind: "compared"; readonly differences: readonly ShownDifference[] };

/** The requests by name, as functions. */
export interface Requests {
  view(request: ViewRequest): View;
  /** What continues a word, after the words before it. */
  complete(request: {
    readonly configName: string;
    readonly word: string;
    readonly preceding: readonly string[];
  }): readonly Candidate[];
  /** The line that chooses an option of a group. */
  choose(request: {
    readonly configName: string;
    readonly line: string;
    readonly key: string;
    readonly option: string | null;
  }): string;
  /** Where a value of a shown config comes from; undefined if another one is shown by now. */
  history(request: { readonly number: number; readonly key: string }): ValueHistory | undefined;
}

export type RequestName = keyof Requests;
export type RequestOf<Name extends RequestName> = Parameters<Requests[Name]>[0];
export type AnswerOf<Name extends RequestName> = ReturnType<Requests[Name]>;

/** A request with its number. It is answered of the files as the update makes them. */
export interface Message<Name extends RequestName = RequestName> {
  readonly id: number;
  readonly name: Name;
  readonly request: RequestOf<Name>;
  /** Undefined if the files are as before. */
  readonly files: FilesUpdate | undefined;
}

/** The answer to the request with the number, or an error of this program. */
export type Reply =
  | { readonly id: number; readonly answer: unknown }
  | { readonly id: number; readonly failure: string };

/** More jobs are not listed. */
const MOST_LISTED = 200;

interface Shown extends ComposedConfig {
  readonly configName: string;
  readonly source: ConfigSource;
  readonly number: number;
}

function sourceOf({ jobs }: ComposedConfig): ConfigSource {
  return jobs.length === 0
    ? { kind: "line" }
    : { kind: "sweep", count: jobs.length, first: jobs.slice(0, MOST_LISTED) };
}

/** Answers the messages of one page, in the order in which they were sent. */
export function createReplier(): (message: Message) => Reply {
  const texts = new Map<string, string>();
  let session: TreeSession | undefined;
  let shown: Shown | undefined;
  let last = 0;
  let directory = "";
  const update = ({ changed, removed, tree }: FilesUpdate): void => {
    for (const path of removed) texts.delete(path);
    for (const [path, text] of changed) texts.set(path, text);
    ({ directory } = tree);
    session = openSession(tree, texts);
  };
  const opened = (): TreeSession => {
    if (session === undefined) throw new Error("the first message has no files");
    return session;
  };
  const requests: Requests = {
    view({ call, compared, defaults, resolve }) {
      const { configName } = call;
      const composed = opened().compose(call);
      shown = nextShown(composed, call);
      return {
        isSweep: opened().isSweep(call),
        problems: composed.kind === "failed" ? problemsWith(composed.problems, configName) : [],
        warnings: shown?.warnings ?? [],
        config: shown && {
          number: shown.number,
          source: shown.source,
          lines: configLines(shown.composition, shown.context, { resolve }),
          rows: defaults && defaultsRows(shown.composition, { directory, ...defaults }),
        },
        menus: shown ? choiceMenus(shown.composition) : groupMenus(opened().repository()),
        difference: compared && difference(opened().compose({ configName, overrides: compared })),
      };
    },
    complete: ({ preceding, configName, word }) => opened().complete(word, preceding, configName),
    choose: ({ configName, key, line, option }) =>
      lineWithOption(opened(), { configName, line }, { key, option }),
    history: ({ key, number }) =>
      shown?.number === number
        ? valueHistory(shown.composition, shown.context, { directory, key })
        : undefined,
  };
  /** Where nothing can be shown, also what is wrong without the overrides. */
  const problemsWith = (problems: readonly Problem[], configName: string): readonly Problem[] => {
    const bare = shown === undefined ? opened().compose({ configName, overrides: [] }) : undefined;
    if (bare?.kind !== "failed") return problems;
    const texts = problems.map((problem) => JSON.stringify(problem));
    return [
      ...problems,
      ...bare.problems.filter((problem) => !texts.includes(JSON.stringify(problem))),
    ];
  };
  const nextShown = (composed: Composed, call: ComposeCall): Shown | undefined => {
    const { configName } = call;
    const numbered = (next: Pick<Shown, "source"> & ComposedConfig): Shown => {
      last += 1;
      return { ...next, configName, number: last };
    };
    if (composed.kind === "composed") return numbered({ ...composed, source: sourceOf(composed) });
    if (shown?.configName === configName && shown.source.kind !== "without")
      return { ...shown, source: { kind: "earlier" } };
    const found = withoutMistakes(opened(), call);
    return (
      found && numbered({ ...found.composed, source: { kind: "without", overrides: found.left } })
    );
  };
  const difference = (older: Composed): Difference | undefined => {
    if (older.kind === "failed") return older;
    return (
      shown && {
        kind: "compared",
        differences: differencesOf(older.composition, shown.composition, directory),
      }
    );
  };
  return ({ files, id, name, request }) => {
    try {
      if (files !== undefined) update(files);
      const answer = (requests[name] as (request: unknown) => unknown)(request);
      return { id, answer };
    } catch (error) {
      return { id, failure: messageOf(error) };
    }
  };
}
