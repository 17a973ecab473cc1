import { describe, expect, it } from "vitest";
import { ConfigError } from "../../../../src/values/errors.ts";
import { readYaml } from "../../../../src/values/reader.ts";
import { plain } from "../plain-values.ts";

const bytes = (text: string): unknown => plain(readYaml(`!!binary "${text}"`));

describe("!!binary", () => {
  it.each([
    ["aGVsbG8=", "hello"],
    ["aGVs bG8=", "hello"],
    ["aG-Vs#bG8=", "hello"],
    ["aGVsbG8=d29ybGQ=", "hello"],
    ["!!", ""],
    ["", ""],
  ])("decodes %j as Python does", (text, expected) => {
    expect(bytes(text)).toEqual(new TextEncoder().encode(expected));
  });

  it.each(["abc", "a", "YQ=", "é"])("refuses %j", (text) => {
    expect(() => bytes(text)).toThrow(ConfigError);
  });
});
