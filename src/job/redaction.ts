import { MASK } from "../compose/secrets.ts";
import { findForm, formsOf, type SecretForm } from "./encoded-forms.ts";
import type { Console } from "./process/invocation.ts";

/**
 * Removes secrets from texts: messages, logs, and the output of a task's logger. Configs are masked as trees before
 * they are shown; this covers everything else.
 */
export interface Redaction {
  learn(secrets: Iterable<string>): void;
  /** How many secrets are removed; never decreases. */
  readonly count: () => number;
  readonly apply: (text: string) => string;
}

/** Shorter texts occur everywhere by chance: masking them would protect little and hide much. */
const SHORTEST = 4;

export function createRedaction(): Redaction {
  const known = new Map<string, readonly SecretForm[]>();
  return {
    learn(secrets) {
      for (const secret of secrets)
        if (secret.length >= SHORTEST && !known.has(secret)) known.set(secret, formsOf(secret));
    },
    count: () => known.size,
    apply: (text) => masked(text, known.values()),
  };
}

/** One mask covers secrets that overlap. */
function masked(text: string, secrets: Iterable<readonly SecretForm[]>): string {
  const spans: (readonly [start: number, end: number])[] = [];
  for (const forms of secrets)
    for (const form of forms) findForm(text, form, (start, end) => spans.push([start, end]));
  if (spans.length === 0) return text;
  const kept: string[] = [];
  let [masking, done] = [0, 0];
  for (const [start, end] of spans.sort(([a], [b]) => a - b)) {
    if (start >= masking) kept.push(text.slice(done, start), MASK);
    masking = Math.max(masking, end);
    done = masking;
  }
  return kept.join("") + text.slice(done);
}

/** A console that shows no secret. */
export const guardConsole = (console: Console, { apply, count }: Redaction): Console => ({
  ...console,
  stdout: (text) => console.stdout(apply(text)),
  stderr: (text) => console.stderr(apply(text)),
  redact: apply,
  secretsKnown: count,
});
