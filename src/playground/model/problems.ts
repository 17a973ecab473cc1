/** Errors of a composition as a page shows them. */

import type { Composition } from "../../engine/compose/compose.ts";
import { splitOverrides } from "../../engine/compose/index.ts";
import { refusesNull } from "../../engine/compose/schemas.ts";
import { isAboutSecret } from "../../engine/compose/secrets.ts";
import { trapNotes } from "../../engine/compose/traps.ts";
import type { ErrorDetails, NestedError } from "../../engine/values/error-details.ts";
import { describeOrigin, lineColumn, type Origin } from "../../engine/values/origin.ts";
import { visibleControls } from "../../foundation/text/printable.ts";

/** Something that is wrong, or that is warned of. */
export interface Problem {
  readonly code: string;
  /** The lines of the message, without names that are in `available`. */
  readonly message: readonly string[];
  readonly place: ShownPlace | undefined;
  /** The nearest name, and what to do. */
  readonly nearest: string | undefined;
  readonly available: readonly string[];
  readonly hint: string | undefined;
}

/** A place that can be shown: a line of a file, a part of an override, or words about another one. */
export type ShownPlace =
  | { readonly kind: "file"; readonly text: string; readonly path: string; readonly line: number }
  | {
      readonly kind: "override";
      readonly text: string;
      /** The override as it was typed. */
      readonly override: string;
      /** Its index among the overrides. */
      readonly index: number;
      /** The wrong part; undefined for all of it. */
      readonly span: readonly [start: number, end: number] | undefined;
    }
  | { readonly kind: "other"; readonly text: string };

/** @param directory that the names of files begin with */
export function placeOf(origin: Origin, directory: string): ShownPlace {
  const text = describeOrigin(origin);
  if (origin.kind === "override") {
    const { end, index, start, text: override } = origin;
    const span = start === undefined ? undefined : ([start, end ?? start + 1] as const);
    return { kind: "override", text, override, index, span };
  }
  const prefix = `${directory}/`;
  if (origin.kind !== "file" || !origin.source.name.startsWith(prefix))
    return { kind: "other", text };
  const path = origin.source.name.slice(prefix.length);
  return { kind: "file", text, path, line: lineColumn(origin).line };
}

/**
 * An error, and those that were found with it.
 * @param call that they are about
 */
export function problemsOf(
  { details }: { readonly details: ErrorDetails<string> },
  call: { readonly overrides: readonly string[] },
  directory: string,
): readonly Problem[] {
  const { available = [], code, hint, message, nearest, origin, others = [] } = details;
  const shown = (text: string | undefined) =>
    text === undefined ? undefined : visibleControls(text);
  const problem: Problem = {
    code,
    message: messageLines(message, available),
    place: origin === undefined ? undefined : typedPlace(placeOf(origin, directory), call),
    nearest: shown(nearest),
    available: available.map(visibleControls),
    hint: shown(remedyHere(details) ?? hint),
  };
  return [problem, ...others.flatMap((other: NestedError) => problemsOf(other, call, directory))];
}

/** An override of a job of a sweep does not stand in the line, and is told by its text. */
const typedPlace = (
  place: ShownPlace,
  { overrides }: { readonly overrides: readonly string[] },
): ShownPlace =>
  place.kind === "override" && !overrides.includes(place.override)
    ? { kind: "other", text: place.text }
    : place;

/** The warnings and notes of a composition, each once. */
export function warningsOf(composition: Composition, directory: string): readonly Problem[] {
  const { choices, configName, dialect, overrides, repository, root } = composition;
  const { values } = splitOverrides(overrides, repository, dialect);
  const about = { choices, configName, context: { dialect }, overrides, repository, root, values };
  const notes = trapNotes({
    ...about,
    mode: "run",
    optionsOf: () => [],
    isSecret: (path) => isAboutSecret(path, composition.secrets),
    refusesNull: (path) => refusesNull(composition.schemas, path),
    notesRareCases: false,
  });
  const all = [...composition.warnings, ...notes].map(
    ({ code, message, origin }): Problem => ({
      code,
      message: messageLines(message, []),
      place: origin === undefined ? undefined : placeOf(origin, directory),
      nearest: undefined,
      available: [],
      hint: undefined,
    }),
  );
  const byText = new Map(all.map((problem) => [problem.message.join("\n"), problem]));
  return [...byText.values()];
}

/** What to do in a page, which has no flags; undefined where that is as elsewhere. */
function remedyHere({ origin }: ErrorDetails<string>): string | undefined {
  return origin?.kind === "override" && origin.text.startsWith("-")
    ? "write overrides alone: the page takes no flags of the program"
    : undefined;
}

/** Hydra's messages end with the names and the search path. There is one tree here, and the names are shown apart. */
function messageLines(message: string, available: readonly string[]): readonly string[] {
  const [first = "", ...others] = message.split("\n");
  const end = others.findIndex((line) => line.startsWith("Config search path:"));
  const kept = (end < 0 ? others : others.slice(0, end)).filter((line) => {
    const text = line.trim();
    return text !== "" && !available.includes(text) && !text.startsWith("Available options in");
  });
  return [first, ...kept].map(visibleControls);
}
