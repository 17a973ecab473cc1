import { expect, test } from "vitest";
import type { HydraMainOptions } from "../../../src/app/cli/check-main.ts";
import { hydraMain } from "../../../src/app/cli/hydra-main.ts";
import type { Task } from "../../../src/app/job/job.ts";
import type { Invocation } from "../../../src/app/job/process/invocation.ts";
import { capturedConsole } from "../../captured-console.ts";

// As JavaScript may call it.
async function called(options: unknown, task: unknown = () => {}, more: object = {}) {
  const { console, out } = capturedConsole();
  const invocation: Invocation = { argv: [], env: {}, cwd: "/", now: new Date(0), console };
  const exitCode = await hydraMain(options as HydraMainOptions, task as Task, {
    ...invocation,
    ...more,
  });
  return { exitCode, ...out };
}

const flag = { id: "quick", names: ["--quick"], takes: "nothing", help: "quickly" };

test.each<readonly [unknown, string]>([
  [undefined, "the options must be an object, not undefined"],
  [{ configName: 3 }, "configName must be a string, not number 3"],
  [{ configPath: new URL("file:///conf") }, "configPath must be a string, not a URL"],
  [{ schema: 5 }, "schema must be an object, not number 5"],
  [{ check: true }, "check must be a function, not boolean true"],
  [{ targets: { summary: () => 1 } }, "targets must be targets, not an object"],
  [{ versionBase: 1.1 }, "versionBase must be a string, not number 1.1"],
  [{ flags: [{ ...flag, takes: "text" }] }, "flags[0].takes must be"],
  [{ flags: [{ ...flag, hlep: "x" }] }, "there is no option 'flags[0].hlep'"],
  [{ subcommands: [{ name: "x", summary: "y" }] }, "subcommands[0].run must be a function"],
  [{ store: { config: {} } }, "store must be a Map of configs, not an object"],
  [{ whenBare: "print" }, "whenBare must be 'run' or 'show', not the string 'print'"],
  [{ configname: "config" }, "there is no option 'configname'"],
])("hydraMain(%j) says what is wrong", async (options, message) => {
  const { exitCode, stdout, stderr } = await called(options);
  expect([exitCode, stdout]).toEqual([1, ""]);
  expect(stderr).toContain(`hydraMain: ${message}`);
});

test("names the option that was meant, and wants a task", async () => {
  expect((await called({ configname: "config" })).stderr).toContain("Did you mean 'configName'?");
  expect((await called({}, "task")).stderr).toContain(
    "the task must be a function, not the string",
  );
});

test("throws for surroundings in which nothing can be shown", async () => {
  const wrong = expect.objectContaining({ code: "value.wrong_type" });
  await expect(called({}, () => {}, { console: {} })).rejects.toEqual(wrong);
  await expect(called({}, () => {}, { argv: "x=1" })).rejects.toEqual(wrong);
});

test("takes a console and subcommands that have more than what is needed of them", async () => {
  const ran: string[] = [];
  const report = {
    name: "report",
    summary: "tells",
    ran,
    run: () => Promise.resolve(ran.push("report")),
  };
  const console = { stdout: () => {}, stderr: () => {}, lines: [] };
  await called({ subcommands: [report] }, () => {}, { argv: ["report"], console });
  expect(ran).toEqual(["report"]);
});
