import fc from "fast-check";
import { expect, it, test } from "vitest";
import {
  compareBytes,
  fromBase64,
  toBase64,
  utf8Length,
} from "../../../src/foundation/text/bytes.ts";
import { runs } from "../../runs.ts";

const bytes = fc.uint8Array({ maxLength: 40 });

it("writes base64 as Node does", () => {
  fc.assert(
    fc.property(bytes, (some) => toBase64(some) === Buffer.from(some).toString("base64")),
    { numRuns: runs(200) },
  );
});

it("reads what it has written, without its padding", () => {
  fc.assert(
    fc.property(bytes, (some) => {
      expect(fromBase64(toBase64(some).replace(/=+$/, ""))).toEqual(some);
    }),
    { numRuns: runs(200) },
  );
});

test("bits that make no byte are dropped, as Python does", () => {
  expect([...fromBase64("AAB")]).toEqual([0, 0]);
});

it("has the order of Node's buffers", () => {
  fc.assert(
    fc.property(bytes, bytes, (left, right) => {
      expect(Math.sign(compareBytes(left, right))).toBe(Buffer.compare(left, right));
      expect(compareBytes(left, left.slice())).toBe(0);
    }),
    { numRuns: runs(200) },
  );
});

it("counts bytes of UTF-8", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      expect(utf8Length(text)).toBe(Buffer.byteLength(text));
    }),
    { numRuns: runs(200) },
  );
});
