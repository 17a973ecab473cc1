import { expect, it } from "vitest";
import { dateTime } from "../../../src/report/model/document.ts";

it.each([
  ["2026-01-02T03:04:05.678Z", "2026-01-02T03:04:05.678Z"],
  ["+010000-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z"],
  ["+275760-09-13T00:00:00.000Z", "9999-12-31T23:59:59.999Z"],
  ["-000001-12-31T23:59:59.999Z", "0000-01-01T00:00:00.000Z"],
])("tells %s as %s", (moment, told) => {
  expect(dateTime(new Date(moment))).toBe(told);
});
