import { mkdirSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { colorCode } from "../../../../src/app/job/logging/formatters.ts";
import { createLogging } from "../../../../src/app/job/logging/logging.ts";
import { isConfigError } from "../../../../src/engine/values/errors.ts";

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
  mkdirSync(join(cwd, "sub"));
  const written = { stdout: "", stderr: "" };
  const logging = createLogging({
    now: () => new Date(2026, 0, 2, 3, 4, 5, 6),
    console: {
      ...terminal,
      stdout: (text) => (written.stdout += text),
      stderr: (text) => (written.stderr += text),
    },
  });
  logging.configure(config, verbose, cwd);
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

describe("createLogging", () => {
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

  test.each([
    ["INFO", "20 30 40"],
    [20, "20 30 40"],
    ["WARN", "30 40"],
    ["WARNING", "30 40"],
    [31, "40"],
    ["CRITICAL", ""],
    [50, ""],
    ["NOTSET", "10 20 30 40"],
  ])("the level %j lets through %j", (level, numbers) => {
    const formatters = { simple: { format: "%(levelno)d" } };
    const root = { level, handlers: ["console"] };
    const { stdout } = run(dictConfig({ formatters, root }));
    expect(stdout.trim().replaceAll("\n", " ")).toBe(numbers);
  });

  test("other formats", () => {
    const formatters = { simple: { format: "%(levelname)-8s|%(message)3s|%(levelno)04d|100%%" } };
    const { stdout } = run(dictConfig({ formatters }));
    expect(stdout.split("\n")[0]).toBe("INFO    |  i|0020|100%");
    const dated = { simple: { format: "%(asctime)s %(message)s", datefmt: "%d.%m." } };
    expect(run(dictConfig({ formatters: dated })).stdout.split("\n")[0]).toBe("02.01. i");
  });

  test("no handlers: warnings and errors go to stderr unformatted", () => {
    for (const config of [
      { version: 1, root: { handlers: [] } },
      { version: 1, root: null },
    ])
      expect(run(config)).toMatchObject({ stdout: "", stderr: "w\ne\n" });
  });

  test("the place in the code that logged", () => {
    const format = "%(filename)s %(module)s %(funcName)s %(lineno)d";
    const { stdout } = run(dictConfig({ formatters: { simple: { format } } }));
    expect(stdout).toMatch(/^logging\.test\.ts logging\.test run \d+\n/);
  });

  test("loggers with handlers of their own, with and without propagation", () => {
    const own = { handlers: ["file"], level: "DEBUG" };
    const both = run(
      dictConfig({ root: { level: "INFO", handlers: ["console"] }, loggers: { app: own } }),
    );
    expect(both.file().split("\n")).toHaveLength(5);
    expect(both.stdout.split("\n")).toHaveLength(5);
    const alone = run(dictConfig({ loggers: { app: { ...own, propagate: false } } }));
    expect([alone.stdout, alone.file().split("\n").length]).toEqual(["", 5]);
  });

  test("a config disables the loggers there are, the next one enables them again", () => {
    const written: string[] = [];
    const console = { stdout: (text: string) => written.push(text), stderr: () => {} };
    const logging = createLogging({ console });
    const log = logging.logger("early");
    const show = { console: { class: "logging.StreamHandler", stream: "ext://sys.stdout" } };
    const config = { version: 1, handlers: show, root: { level: "INFO", handlers: ["console"] } };
    const off = { ...config, disable_existing_loggers: true };
    logging.configure(off, false, "/");
    log.info("1");
    logging.logger("late").info("2");
    logging.configure({ ...config, disable_existing_loggers: false }, false, "/");
    log.info("3");
    logging.configure({ root: null }, "early", "/");
    log.debug("4");
    expect(written).toEqual(["2\n", "3\n", "4\n"]);
  });

  test("a config spares the loggers below one that it names, which lose what they had of their own", () => {
    const written: string[] = [];
    const console = { stdout: (text: string) => written.push(text), stderr: () => {} };
    const logging = createLogging({ console });
    const early = ["app", "app.part", "apple"].map((name) => ({ name, log: logging.logger(name) }));
    const show = { console: { class: "logging.StreamHandler", stream: "ext://sys.stdout" } };
    const config = { version: 1, handlers: show, root: { level: "INFO", handlers: ["console"] } };
    logging.configure({ ...config, loggers: { "app.part": { level: "ERROR" } } }, false, "/");
    logging.configure(
      { ...config, loggers: { app: { level: "DEBUG" } }, disable_existing_loggers: true },
      false,
      "/",
    );
    for (const { name, log } of early) log.debug(name);
    expect(written).toEqual(["app\n", "app.part\n"]);
    logging.close();
  });

  test.each(["%(cyan)s %(message)s", "%(message)d"])(
    "a record that does not fit the format %s is told of, and the program goes on",
    (format) => {
      const { stdout, stderr } = run(dictConfig({ formatters: { simple: { format } } }));
      expect(stdout).toBe("");
      expect(stderr).toContain("--- Logging error ---\n");
      expect(stderr).toContain("Message: 'w'\nArguments: ()\n");
    },
  );

  test("an error stands below what is said of it, with its stack; whatever else was thrown, as text", () => {
    const written: string[] = [];
    const console = { stdout: (text: string) => written.push(text), stderr: () => {} };
    const logging = createLogging({ console });
    const handlers = { console: { class: "logging.StreamHandler", stream: "ext://sys.stdout" } };
    logging.configure({ version: 1, handlers, root: { handlers: ["console"] } }, false, "/");
    logging.logger("a").error("failed", new TypeError("boom"));
    logging.logger("a").warning("odd", 7);
    expect(written).toEqual([
      expect.stringMatching(/^failed\nTypeError: boom\n +at .*logging\.test\.ts/),
      "odd\n7\n",
    ]);
  });

  test("root is the name of the root logger", () => {
    expect(run(dictConfig(), "root").stdout).toContain(line("DEBUG", "d"));
    const loggers = { root: { level: "ERROR", handlers: ["console"] } };
    expect(run(dictConfig({ loggers, root: { level: "INFO" } })).stdout).toBe("");
  });

  test.each([null, 1, {}, [1], ["app", null]])("hydra.verbose=%j says nothing", (verbose) => {
    expect(() => run(dictConfig(), verbose)).toThrow("hydra.verbose");
  });

  test("says whether records of a level go anywhere", () => {
    const logging = createLogging({ console: { stdout: () => {}, stderr: () => {} } });
    logging.configure(dictConfig({ handlers: {}, root: { level: "INFO" } }), ["a.b"], "/");
    const isOn = (name: string) => logging.logger(name).isEnabledFor("DEBUG");
    expect(["a", "a.b", "a.b.c"].map(isOn)).toEqual([false, true, true]);
    logging.configure(dictConfig({ handlers: {}, root: { level: "DEBUG" } }), false, "/");
    expect(["a.b", "new"].map(isOn)).toEqual([false, true]);
  });

  test("an error is located by its path, names with dots in one piece; without a locator it has the key in the log config", () => {
    const config = dictConfig({ handlers: {}, loggers: { "a.b": { level: "LOUD" } } });
    const paths: (readonly string[])[] = [];
    const locate = (path: readonly string[]) => {
      paths.push(path);
      return { key: "elsewhere" };
    };
    const logging = createLogging({ console: { stdout: () => {}, stderr: () => {} } });
    expect(() => logging.configure(config, false, "/", locate)).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ key: "elsewhere" }) }),
    );
    expect(paths).toEqual([["loggers", "a.b", "level"]]);
    expect(() => logging.configure(config, false, "/")).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ key: "loggers.a.b.level" }) }),
    );
  });

  test.each([
    [
      dictConfig({ handlers: { console: { class: "logging.handlers.SMTPHandler" } } }),
      "SMTPHandler",
    ],
    [
      dictConfig({ formatters: { simple: { format: "x", style: "?" } } }),
      "Style must be one of: %,{,$",
    ],
    [dictConfig({ root: { level: "LOUD", handlers: [] } }), "LOUD"],
    [dictConfig({ root: { level: "INFO", handlers: ["nope"] } }), "nope"],
    [dictConfig({ formatters: { simple: { format: "plain" } } }), "formatter 'simple'"],
    [dictConfig({ formatters: { simple: { format: "%(message)" } } }), "Invalid format"],
    [dictConfig({ formatters: { simple: { format: 10 } } }), "a format is a string"],
    [dictConfig({ formatters: { simple: { format: "{{x}}", style: "{" } } }), "format: no fields"],
    [dictConfig({ formatters: { simple: { format: "$$x", style: "$" } } }), "format: no fields"],
    [dictConfig({ formatters: {} }), "Unable to set formatter 'simple'"],
    [dictConfig({ version: 2 }), "Unsupported version: 2"],
    [{ root: { level: "INFO" } }, "doesn't specify a version"],
    [{ version: 1 }, "'root'"],
    [dictConfig({ incremental: true }), "incremental"],
    [dictConfig({ handlers: { file: { class: "logging.NullHandler", x: 1 } } }), "handler 'file'"],
    [dictConfig({ handlers: { file: { class: "logging.FileHandler" } } }), "'filename'"],
    [dictConfig({ handlers: { file: {} } }), "Unable to configure handler 'file'"],
    [dictConfig({ formatters: { simple: { "()": "my.Formatter" } } }), "my.Formatter"],
    [colored({ log_colors: { INFO: "mauve" } }), "mauve"],
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
