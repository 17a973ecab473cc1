import { expect, test } from "vitest";
import { type ComposeOptions, compose, createEngine } from "../src/index.ts";
import { refusal } from "./compose/in-memory.ts";

// As JavaScript may call it.
const given = (options: unknown) => options as ComposeOptions;

test.each([
  [undefined, "the options must be an object, not undefined"],
  ["conf", "the options must be an object, not the text 'conf'"],
  [{ configDir: new URL("file:///conf") }, "configDir must be a text, not a URL"],
  [{ configDir: "conf", configName: 3 }, "configName must be a text, not number 3"],
  [{ overrides: "db=mysql" }, "overrides must be a list of texts, not the text 'db=mysql'"],
  [{ overrides: ["a=1", 2] }, "overrides[1] must be a text, not number 2"],
  [{ overrides: { db: "mysql" } }, "overrides must be a list of texts, not an object"],
  [{ configDirs: "more" }, "configDirs must be a list of texts, not the text 'more'"],
])("compose(%j) says what is wrong", (options, message) => {
  for (const call of [compose, createEngine().compose, createEngine().composition]) {
    const error = refusal(() => call(given(options)));
    expect([error.code, error.message]).toEqual(["value.wrong_type", `compose: ${message}`]);
  }
});

test("names what to write instead", () => {
  expect(refusal(() => compose(given({ overrides: "a=1" }))).details.hint).toBe(
    'overrides: ["db=mysql", "+lr=0.1"]',
  );
  expect(refusal(() => compose(given({ configDir: new URL("file:///c") }))).details.hint).toContain(
    "fileURLToPath",
  );
});
