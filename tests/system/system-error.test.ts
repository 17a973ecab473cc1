import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { errorCode, isSystemError } from "../../src/system/system-error.ts";
import { ConfigError } from "../../src/values/errors.ts";

const thrownBy = (action: () => unknown): unknown => {
  try {
    return action();
  } catch (error) {
    return error;
  }
};

describe("errors of the system", () => {
  it("have a code and a call", () => {
    const error = thrownBy(() => readFileSync("/no/such/file"));
    expect(errorCode(error)).toBe("ENOENT");
    expect(isSystemError(error)).toBe(true);
  });

  it("are no others", () => {
    const refused = thrownBy(() => Buffer.alloc(-1));
    expect(errorCode(refused)).toBe("ERR_OUT_OF_RANGE");
    expect(isSystemError(refused)).toBe(false);
    const ours = new ConfigError({ code: "app.usage", message: "no" });
    expect([errorCode(ours), isSystemError(ours)]).toEqual(["app.usage", false]);
    for (const none of [new Error("none"), { code: "ENOENT" }, "ENOENT", undefined, null])
      expect([errorCode(none), isSystemError(none)]).toEqual([undefined, false]);
  });
});
