import type { OverrideValue } from "../../../src/engine/overrides/index.ts";
import { type ConfigError, isConfigError } from "../../../src/engine/values/errors.ts";

/** A value without spans and quotes, easy to write down in an expectation. */
export function plain(value: OverrideValue): unknown {
  switch (value.kind) {
    case "scalar":
      return value.value;
    case "list":
      return value.items.map(plain);
    case "dict":
      return new Map([...value.entries.values()].map((entry) => [entry.key, plain(entry.value)]));
    case "choice":
      return { choice: value.items.map(plain), simple: value.simple, ...marks(value) };
    case "range":
      return { range: [value.start, value.stop, value.step], ...marks(value) };
    case "interval":
      return { interval: [value.start, value.end], ...marks({ ...value, shuffle: false }) };
    case "glob":
      return { glob: [value.include.map(plain), value.exclude.map(plain)] };
  }
}

function marks({ tags, shuffle }: { readonly tags: readonly string[]; readonly shuffle: boolean }) {
  return { ...(tags.length === 0 ? {} : { tags }), ...(shuffle ? { shuffle } : {}) };
}

/** The coded error that a call throws; anything else fails the test. */
export function errorOf(call: () => unknown): ConfigError {
  try {
    call();
  } catch (error) {
    if (isConfigError(error)) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}
