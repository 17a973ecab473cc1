import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { colorCode } from "../../../src/app/logging/color-codes.ts";
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

function run(config: unknown, verbose: unknown = false, terminal = {}) {
  const cwd = mkdtempSync(join(tmpdir(), "hydraconf-log-"));
  const written = { stdout: "", stderr: "" };
  const logging = openLogging({
    config,
    verbose,
    cwd,
    now: () => new Date(2026, 0, 2, 3, 4, 5, 6),
    console: {
      ...terminal,
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
    [dictConfig({ formatters: { simple: { format: "%(cyan)s" } } }), "cyan"],
    [dictConfig({ formatters: { simple: { "()": "my.Formatter" } } }), "my.Formatter"],
    [colored({ log_colors: { INFO: "mauve" } }), "mauve"],
    [colored({ format: "%(mauve)s" }), "mauve"],
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

/** A config whose lines go through colorlog on both ways. */
function colored(settings: Record<string, unknown>) {
  return dictConfig({ formatters: { simple: { "()": "colorlog.ColoredFormatter", ...settings } } });
}

describe("colorlog.ColoredFormatter", () => {
  const FORMAT = "[%(cyan)s%(name)s%(reset)s][%(log_color)s%(levelname)s%(reset)s] %(message)s";
  const log_colors = { INFO: "green", WARNING: "bold_yellow,bg_black" };
  const onTerminal = { stdoutColor: true };

  test("colours on a terminal, each line ended by a reset", () => {
    const { stdout } = run(colored({ format: FORMAT, log_colors }), false, onTerminal);
    expect(stdout.split("\n")).toEqual([
      "[\u001b[36mapp.part\u001b[0m][\u001b[32mINFO\u001b[0m] i\u001b[0m",
      "[\u001b[36mapp.part\u001b[0m][\u001b[1;33m\u001b[40mWARNING\u001b[0m] w\u001b[0m",
      "[\u001b[36mapp.part\u001b[0m][ERROR\u001b[0m] e\u001b[0m",
      "",
    ]);
  });

  test("plain text in files, in pipes, and on a stream that is no terminal", () => {
    const plain = "[app.part][INFO] i\n[app.part][WARNING] w\n[app.part][ERROR] e\n";
    const config = colored({ format: FORMAT, log_colors });
    expect(run(config, false, onTerminal).file()).toBe(plain);
    expect(run(config).stdout).toBe(plain);
    expect(run(config, false, { color: true }).stdout).toBe(plain);
  });

  test("settings: format's old name, no reset, forced and forbidden colours", () => {
    const first = (settings: object, terminal: object) =>
      run(colored({ fmt: "%(log_color)s%(message)s", ...settings }), false, terminal).stdout.split(
        "\n",
      )[0];
    expect(first({ reset: false }, onTerminal)).toBe("\u001b[32mi");
    expect(first({ no_color: true }, onTerminal)).toBe("i");
    expect(first({ force_color: true }, {})).toBe("\u001b[32mi\u001b[0m");
    const secondary_log_colors = { message: { INFO: "thin_light_blue" } };
    expect(
      first({ fmt: "%(message_log_color)s%(message)s", secondary_log_colors }, onTerminal),
    ).toBe("\u001b[2;94mi\u001b[0m");
    expect(run(colored({}), false, onTerminal).stdout.split("\n")[0]).toBe(
      "\u001b[32mINFO:app.part:i\u001b[0m",
    );
  });

  test.each([
    ["reset", "0"],
    ["bold", "1"],
    ["fg_bold_red", "1;31"],
    ["bold_light_white", "1;97"],
    ["bg_light_black", "100"],
    ["bg_bold_red", "101"],
    ["fg_208", "38;5;208"],
    ["bg_0", "48;5;0"],
    ["fg_256", undefined],
    ["bg_thin_red", undefined],
    ["toString", undefined],
  ])("the code of %s", (name, code) => {
    expect(colorCode(name)).toBe(code === undefined ? undefined : `\u001b[${code}m`);
  });
});
