import { expect, test } from "vitest";
import { parseSweepLine } from "../../../src/app/cli/sweep-line.ts";
import { isConfigError } from "../../../src/engine/values/errors.ts";

test.each([
  [["status", "s", "--json"], { action: "status", directory: "s", json: true }],
  [["--json", "status", "s"], { action: "status", directory: "s", json: true }],
  [["wait", "--timeout", "1.5", "s"], { action: "wait", timeout: 1500, json: false }],
  [["wait", "s"], { action: "wait", timeout: undefined }],
  [["status", "s", "--only", "failed, timed_out"], { only: ["failed", "timed_out"], all: false }],
  [
    ["best", "s", "--objective", "loss, acc", "--direction=minimize,maximize"],
    { objective: ["loss", "acc"], directions: ["minimize", "maximize"], averageOver: [] },
  ],
  [["status", "s", "--all"], { only: undefined, all: true }],
])("%j is understood", (args, request) => {
  expect(parseSweepLine(args)).toMatchObject({ help: null, ...request });
});

test.each([
  [["--help"], "Usage: hydraconf sweep [options] ACTION DIR"],
  [["wait", "--timeout", "-h"], "Usage: hydraconf sweep wait [options] DIR"],
  [["--help", "cancel"], "Usage: hydraconf sweep cancel [options] DIR"],
  [["nothing", "--help"], "Usage: hydraconf sweep [options] ACTION DIR"],
])("%j is answered with a help", (args, begin) => {
  expect(parseSweepLine(args).help?.slice(0, begin.length)).toBe(begin);
});

test("the help for all actions names what each option is of: errors refer to it", () => {
  expect(parseSweepLine(["--help"]).help).toMatch(/--timeout SECONDS +of wait: /);
});

test.each([
  [[], "expected an action and the directory of a sweep"],
  [["statu", "s"], "expected an action, not 'statu' | status"],
  [["my sweep", "status"], "the action status must come before the directory"],
  [["status"], "expected the directory of one sweep"],
  [["status", "a", "b"], "expected the directory of one sweep; unexpected: 'b'"],
  [["status", ""], "an argument is empty"],
  [["status", "--josn", "s"], "unknown option --josn | --json"],
  [["--josn"], "unknown option --josn | --json"],
  [
    ["cancel", "--json", "s"],
    "--json is an option of status, wait, best and compare, not of cancel",
  ],
  [["status", "s", "--only=faild"], "--only: 'faild' is no status of a job | failed"],
  [["best", "s", "--direction", "minimise"], "--direction: 'minimise' is no direction | minimize"],
  [["wait", "s", "--all"], "--all is an option of status, not of wait"],
  [["wait", "s", "--timeout"], "--timeout needs a value: SECONDS"],
  [["wait", "s", "--timeout", "--json"], "--timeout needs a value: SECONDS"],
  [["wait", "s", "--timeout", "-1"], "--timeout: '-1' is not a number of seconds"],
  [["wait", "--timeout", "s"], "--timeout: 's' is not a number of seconds"],
  [["wait", "s", "--timeout", "1h"], "--timeout: '1h' is not a number of seconds"],
])("%j is refused", (args, message) => {
  try {
    parseSweepLine(args);
    expect.unreachable();
  } catch (error) {
    if (!isConfigError(error)) throw error;
    expect(error.code).toBe("app.usage");
    expect([error.message, error.details.nearest].filter(Boolean).join(" | ")).toBe(message);
  }
});
