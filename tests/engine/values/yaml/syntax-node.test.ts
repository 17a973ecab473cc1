import { describe, expect, it } from "vitest";
import { plainTag, TAG } from "../../../../src/engine/values/yaml/syntax-node.ts";

const TEXTS: Readonly<Record<string, readonly string[]>> = {
  [TAG.null]: ["", "~", "null", "Null", "NULL"],
  [TAG.boolean]: ["yes", "No", "TRUE", "false", "on", "Off"],
  [TAG.integer]: ["0", "-1", "+1_000", "017", "0x1F", "0b1_0", "1:30", "190:20:30"],
  [TAG.float]: ["1.", "1.5", ".5", "1e3", "1E-5", "1_0.5e+3", "1:30.5", ".inf", "-.INF", ".nan"],
  [TAG.merge]: ["<<"],
  [TAG.value]: ["="],
  [TAG.string]: [
    ...["y", "n", "yEs", "nUll", "none", "~a", "08", "0o17", "0X1F", "1:60", "01:30", "1f"],
    ...["-.5", "+.5", ".5e3", "._5", "0_e0", "1e1_0", "-.nan", "inf", "2001-12-14", "<<<", "=="],
  ],
};

describe("plainTag in OmegaConf's dialect", () => {
  for (const [tag, texts] of Object.entries(TEXTS))
    it.each(texts)(`reads %j as ${tag}`, (text) => {
      expect(plainTag(text, "omegaconf")).toBe(tag);
    });
});

describe("plainTag in PyYAML's dialect", () => {
  it("has timestamps, and exponents only with fraction and sign", () => {
    expect(plainTag("2001-12-14", "pyyaml")).toBe("tag:yaml.org,2002:timestamp");
    expect(plainTag("2001-1-1 2:03:04", "pyyaml")).toBe("tag:yaml.org,2002:timestamp");
    expect(plainTag("1e3", "pyyaml")).toBe(TAG.string);
    expect(plainTag("1.0e3", "pyyaml")).toBe(TAG.string);
    expect(plainTag("1.0e+3", "pyyaml")).toBe(TAG.float);
  });
});
