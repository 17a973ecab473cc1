import { describe, expect, it } from "vitest";
import { terminalWidth } from "../../src/system/terminal-width.ts";

describe("terminalWidth", () => {
  it.each([
    [{}, 132, 132],
    [{ COLUMNS: "40" }, 132, 40],
    [{ COLUMNS: "40" }, undefined, 40],
    [{ COLUMNS: "" }, 132, 132],
    [{ COLUMNS: "wide" }, undefined, 100],
    [{ COLUMNS: "-3" }, 0, 100],
    [{}, undefined, 100],
  ])("%j on a terminal of %s is %i", (env, columns, width) => {
    expect(terminalWidth(env, columns)).toBe(width);
  });
});
