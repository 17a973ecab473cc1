/** What a benchmark found, a line each, and whether all of it is within its limits. */
export interface Score {
  /** @param detail what the value comes from, e.g. the two times of a ratio */
  atMost(what: string, value: number, limit: number, unit: string, detail?: string): void;
  /** Something that is so or not. */
  holds(what: string, is: boolean, detail: string): void;
  reached(): boolean;
}

export function createScore(print: (line: string) => void): Score {
  let all = true;
  const line = (what: string, value: string, limit: string, ok: boolean, detail: string): void => {
    all &&= ok;
    const row = [
      what.padEnd(52),
      value.padStart(12),
      limit.padStart(18),
      ok ? "  ok      " : "  MISSED  ",
    ];
    print(`${row.join("")}${detail}`.trimEnd());
  };
  return {
    atMost: (what, value, limit, unit, detail = "") =>
      line(what, `${digits(value)} ${unit}`, `at most ${limit} ${unit}`, value <= limit, detail),
    holds: (what, is, detail) => line(what, is ? "yes" : "no", "", is, detail),
    reached: () => all,
  };
}

const digits = (value: number): string => (value >= 100 ? value.toFixed(0) : value.toPrecision(3));

/** For the detail of a ratio. */
export const ms = (time: number): string => `${digits(time)} ms`;
