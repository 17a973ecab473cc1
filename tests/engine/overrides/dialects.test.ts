import { describe, expect, it } from "vitest";
import {
  parseOverride,
  parseOverrides,
  sweepStrings,
} from "../../../src/engine/overrides/index.ts";
import { DIALECTS } from "../../../src/engine/values/dialect.ts";

const dialect = DIALECTS["1.4"];
const values = (text: string, options = {}) => [...sweepStrings(parseOverride(text, options))];

describe("the override language of Hydra 1.4", () => {
  it("sorts the values of a range, where 1.3 exchanges its bounds", () => {
    expect(values("k=sort(range(10,0,-3))", { dialect })).toEqual(["1", "4", "7", "10"]);
    expect(values("k=sort(range(10,0,-3))")).toEqual(["3", "6", "9", "12"]);
  });

  it("counts float ranges in the decimals that are shown", () => {
    expect(values("k=range(0,1,0.1)", { dialect })[7]).toBe("0.7");
  });

  it("writes JSON as Python does, and warns of the function", () => {
    const { value, warnings } = parseOverride("k=json_str({a:[1,null,true,'ü']})", { dialect });
    expect(value).toMatchObject({ value: '{"a": [1, null, true, "\\u00fc"]}' });
    expect(warnings).toHaveLength(1);
  });

  it("extends lists, without a prefix", () => {
    expect(parseOverride("k=extend_list(a,b)", { dialect }).type).toBe("extend_list");
    expect(() => parseOverride("+k=extend_list(a)", { dialect })).toThrow(/takes no '\+'/);
    expect(() => parseOverride("k=extend_list(a)")).toThrow(/no function 'extend_list'/);
  });

  it("lists all overrides in front of an error", () => {
    expect(() => parseOverrides(["a=1", "b=["], { dialect })).toThrow(
      "Error when parsing index: 1, string: b=[ out of ['a=1', 'b=['].",
    );
  });
});
