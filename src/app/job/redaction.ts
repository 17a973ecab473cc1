/** Removes secrets from what is shown, logged and stored. */
import { findForm, formsOf, type SecretForm } from "../../engine/compose/encoded-forms.ts";
import { MASK, SHORTEST_SECRET } from "../../engine/compose/secrets.ts";
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

export function createRedaction(): Redaction {
  const formsBySecret = new Map<string, readonly SecretForm[]>();
  return {
    learn(secrets) {
      for (const secret of secrets)
        if (secret.length >= SHORTEST_SECRET && !formsBySecret.has(secret))
          formsBySecret.set(secret, formsOf(secret));
    },
    count: () => formsBySecret.size,
    apply: (text) => masked(text, formsBySecret.values()),
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

/**
 * Data without secrets, to be written in whatever form: its texts, names of fields and numbers are masked one by one,
 * before an encoder can change how they look.
 *
 * @param value as JSON holds it, not nested too deeply for recursion
 */
export function redactValue(value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === "string") return redact(value);
  if (typeof value === "number") {
    const text = String(value);
    const shown = redact(text);
    return shown === text ? value : shown;
  }
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map((item: unknown) => redactValue(item, redact));
  const taken = new Map<string, unknown>();
  for (const [name, item] of Object.entries(value))
    taken.set(freeName(redact(name), taken), redactValue(item, redact));
  return Object.fromEntries(taken);
}

/** Two names may become the same mask. */
function freeName(name: string, taken: ReadonlyMap<string, unknown>): string {
  let free = name;
  for (let next = 2; taken.has(free); next++) free = `${name} (${next})`;
  return free;
}

/** A console that shows no secret. */
export const guardConsole = (console: Console, { apply, count }: Redaction): Console => ({
  ...console,
  stdout: (text) => console.stdout(apply(text)),
  stderr: (text) => console.stderr(apply(text)),
  redact: apply,
  secretsKnown: count,
});
