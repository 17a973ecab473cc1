import { MASK } from "../../compose/secrets.ts";
import type { Console } from "../process/console.ts";

/**
 * Removes secrets from texts: messages, logs, and what a task prints through its logger. Configs are
 * masked as trees before they are shown; this is for everything else.
 */
export interface Redaction {
  learn(secrets: Iterable<string>): void;
  /** How many texts are removed; never decreases. */
  readonly count: () => number;
  readonly apply: (text: string) => string;
}

/** Shorter texts occur everywhere by chance: masking them would protect little and hide much. */
const SHORTEST = 4;

export function createRedaction(): Redaction {
  let known: readonly string[] = [];
  return {
    learn(secrets) {
      const all = new Set(known);
      for (const secret of secrets)
        if (secret.length >= SHORTEST) for (const form of formsOf(secret)) all.add(form);
      // Longest first, because one secret may be part of another.
      known = [...all].sort((a, b) => b.length - a.length);
    },
    count: () => known.length,
    apply: (text) => known.reduce((shown, secret) => shown.replaceAll(secret, () => MASK), text),
  };
}

/** As it is, and as JSON, YAML and the override language write it. */
const formsOf = (secret: string): readonly string[] => [
  secret,
  JSON.stringify(secret).slice(1, -1),
  secret.replaceAll("'", "''"),
  secret.replaceAll("'", "\\'"),
];

/** A console that shows no secret. */
export const guardConsole = (console: Console, { apply, count }: Redaction): Console => ({
  ...console,
  stdout: (text) => console.stdout(apply(text)),
  stderr: (text) => console.stderr(apply(text)),
  redact: apply,
  secretsKnown: count,
});
