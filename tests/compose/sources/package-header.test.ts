import { describe, expect, it } from "vitest";
import { packageHeader } from "../../../src/compose/sources/package-header.ts";
import { refusal } from "../in-memory.ts";

const header = (text: string) => packageHeader({ name: "db.yaml", text });

describe("the package header", () => {
  it.each([
    ["# @package foo.bar\na: 1", "foo.bar"],
    ["#@package   foo\n", "foo"],
    ["\n\n   # @package foo\n", "foo"],
    ["# @package _global_\r\na: 1", "_global_"],
    ["# @author me\n# @package foo\n", "foo"],
    ["# @package one\n# @package two\n", "two"],
  ])("is found in %j", (text, expected) => {
    expect(header(text)).toBe(expected);
  });

  it.each([
    ["", "an empty file"],
    ["a: 1\n# @package foo\n", "content first"],
    ["# a comment\n# @package foo\n", "an ordinary comment first"],
    ["---\n# @package foo\n", "a document start first"],
    ["\uFEFF# @package foo\n", "a byte order mark first"],
    ["# @package: foo bar\n".replace(" bar", ""), "a colon after the key"],
    [`${"\n".repeat(600)}# @package foo\n`, "a header beyond the first 512 characters"],
  ])("is not found in %j (%s)", (text) => {
    expect(header(text)).toBeNull();
  });

  it("counts the line ends that Python counts", () => {
    expect(header("# @author me\u2028# @package foo")).toBe("foo");
  });

  it("counts characters as Python reads them: the end of a line of Windows is one", () => {
    const below = (lines: number) => header(`${"\r\n".repeat(lines)}# @package foo\r\n`);
    expect([400, 500, 512].map(below)).toEqual(["foo", "f", null]);
  });

  it("counts a character outside of the basic plane as one", () => {
    const below = (count: number) => header(`# @by ${"😀".repeat(count)}\n# @package foo\n`);
    expect([300, 490, 520].map(below)).toEqual(["foo", "foo", null]);
  });

  it.each([
    ["# @package\n", "Expected header format: KEY VALUE, got '@package'"],
    ["# @package a b\n", "Too many components in '@package a b'"],
  ])("is refused at its place in %j", (text, message) => {
    const error = refusal(() => header(text));
    expect(error.code).toBe("compose.invalid_config");
    expect(error.message).toBe(message);
    expect(error.details.origin).toMatchObject({ kind: "file", start: 2 });
  });
});
