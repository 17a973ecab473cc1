/** What can go wrong under ncu, told by what it prints. */

import { FAILURE_CLASSES, type FailureClass } from "./failure-classes.ts";
import type { NcuLog } from "./log.ts";

export interface RecognisedFailure {
  readonly id: FailureClass["id"] | "timeout";
  readonly message: string;
  readonly remedy: string;
  /** Whether another run of the same program under ncu would fail alike. */
  readonly hopeless: boolean;
}

/**
 * A run that our own limit ended: ncu does not know of it.
 *
 * @param current what was measured then, as ncu names it; null between two
 */
export const timeoutFailure = (minutes: number, current: string | null): RecognisedFailure => ({
  id: "timeout",
  message: `stopped after ${minutes} min (pipeline.ncu.timeout_min)${current === null ? "" : ` while it measured "${current}"`}`,
  remedy:
    "kernels that wait for each other hang when they run one at a time: measure their region as a whole (pipeline.ncu.ncu_cli.replay_mode=app-range, or range); or request fewer metrics or launches, or raise pipeline.ncu.timeout_min",
  hopeless: false,
});

/** ncu's own suspicion that a kernel waits for one that ncu holds back. */
const HANG_WARNING = /taking more time than expected/;

/** What to say of a run that seems to hang; null while it does not. */
export function hangNote({ warnings, current }: Pick<NcuLog, "warnings" | "current">) {
  if (!warnings.some((warning) => HANG_WARNING.test(warning))) return null;
  const what = current === null ? "a launch" : `"${current}"`;
  return `ncu warned that ${what} takes longer than expected: kernels that wait for each other hang when they run one at a time; replay_mode=app-range or range measures them together, and pipeline.ncu.timeout_min ends a run that hangs`;
}

/** After a warning ncu went on: of a GPU that it does not know, say, while the next range may run on another. */
const ERROR = "==ERROR==";

/**
 * Everything that is recognised, most telling first; of each kind what fits first.
 *
 * @param ownLines errors and warnings of ncu, from its log and from standard error
 */
export function recogniseFailures(ownLines: readonly string[]): readonly RecognisedFailure[] {
  const lines = [...new Set(ownLines)];
  const found = new Map<FailureClass["id"], RecognisedFailure>();
  for (const { id, pattern, further, message, remedy, hopeless } of FAILURE_CLASSES) {
    if (found.has(id)) continue;
    const first = firstMatch(pattern, lines);
    if (first === null) continue;
    const second = further === undefined ? null : firstMatch(further, lines.slice(first.line));
    if (further !== undefined && second === null) continue;
    const words = message(first.match, second?.match ?? null);
    const isError = lines.some((line) => line.startsWith(ERROR) && pattern.test(line));
    found.set(id, { id, message: words, remedy, hopeless: hopeless && isError });
  }
  return [...found.values()];
}

function firstMatch(pattern: RegExp, lines: readonly string[]) {
  for (const [line, text] of lines.entries()) {
    const match = pattern.exec(text);
    if (match !== null) return { line, match };
  }
  return null;
}
