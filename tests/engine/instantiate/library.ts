/** What the tests instantiate. */
import { ConfigError, createTargets, instantiate, loadYaml, target } from "../../../src/index.ts";

export class Thing {
  readonly args: readonly unknown[];
  constructor(...args: unknown[]) {
    this.args = args;
  }
  static from(...args: unknown[]): Thing {
    return new this("from", ...args);
  }
}
export class Child extends Thing {}
export class User {
  readonly name: string;
  readonly age: number;
  constructor(name: string, age: number) {
    this.name = name;
    this.age = age;
  }
}

export const targets = createTargets({
  "lib.Thing": Thing,
  Child,
  User: target(User, { parameters: ["name", "age"] }),
  echo: (...args: unknown[]) => args,
  max: Math.max,
  Map,
  Number,
  math: { half: ({ x }: { x: number }) => x / 2, constants: { pi: 3.14 } },
  promised: async ({ value }: { value: unknown }) => value,
  fail: () => {
    throw new RangeError("too far");
  },
});

export const yaml = (text: string, options: Parameters<typeof instantiate>[1] = {}) =>
  instantiate(loadYaml(text), { targets, ...options });

/** What `work` throws, for looking at. */
export function refusal(work: () => unknown): ConfigError["details"] {
  try {
    work();
  } catch (error) {
    if (error instanceof ConfigError) return error.details;
    throw error;
  }
  throw new Error("nothing was thrown");
}
