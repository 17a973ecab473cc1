import { describe, expect, it } from "vitest";
import { ConfigError, type ErrorDetails } from "../../../src/engine/values/errors.ts";
import { renderError } from "../../../src/engine/values/render-error.ts";

const render = (details: Partial<ErrorDetails>, color = false): string =>
  renderError(new ConfigError({ code: "key.not_found", message: "No such key", ...details }), {
    color,
  });

const file = (text: string, start: number, end: number) =>
  ({ kind: "file", source: { name: "conf/a.yaml", text }, start, end }) as const;

describe("renderError", () => {
  it("begins with the message as it is", () => {
    expect(render({ message: "first\nsecond" })).toBe("first\nsecond");
  });

  it("shows what else is wrong below it, in the same style", () => {
    const one = { message: "one", hint: "mend it" };
    const two = { message: "two", key: "a.b" };
    const others = [new ConfigError({ code: "key.not_found", ...two })];
    for (const color of [false, true])
      expect(render({ ...one, others }, color)).toBe(
        `${render(one, color)}\n${render(two, color)}`,
      );
  });

  it("shows control characters of names as what they are, and no less of other text", () => {
    const shown = render({
      message: "First\x1b[31m\n\t'größe 漢\u202e\r'",
      origin: {
        kind: "file",
        source: { name: "a\x1b]0;x\x07.yaml", text: "a: 1" },
        start: 0,
        end: 1,
      },
      key: "k\x9b1m",
      nearest: "n\x1b",
      available: ["o\x1b", "p"],
      hint: "q\x1b",
    });
    expect(shown.split("\n")).toEqual([
      "First\\u{1b}[31m",
      "\t'größe 漢\\u{202e}\\r'",
      " --> a\\u{1b}]0;x\\u{7}.yaml:1:1",
      "  |",
      "1 | a: 1",
      "  | ^",
      "  key: k\\u{9b}1m",
      "  Did you mean 'n\\u{1b}'?",
      "  Available: o\\u{1b}, p",
      "  Hint: q\\u{1b}",
    ]);
  });

  it("shows the line of the file with carets under the span", () => {
    expect(render({ origin: file("a: 1\nport: xx # c\n", 11, 13) })).toBe(
      ["No such key", " --> conf/a.yaml:2:7", "  |", "2 | port: xx # c", "  |       ^^"].join("\n"),
    );
  });

  it("marks a span over several lines to the end of the first", () => {
    expect(
      render({ origin: file("a:\n  b: 1\n", 0, 9) })
        .split("\n")
        .at(-1),
    ).toBe("  | ^^");
  });

  it("keeps carets under their text behind tabs and wide characters", () => {
    expect(
      render({ origin: file("\t😀 x", 4, 5) })
        .split("\n")
        .at(-1),
    ).toBe("  | \t  ^");
  });

  it("shows a window of a long line", () => {
    const lines = render({ origin: file(`${"x".repeat(500)}Y${"z".repeat(500)}`, 500, 501) });
    const [, , , line = "", carets = ""] = lines.split("\n");
    expect(line.length).toBeLessThan(120);
    expect(line[carets.indexOf("^")]).toBe("Y");
  });

  it("replaces control characters of a broken file", () => {
    expect(render({ origin: file("a: \x1b[31m", 3, 4) })).not.toContain("\x1b");
  });

  it("points into an override", () => {
    const origin = { kind: "override", text: "a=[1", index: 2, start: 4, end: 4 } as const;
    expect(render({ origin }).split("\n")).toEqual([
      "No such key",
      " --> override 'a=[1'",
      "  |",
      "  | a=[1",
      "  |     ^",
    ]);
  });

  it("names the place alone where there is no text to show", () => {
    expect(render({ origin: { kind: "code", by: "hydra.job" } })).toBe(
      "No such key\n  --> hydra.job",
    );
  });

  it("adds key, nearest name, what is available and the hint, each on its line", () => {
    const available = ["mysql", "postgresql"];
    expect(render({ key: "db", nearest: "mysql", available, hint: "try db=mysql" })).toBe(
      [
        "No such key",
        "  key: db",
        "  Did you mean 'mysql'?",
        "  Available: mysql, postgresql",
        "  Hint: try db=mysql",
      ].join("\n"),
    );
  });

  it("says nothing twice that the message says", () => {
    const message = "Could not find 'db/x'\n\nAvailable options in 'db':\n\tmysql";
    expect(render({ message, key: "db", available: ["mysql"] })).toBe(message);
  });

  it.each([
    ["no mapping is needed", "a", false],
    ["the value of mapping is wrong", "map", false],
    ["no such key in model.lr", "lr", false],
    ["lr.warmup is missing", "lr", false],
    ["lr_min is missing", "lr", false],
    ["x is missing: lr.", "lr", true],
    ["mapped by map", "map", true],
    ["'lr' is missing", "lr", true],
    ["Error merging override lr=2", "lr", true],
    ["größe fehlt", "größ", false],
  ])("'%s' names the key '%s': %s", (message, key, named) => {
    const shown = render({ message, key });
    expect(shown).toBe(named ? message : `${message}\n  key: ${key}`);
  });

  it("cuts a long list of names", () => {
    const names = Array.from({ length: 50 }, (_, n) => `n${n}`);
    expect(render({ available: names })).toMatch(/n19 and 30 more$/);
  });

  it("colours only when asked", () => {
    const details = { origin: file("a: 1", 3, 4), nearest: "b", hint: "c" };
    expect(render(details)).not.toContain("\x1b");
    expect(render(details, true)).toContain("\x1b[31m");
  });
});
