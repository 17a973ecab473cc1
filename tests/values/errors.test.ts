import { inspect } from "node:util";
import { expect, test } from "vitest";
import { ConfigError } from "../../src/values/errors.ts";
import { readYaml } from "../../src/values/reader.ts";

const source = "password: hunter2\nport: 1\n";
const port = readYaml(source, { name: "conf/db.yaml" });
const origin = port.kind === "map" ? [...port.entries.values()][1]?.value.origin : undefined;

const error = new ConfigError({
  code: "value.wrong_type",
  message: "port must be a text",
  key: "db.port",
  nearest: "ports",
  hint: "write '1'",
  ...(origin !== undefined && { origin }),
});

test("an error that nobody catches is shown as the commands show it, with its stack", () => {
  const lines = inspect(error).split("\n");
  expect(lines.slice(0, 8)).toEqual([
    "ConfigError: port must be a text",
    " --> conf/db.yaml:2:7",
    "  |",
    "2 | port: 1",
    "  |       ^",
    "  key: db.port",
    "  Did you mean 'ports'?",
    "  Hint: write '1'",
  ]);
  expect(lines[8]).toMatch(/^ {4}at .*errors\.test\.ts:\d+/);
});

test("neither that nor JSON holds the rest of the file that it is about", () => {
  expect(inspect({ error }, { depth: 9 }) + JSON.stringify(error)).not.toContain("hunter2");
  expect(error.details.origin).toBe(origin);
});

test("what caused it is shown below", () => {
  const failed = new ConfigError({
    code: "instantiate.failed",
    message: "failed",
    cause: new Error("of the user"),
  });
  expect(inspect(failed)).toContain("[cause]: Error: of the user");
});

test("its stack can be written anew, as loggers and test runners do", () => {
  const told = new ConfigError({ code: "app.job", message: "told" });
  told.stack = `here: ${told.stack}`;
  told.stack += " again";
  expect(told.stack).toMatch(/^here: ConfigError: told\n[\s\S]* again$/);
  expect(Object.keys(told)).not.toContain("stack");
});
