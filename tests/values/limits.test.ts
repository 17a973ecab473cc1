import { describe, expect, it } from "vitest";
import { compose, DEFAULT_LIMITS, loadYaml, toYaml } from "../../src/index.ts";
import { limitsOf, withLimits } from "../../src/values/limits.ts";

describe("limits", () => {
  it("are those of the environment, or the defaults", () => {
    expect(limitsOf({})).toBe(DEFAULT_LIMITS);
    expect(limitsOf({ HYDRACONF_MAX_VALUES: "5_000_000", HYDRACONF_MAX_CHARACTERS: "" })).toEqual({
      ...DEFAULT_LIMITS,
      values: 5_000_000,
    });
    expect(limitsOf({ HYDRACONF_MAX_UNPACKED_BYTES: " 7 " }).unpackedBytes).toBe(7);
  });

  it.each(["much", "-1", "1e3", "1.5", "99999999999999999999"])(
    "are whole numbers there, not %s",
    (text) => {
      expect(() => limitsOf({ HYDRACONF_MAX_VALUES: text })).toThrow(
        `HYDRACONF_MAX_VALUES must be a whole number, not '${text}'`,
      );
    },
  );

  it("can be given one by one", () => {
    expect(withLimits(DEFAULT_LIMITS, undefined)).toBe(DEFAULT_LIMITS);
    expect(withLimits(DEFAULT_LIMITS, { values: 3 })).toEqual({ ...DEFAULT_LIMITS, values: 3 });
  });

  it("are an option of what reads, resolves and composes, which is checked", () => {
    const wrong = { limits: { value: 3 } } as never;
    expect(() => loadYaml("a: 1", wrong)).toThrow("loadYaml: there is no option 'limits.value'");
    expect(() => toYaml({}, wrong)).toThrow("toYaml: there is no option 'limits.value'");
    expect(() => compose(wrong)).toThrow("compose: there is no option 'limits.value'");
    expect(() => compose({ limits: { values: -1 } })).toThrow(
      "limits.values must be a number from 0",
    );
  });

  it("of a composition are those of its environment", () => {
    const store = new Map([["config", { text: "a: [1, 2, 3]\nb: ${a}" }]]);
    const config = (env: Record<string, string>) => compose({ configName: "config", store, env });
    expect(config({}).get("b")).toEqual([1, 2, 3]);
    expect(() => config({ HYDRACONF_MAX_VALUES: "2" }).toYaml({ resolve: true })).toThrow(
      "more than 2 values",
    );
  });
});
