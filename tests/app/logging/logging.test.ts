import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openLogging } from "../../../src/app/logging/logging.ts";
import { isConfigError } from "../../../src/values/errors.ts";

const SIMPLE = "[%(asctime)s][%(name)s][%(levelname)s] - %(message)s";

function dictConfig(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    version: 1,
    formatters: { simple: { format: SIMPLE } },
    handlers: {
      console: { class: "logging.StreamHandler", formatter: "simple", stream: "ext://sys.stdout" },
      file: { class: "logging.FileHandler", formatter: "simple", filename: "sub/run.log" },
    },
    root: { level: "INFO", handlers: ["console", "file"] },
    ...changes,
  };
}

function run(config: unknown, verbose: unknown = false) {
  const cwd = mkdtempSync(join(tmpdir(), "hydraconf-log-"));
  const written = { stdout: "", stderr: "" };
  const logging = openLogging({
    config,
    verbose,
    cwd,
    now: () => new Date(2026, 0, 2, 3, 4, 5, 6),
    console: {
      stdout: (text) => (written.stdout += text),
      stderr: (text) => (written.stderr += text),
    },
  });
  const log = logging.logger("app.part");
  log.debug("d");
  log.info("i");
  log.warning("w");
  log.error("e");
  logging.close();
  return { ...written, file: () => readFileSync(join(cwd, "sub/run.log"), "utf8") };
}

const line = (level: string, message: string) =>
  `[2026-01-02 03:04:05,006][app.part][${level}] - ${message}\n`;

describe("openLogging", () => {
  test("writes the same lines to the console and to the job's log file", () => {
    const expected = line("INFO", "i") + line("WARNING", "w") + line("ERROR", "e");
    const { stdout, stderr, file } = run(dictConfig());
    expect(stdout).toBe(expected);
    expect(file()).toBe(expected);
    expect(stderr).toBe("");
  });

  test.each([
    ["the logger itself", "app.part"],
    ["a logger above it", ["other", "app"]],
    ["everything", true],
  ])("hydra.verbose shows debug records of %s", (_what, verbose) => {
    expect(run(dictConfig(), verbose).stdout).toContain(line("DEBUG", "d"));
  });

  test("another logger's verbosity changes nothing", () => {
    expect(run(dictConfig(), ["app.parts", "part"]).stdout).not.toContain("[DEBUG]");
  });

  test("levels: of the root, of a named logger, of a handler", () => {
    const root = { level: "ERROR", handlers: ["console"] };
    expect(run(dictConfig({ root })).stdout).toBe(line("ERROR", "e"));
    const loggers = { app: { level: "DEBUG" } };
    expect(run(dictConfig({ root, loggers })).stdout).toContain(line("DEBUG", "d"));
    const handlers = {
      console: { class: "logging.StreamHandler", formatter: "simple", level: "WARNING" },
    };
    const { stdout, stderr } = run(
      dictConfig({ handlers, root: { level: "INFO", handlers: ["console"] } }),
    );
    expect({ stdout, stderr }).toEqual({
      stdout: "",
      stderr: line("WARNING", "w") + line("ERROR", "e"),
    });
  });

  test("other formats", () => {
    const formatters = { simple: { format: "%(levelname)-8s|%(message)3s|%(levelno)04d|100%%" } };
    const { stdout } = run(dictConfig({ formatters }));
    expect(stdout.split("\n")[0]).toBe("INFO    |  i|0020|100%");
    const dated = { simple: { format: "%(asctime)s %(message)s", datefmt: "%d.%m." } };
    expect(run(dictConfig({ formatters: dated })).stdout.split("\n")[0]).toBe("02.01. i");
  });

  test("no handlers: silence; no root: Hydra's own logging", () => {
    expect(run({ version: 1, root: { handlers: [] } }).stdout).toBe("");
    expect(run({ version: 1, root: null }).stdout.split("\n")[0]).toBe(
      "[2026-01-02 03:04:05,006][HYDRA] i",
    );
  });

  test.each([
    [
      dictConfig({ handlers: { console: { class: "logging.handlers.SMTPHandler" } } }),
      "SMTPHandler",
    ],
    [dictConfig({ formatters: { simple: { format: "%(lineno)d" } } }), "lineno"],
  ])("refuses what only Python has", (config, named) => {
    try {
      run(config);
      expect.unreachable();
    } catch (error) {
      expect(isConfigError(error) && error.code).toBe("app.unsupported");
      expect(isConfigError(error) && error.message).toContain(named);
    }
  });
});
