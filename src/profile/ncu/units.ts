import { getOrCreate } from "../../system/get-or-create.ts";

/**
 * Units as ncu writes them, in both spellings (`nsecond` up to 2024.1, `ns` since), with or without
 * prefixes: ncu chooses a prefix per column unless `--print-units base` is given. Everything is
 * turned into base units, so that values of several kernels or files can be added.
 */
export interface UnitConversion {
  /** E.g. `ns`, `byte`, `cycle/s`, `%`, `register/thread`; empty for a pure number. */
  readonly unit: string;
  /** What a value is multiplied with. */
  readonly factor: number;
}

/** Time is counted in nanoseconds, as ncu's own base unit for durations. */
const TIMES: Readonly<Record<string, number>> = {
  second: 1e9,
  s: 1e9,
  msecond: 1e6,
  ms: 1e6,
  usecond: 1e3,
  us: 1e3,
  nsecond: 1,
  ns: 1,
};

/** ncu's prefixes are decimal, those of bytes too. */
const PREFIXES: Readonly<Record<string, number>> = { K: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15 };

/** What prefixes stand before; `Kinst` is one thousand of them, `Kelvin` would be none. */
const COUNTED =
  /^([KMGTP])(byte|inst|cycle|sector|request|warp|thread|block|register|sample|flop|hz|Hz)s?$/;

/** For tables with a unit in every row: there are few, and reading one takes as long as its row does. */
export function createUnitConverter(): (text: string) => UnitConversion {
  const known = new Map<string, UnitConversion>();
  return (text) => getOrCreate(known, text, () => convertUnit(text));
}

/** Never throws: a unit that is not known stays as it is. */
export function convertUnit(text: string): UnitConversion {
  const slash = text.indexOf("/");
  if (slash < 0) return single(text);
  const above = single(text.slice(0, slash));
  const below = text.slice(slash + 1);
  const time = TIMES[below];
  // Rates are per second; 1e9 ns are one.
  if (time !== undefined) return { unit: `${above.unit}/s`, factor: (above.factor * 1e9) / time };
  const per = single(below);
  return { unit: `${above.unit}/${per.unit}`, factor: above.factor / per.factor };
}

function single(text: string): UnitConversion {
  const time = TIMES[text];
  if (time !== undefined) return { unit: "ns", factor: time };
  // A frequency is cycles per second in the old spelling.
  if (/^hz$/i.test(text)) return { unit: "cycle/s", factor: 1 };
  const [, prefix = "", counted] = COUNTED.exec(text) ?? [];
  if (counted === undefined) return { unit: text === "sectors" ? "sector" : text, factor: 1 };
  const base = single(counted);
  return { unit: base.unit, factor: base.factor * (PREFIXES[prefix] ?? 1) };
}
