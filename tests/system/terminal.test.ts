import { describe, expect, it } from "vitest";
import { takesColor, terminalWidth } from "../../src/system/terminal.ts";

describe("takesColor", () => {
  it.each([
    [true, {}, true],
    [true, { TERM: "xterm-256color" }, true],
    [true, { TERM: "dumb" }, false],
    [true, { NO_COLOR: "1" }, false],
    [true, { NO_COLOR: "0" }, false],
    [true, { NO_COLOR: "" }, true],
    [false, {}, false],
    [undefined, { FORCE_COLOR: "1" }, false],
  ])("of a stream with isTTY %s and %j is %s", (isTTY, env, expected) => {
    expect(takesColor({ ...(isTTY !== undefined && { isTTY }) }, env)).toBe(expected);
  });
});

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
