import { describe, expect, it } from "vitest";
import {
  convertUnit,
  createUnitConverter,
} from "../../../../../src/profiler/tools/ncu/rep/units.ts";

describe("units of ncu in base units", () => {
  it.each([
    ["nsecond", "ns", 1],
    ["ns", "ns", 1],
    ["usecond", "ns", 1e3],
    ["us", "ns", 1e3],
    ["msecond", "ns", 1e6],
    ["ms", "ns", 1e6],
    ["second", "ns", 1e9],
    ["s", "ns", 1e9],
    ["Kbyte", "byte", 1e3],
    ["Mbyte", "byte", 1e6],
    ["Ginst", "inst", 1e9],
    ["Kwarps", "warp", 1e3],
    ["sectors", "sector", 1],
    ["Gbyte/second", "byte/s", 1e9],
    ["Tbyte/s", "byte/s", 1e12],
    ["Pbyte", "byte", 1e15],
    ["byte/ns", "byte/s", 1e9],
    ["inst/ms", "inst/s", 1e3],
    ["Mbyte/s", "byte/s", 1e6],
    ["byte/nsecond", "byte/s", 1e9],
    ["cycle/usecond", "cycle/s", 1e6],
    ["hz", "cycle/s", 1],
    ["Ghz", "cycle/s", 1e9],
    ["MHz", "cycle/s", 1e6],
    ["register/thread", "register/thread", 1],
    ["Kbyte/block", "byte/block", 1e3],
    ["byte/Kblock", "byte/block", 1e-3],
    ["%", "%", 1],
    ["", "", 1],
    ["Kelvin", "Kelvin", 1],
    ["/", "/", 1],
  ])("%s is %s times %d", (text, unit, factor) => {
    expect(convertUnit(text)).toEqual({ unit, factor: expect.closeTo(factor, 12) });
  });

  it("are the same when they are asked for again", () => {
    const convert = createUnitConverter();
    for (const text of ["Mbyte/s", "us", "Mbyte/s"])
      expect(convert(text)).toEqual(convertUnit(text));
  });
});
