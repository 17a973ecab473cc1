import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import * as format from "../../../../src/profiler/tools/recorder/format.ts";
import { payloadValue } from "../../../../src/profiler/tools/recorder/records.ts";

const header = readFileSync(
  new URL("../../../../native/region_recorder/format.hpp", import.meta.url),
  "utf8",
);

/** The value of `name = 12,` or `name = 0x12;` in the recorder's header. */
function native(name: string): number {
  const match = new RegExp(`\\b${name} = (0x[0-9a-f]+|\\d+)[,;]`).exec(header);
  if (match?.[1] === undefined) throw new Error(`format.hpp has no ${name}`);
  return Number(match[1]);
}

describe("the reader's numbers are the recorder's", () => {
  test("marks and version", () => {
    expect(format.BYTE_ORDER_MARK).toBe(native("kByteOrder"));
    expect(format.CHUNK_MAGIC).toBe(native("kChunkMagic"));
    expect(format.MAJOR_VERSION).toBe(native("kMajor"));
    const magic = /kMagic\[8\] = \{0x89, ((?:'\w'(?:, )?)+)\}/.exec(header)?.[1] ?? "";
    const letters = magic.replaceAll(/[', ]/g, "");
    expect(Buffer.from(format.MAGIC).toString("latin1")).toBe(`\u0089${letters}`);
  });

  test.each([
    [format.recordType, ""],
    [format.recordFlag, "Has"],
  ])("record types and flags", (constants, prefix) => {
    for (const [name, value] of Object.entries(constants)) {
      const capital = name.charAt(0).toUpperCase() + name.slice(1);
      expect([name, value]).toEqual([
        name,
        native(`k${name === "truncated" ? "" : prefix}${capital}`),
      ]);
    }
  });
});

describe("payload values", () => {
  test.each([
    ["uint64", 1, 0xffff_ffff_ffff_ffffn, 0xffff_ffff_ffff_ffffn],
    ["uint64 that a number holds", 1, 9007199254740991n, 9007199254740991],
    ["int64", 2, 0xffff_ffff_ffff_ffffn, -1],
    ["double", 3, 0x4009_21fb_5444_2d18n, Math.PI],
    ["uint32", 4, 0xffff_ffffn, 4294967295],
    ["int32", 5, 0xffff_ffff_8000_0000n, -2147483648],
    ["float", 6, 0x3e80_0000n, 0.25],
    ["an unknown type", 99, 1n, null],
  ])("%s", (_, type, bits, value) => {
    expect(payloadValue(type, bits)).toBe(value);
  });
});
