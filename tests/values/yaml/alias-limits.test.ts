import { describe, expect, it } from "vitest";
import type { ConfigError } from "../../../src/values/errors.ts";
import { readYaml } from "../../../src/values/reader.ts";
import { plain } from "./plain-values.ts";

const codeOf = (text: string): string => {
  try {
    readYaml(text);
  } catch (error) {
    return (error as ConfigError).code;
  }
  return "read";
};

/** `levels` lists of ten aliases of the list before. */
const bomb = (levels: number, item: (alias: string) => string): string =>
  ["a0: &a0 {x: 1}"]
    .concat(Array.from({ length: levels }, (_, n) => `a${n + 1}: &a${n + 1} ${item(`*a${n}`)}`))
    .join("\n");

describe("aliases", () => {
  it("share the node that the anchor names", () => {
    const root = readYaml("a: &x {b: 1}\nc: *x\nd: [*x]");
    const shared = root.kind === "map" ? root.entries.get("a")?.value : undefined;
    expect(root.kind === "map" && root.entries.get("c")?.value).toBe(shared);
    expect(plain(root)).toEqual({
      map: [
        ["a", { map: [["b", 1n]] }],
        ["c", { map: [["b", 1n]] }],
        ["d", [{ map: [["b", 1n]] }]],
      ],
    });
  });

  it("may be many", () => {
    expect(codeOf(`a: &a [1, 2]\n${"- *a\n".replace("- ", "b: ")}`)).toBe("read");
    expect(codeOf(`- &a {x: 1}\n${"- *a\n".repeat(20_000)}`)).toBe("read");
  });

  it("may not multiply without end", () => {
    expect(codeOf(bomb(5, (alias) => `[${Array(10).fill(alias).join(", ")}]`))).toBe("read");
    expect(codeOf(bomb(30, (alias) => `[${Array(10).fill(alias).join(", ")}]`))).toBe(
      "limit.values",
    );
    expect(codeOf(bomb(30, (alias) => `{<<: [${Array(10).fill(alias).join(", ")}]}`))).toBe(
      "limit.values",
    );
  });

  it("may not nest without end", () => {
    expect(codeOf(bomb(5000, (alias) => `[${alias}]`))).toBe("yaml.depth_limit");
  });

  it.each(["&a [*a]", "a: &a {b: *a}", "&a {b: [{c: *a}]}"])(
    "may not contain themselves: %s",
    (text) => {
      expect(codeOf(text)).toBe("yaml.alias_limit");
    },
  );
});
