/** What a benchmark found, a line each, and whether all of it is within its limits. */
export interface Score {
  /** @param detail what the value comes from, e.g. the two times of a ratio */
  atMost(what: string, value: number, limit: number, unit: string, detail?: string): void;
  /** What has no limit here. @param why it has none, and what the value comes from */
  unjudged(what: string, value: number, unit: string, why: string): void;
  /** Something that is so or not. */
  holds(what: string, is: boolean, detail: string): void;
  reached(): boolean;
}

export function createScore(print: (line: string) => void): Score {
  let all = true;
  const row = (what: string, value: string, limit: string, word: string, detail: string): void => {
    const cells = [what.padEnd(52), value.padStart(12), limit.padStart(18), `  ${word.padEnd(8)}`];
    print(`${cells.join("")}${detail}`.trimEnd());
  };
  const line = (what: string, value: string, limit: string, ok: boolean, detail: string): void => {
    all &&= ok;
    row(what, value, limit, ok ? "ok" : "MISSED", detail);
  };
  return {
    atMost: (what, value, limit, unit, detail = "") =>
      line(what, `${digits(value)} ${unit}`, `at most ${limit} ${unit}`, value <= limit, detail),
    unjudged: (what, value, unit, why) => row(what, `${digits(value)} ${unit}`, "", "-", why),
    holds: (what, is, detail) => line(what, is ? "yes" : "no", "", is, detail),
    reached: () => all,
  };
}

const digits = (value: number): string => (value >= 100 ? value.toFixed(0) : value.toPrecision(3));

/** For the detail of a ratio. */
export const ms = (time: number): string => `${digits(time)} ms`;
