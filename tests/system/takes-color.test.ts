import { describe, expect, it } from "vitest";
import { takesColor } from "../../src/system/takes-color.ts";

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
