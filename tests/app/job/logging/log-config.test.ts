import { mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createLogging } from "../../../../src/app/job/logging/logging.ts";
import { isConfigError } from "../../../../src/engine/values/errors.ts";
import {
  all,
  config,
  handler,
  hello,
  lines,
  REFUSED,
  run,
  type Step,
  toStderr,
  toStdout,
} from "./dict-config.ts";

/*
 * What Python 3.11 did with the same configs and the same calls: `logging.config.dictConfig` and its handlers. Of errors only their being errors is the same.
 */

interface Outcome {
  readonly stdout?: string;
  readonly stderr?: string;
}

/** The error of a config, and the files that there are then. */
function refusal(changes: object) {
  const cwd = mkdtempSync(join(tmpdir(), "hydraconf-refused-"));
  const logging = createLogging({ console: { stdout: () => {}, stderr: () => {} } });
  try {
    logging.configure(config(changes), false, cwd);
  } catch (error) {
    if (!isConfigError(error)) throw error;
    return { ...error.details, message: error.message, files: readdirSync(cwd) };
  } finally {
    logging.close();
  }
  return expect.unreachable();
}

describe("handlers", () => {
  test.each<[string, object, Outcome | typeof REFUSED]>([
    ["to stderr, by its name", { ...toStdout, stream: "ext://sys.stderr" }, { stderr: "iwec" }],
    ["to stderr, by default", toStderr, { stderr: "iwec" }],
    ["that is null", { class: "logging.NullHandler" }, {}],
    ["that is null and takes nothing", { class: "logging.NullHandler", x: 1 }, REFUSED],
    ["without a class", {}, REFUSED],
    ["of no level", { ...toStdout, level: null }, { stdout: "iwec" }],
    ["of a level", { ...toStdout, level: "WARNING" }, { stdout: "wec" }],
    ["of a level as a number", { ...toStdout, level: 35 }, { stdout: "ec" }],
    ["of an unknown level", { ...toStdout, level: "LOUD" }, REFUSED],
    ["of a level in small letters", { ...toStdout, level: "info" }, REFUSED],
    ["of a list of levels", { ...toStdout, level: ["INFO"] }, REFUSED],
    ["of a formatter without a name", { ...toStdout, formatter: "" }, { stdout: "iwec" }],
    ["of no formatter", { ...toStdout, formatter: null }, { stdout: "iwec" }],
    ["of an unknown formatter", { ...toStdout, formatter: "g" }, REFUSED],
    ["of a formatter that counts as none", { ...toStdout, formatter: false }, { stdout: "iwec" }],
    ["of an unknown filter", { ...toStdout, filters: ["g"] }, REFUSED],
    ["of filters that are no names", { ...toStdout, filters: 3 }, REFUSED],
    ["of filters that count as none", { ...toStdout, filters: 0 }, { stdout: "iwec" }],
    ["of a broken level", { ...toStdout, level: 10.5 }, REFUSED],
    ["to a stream that Python lacks", { ...toStdout, stream: "ext://sys.nope" }, REFUSED],
  ])("%s", (_what, settings, expected) => {
    const outcome = run([handler(settings), ...all]);
    if (expected === REFUSED || outcome === REFUSED) expect(outcome).toBe(expected);
    else {
      const { stdout = "", stderr = "" } = expected;
      expect(outcome).toEqual({ stdout: lines(stdout), stderr: lines(stderr), files: {} });
    }
  });

  const file = { class: "logging.FileHandler", filename: "r.log" };
  test.each([
    [{}, "before\n", "before\nnew\n", "before\n", ""],
    [{ mode: "a" }, "before\n", "before\nnew\n", "before\n", ""],
    [{ mode: "w" }, "before\n", "new\n", "", ""],
    [{ delay: true }, "before\n", "before\nnew\n", "before\n", undefined],
    [{ delay: true, mode: "w" }, "before\n", "new\n", "before\n", undefined],
    [{ delay: false, encoding: "utf-8" }, "before\n", "before\nnew\n", "before\n", ""],
  ])("files: %j", (settings, before, written, silent, ofNothing) => {
    const [there, shown] = [{ "r.log": before }, handler({ ...file, ...settings })];
    const [loud, quiet] = [["a", "info", "new"] as const, ["a", "debug", "new"] as const];
    expect(run([shown, loud], there)).toMatchObject({ files: { "r.log": written } });
    expect(run([shown, quiet], there)).toMatchObject({ files: { "r.log": silent } });
    expect(run([shown, quiet])).toMatchObject({
      files: ofNothing === undefined ? {} : { "r.log": ofNothing },
    });
  });

  test.each([
    ["w+", "new\n"],
    ["wt", "new\n"],
    ["at", "before\nnew\n"],
    ["a+", "before\nnew\n"],
    ["x", REFUSED],
    ["r", REFUSED],
    ["zz", REFUSED],
    ["wa", REFUSED],
    ["ww", REFUSED],
    ["", REFUSED],
  ])("a file that is opened in the mode %j", (mode, written) => {
    const steps = [handler({ ...file, mode }), ["a", "info", "new"]] as const;
    const outcome = run(steps, { "r.log": "before\n" });
    expect(outcome === REFUSED ? REFUSED : outcome.files["r.log"]).toBe(written);
    expect(run(steps)).toEqual(
      written === REFUSED && mode !== "x"
        ? REFUSED
        : expect.objectContaining({ files: { "r.log": "new\n" } }),
    );
  });

  test.each(["zz", "valueOf"])(
    "the mode %s opens no log, and is refused before a file is made",
    (mode) => {
      expect(refusal({ handlers: { out: { ...file, mode } } })).toMatchObject({
        message: `Unable to configure handler 'out': 'mode' must be "a", "w" or "x", not "${mode}"`,
        key: "handlers.out.mode",
        hint: "write a to append, or w to begin anew",
        files: [],
      });
    },
  );

  test("a file must have a name, a directory when it is opened, and no parameter of another handler", () => {
    const lost = { ...file, filename: "no/r.log" };
    for (const settings of [{ class: file.class }, lost, { ...file, maxBytes: 3 }])
      expect(run([handler(settings)])).toBe(REFUSED);
    expect(run([handler({ ...lost, delay: true })])).toMatchObject({ files: {} });
  });

  const sixLines = ["one", "two", "a line that is long", "three", "four", "ü"].map(
    (text) => ["a", "info", text] as const,
  );
  const OLD = { "": "before", ".1": "older", ".2": "oldest" };
  test.each<[object, Record<string, string>, Record<string, string>]>([
    [{ maxBytes: 6, backupCount: 2 }, {}, { "": "ü", ".1": "four", ".2": "three" }],
    [{ maxBytes: 6, backupCount: 2 }, OLD, { "": "ü", ".1": "four", ".2": "three" }],
    [{ maxBytes: 8, backupCount: 1 }, OLD, { "": "four ü", ".1": "three", ".2": "oldest" }],
    [
      { maxBytes: 1, backupCount: 3, mode: "w" },
      {},
      { "": "ü", ".1": "four", ".2": "three", ".3": "a line that is long" },
    ],
    [
      { maxBytes: 22, backupCount: 2 },
      { "": "before" },
      { "": "three four ü", ".1": "a line that is long", ".2": "before one two" },
    ],
    [
      { maxBytes: 12, backupCount: 0 },
      OLD,
      { ...OLD, "": "before one two a line that is long three four ü" },
    ],
    [
      { maxBytes: 10, backupCount: 9 },
      OLD,
      {
        "": "four ü",
        ".1": "three",
        ".2": "a line that is long",
        ".3": "one two",
        ".4": "before",
        ".5": "older",
        ".6": "oldest",
      },
    ],
    [
      { backupCount: 2, mode: "w" },
      { "": "before" },
      { "": "one two a line that is long three four ü" },
    ],
  ])("files that rotate: %j", (limits, before, after) => {
    const named = (files: Record<string, string>) =>
      Object.entries(files).map(([end, text]) => [
        `r.log${end}`,
        `${text.split(" ").join("\n")}\n`,
      ]);
    const settings = {
      class: "logging.handlers.RotatingFileHandler",
      filename: "r.log",
      ...limits,
    };
    // Blanks stand for the ends of lines, but for those of the long one.
    const long = (text: string) => text.replace("a\nline\nthat\nis\nlong", "a line that is long");
    expect(run([handler(settings), ...sixLines], Object.fromEntries(named(before)))).toMatchObject({
      files: Object.fromEntries(named(after).map(([name = "", text = ""]) => [name, long(text)])),
    });
  });

  test("a rotating file is never truncated, whatever its mode", () => {
    const settings = {
      class: "logging.handlers.RotatingFileHandler",
      filename: "r.log",
      mode: "w",
      maxBytes: 1000,
    };
    expect(run([handler(settings), hello], { "r.log": "before\n" })).toMatchObject({
      files: { "r.log": expect.stringMatching(/^before\n.*hello\n$/s) },
    });
  });

  test("a line longer than the limit is no reason to put an empty file away", () => {
    const settings = {
      class: "logging.handlers.RotatingFileHandler",
      filename: "r.log",
      maxBytes: 2,
      backupCount: 1,
    };
    const { files } = run([handler(settings), hello]) as { files: Record<string, string> };
    expect(Object.keys(files)).toEqual(["r.log"]);
  });

  test.each<[string | undefined, string]>([
    ["app", "hello\n"],
    ["app.part", "hello\n"],
    ["ap", ""],
    ["app.part.x", ""],
    ["", "hello\n"],
    [undefined, "hello\n"],
  ])("a filter of %j", (name, stdout) => {
    const filtered = { ...toStdout, filters: ["f", "all"] };
    expect(run([{ ...handler(filtered), filters: { f: { name }, all: {} } }, hello])).toMatchObject(
      { stdout },
    );
  });
});

describe("loggers", () => {
  const both = { out: toStdout, err: toStderr };
  const off = (changes: object = {}) => config({ disable_existing_loggers: true, ...changes });
  const early = (name: string, message: string) => [name, "warning", message] as const;

  test.each<[string, readonly Step[], Outcome]>([
    [
      "propagate",
      [config({ handlers: both, loggers: { app: { handlers: ["err"], level: "DEBUG" } } }), ...all],
      { stdout: "diwec", stderr: "diwec" },
    ],
    [
      "do not propagate",
      [
        config({ handlers: both, loggers: { app: { handlers: ["err"], propagate: false } } }),
        ...all,
      ],
      { stderr: "iwec" },
    ],
    [
      "that nobody hears",
      [config({ loggers: { app: { propagate: false } } }), ...all],
      { stderr: "wec" },
    ],
    ["without any handler", [config({ root: { level: "DEBUG" } }), ...all], { stderr: "wec" }],
    [
      "whose handler wants more",
      [handler({ ...toStdout, level: "CRITICAL" }), ["a", "error", "e"]],
      {},
    ],
    [
      "take the level of the one above that has one",
      [config({ loggers: { app: { level: "ERROR" }, "app.part": { level: "NOTSET" } } }), ...all],
      { stdout: "ec" },
    ],
    ["of no level", [config({ loggers: { app: { level: null } } }), ...all], { stdout: "iwec" }],
    [
      "write to one handler at each of them that names it, once",
      [config({ loggers: { app: { handlers: ["out", "out"] } } }), ["app", "info", "x"]],
      { stdout: "xx" },
    ],
    ["that exist are disabled", [early("e", "0"), off(), early("e", "1")], { stderr: "0" }],
    ["are kept", [early("e", "0"), config(), early("e", "1")], { stdout: "1", stderr: "0" }],
    [
      "that are named are kept",
      [early("e", "0"), off({ loggers: { e: {} } }), early("e", "1")],
      { stdout: "1", stderr: "0" },
    ],
    [
      "below one that is named are kept",
      [early("e.x", "0"), off({ loggers: { e: {} } }), early("e.x", "1")],
      { stdout: "1", stderr: "0" },
    ],
    [
      "beside one that is named are not",
      [early("ex", "0"), off({ loggers: { e: {} } }), early("ex", "1")],
      { stderr: "0" },
    ],
    [
      "are enabled by being named, or being spared",
      [
        early("e", "0"),
        off(),
        config({ loggers: { e: {} } }),
        early("e", "1"),
        off(),
        config(),
        early("e", "2"),
      ],
      { stdout: "12", stderr: "0" },
    ],
    [
      "stay disabled below one that is named",
      [early("e.x", "0"), off(), config({ loggers: { e: {} } }), early("e.x", "1")],
      { stderr: "0" },
    ],
    [
      "keep their levels, the root and others",
      [
        config({ root: { level: "ERROR", handlers: ["out"] }, loggers: { b: { level: "DEBUG" } } }),
        config({ root: { handlers: ["out"] } }),
        ...all,
        ["b", "debug", "x"],
      ],
      { stdout: "ecx" },
    ],
    [
      "keep their handlers unless they are named again",
      [
        config({ handlers: both, loggers: { app: { handlers: ["err"], propagate: false } } }),
        config(),
        ...all,
      ],
      { stderr: "iwec" },
    ],
    [
      "named again have no handlers, and propagate as before",
      [
        config({
          handlers: both,
          loggers: { app: { handlers: ["err"], propagate: false }, b: { handlers: ["err"] } },
        }),
        config({ loggers: { app: {}, b: {} } }),
        ...all,
        ["b", "info", "x"],
      ],
      { stdout: "x", stderr: "wec" },
    ],
  ])("%s", (_what, steps, { stdout = "", stderr = "" }) => {
    expect(run(steps)).toEqual({ stdout: lines(stdout), stderr: lines(stderr), files: {} });
  });

  test.each<[unknown, string | typeof REFUSED]>([
    ["FATAL", "c"],
    ["WARN", "wec"],
    ["NOTSET", "diwec"],
    [0, "diwec"],
    [null, "wec"],
    ["10", REFUSED],
  ])("the level %j", (level, shown) => {
    const outcome = run([config({ root: { level, handlers: ["out"] } }), ...all]);
    expect(outcome === REFUSED ? REFUSED : outcome.stdout).toBe(
      shown === REFUSED ? REFUSED : lines(shown),
    );
  });

  test.each([{ version: 2 }, { version: null }, { version: "1" }, { version: undefined }])(
    "the config's version: %j",
    (version) => {
      expect(run([config(version)])).toBe(REFUSED);
    },
  );

  test.each<[object]>([
    [{ loggers: { app: "DEBUG" } }],
    [{ loggers: { app: null } }],
    [{ loggers: { app: { handlers: 3 } } }],
    [{ loggers: { app: { filters: ["g"] } } }],
    [{ loggers: null }],
    [{ loggers: "app" }],
    [{ formatters: { g: "%(message)s" } }],
    [{ formatters: null }],
    [{ formatters: { g: { format: [1] } } }],
    [{ filters: { g: null } }],
    [{ filters: { g: { name: null } } }],
    [{ filters: 1 }],
    [{ handlers: { out: "stdout" } }],
    [{ handlers: null }],
    [{ root: "DEBUG" }],
    [{ root: ["out"] }],
    [{ handlers: { out: { class: "logging.FileHandler", filename: "x", mode: 1 } } }],
    [
      {
        handlers: {
          out: { class: "logging.handlers.RotatingFileHandler", filename: "x", maxBytes: "9" },
        },
      },
    ],
  ])("what has the wrong form is refused: %j", (changes) => {
    expect(run([config(changes)])).toBe(REFUSED);
  });

  test("a handler that is refused keeps those after it, by name, from making their files", () => {
    const file = { class: "logging.FileHandler", filename: "r.log" };
    expect(refusal({ handlers: { z: file, b: {} } })).toMatchObject({
      message: "Unable to configure handler 'b': it has no class",
      files: [],
    });
  });

  test("a level in place of a logger's settings says how to write it, and that is right", () => {
    expect(refusal({ loggers: { app: "DEBUG" } })).toMatchObject({
      message: `Unable to configure logger 'app': it must be a mapping, not "DEBUG"`,
      key: "loggers.app",
      hint: "write {level: DEBUG}",
    });
    const given = config({ loggers: { app: { level: "DEBUG" } } });
    expect(run([given, ["app", "debug", "x"]])).toMatchObject({ stdout: "x\n" });
  });

  test.each<[object, Partial<Record<"stdout", string>>]>([
    [{ loggers: { app: { filters: ["deep"] } } }, { stdout: "below\nother\n" }],
    [
      { root: { level: "INFO", handlers: ["out"], filters: ["deep"] } },
      { stdout: "app\nbelow\nother\n" },
    ],
    [{ loggers: [], root: {} }, { stdout: "" }],
    [{ loggers: { app: { propagate: 0 } } }, { stdout: "other\n" }],
  ])("a logger's own filters, and what counts as nothing: %j", (changes, expected) => {
    const steps: Step[] = [
      config({ filters: { deep: { name: "app.deep" } }, ...changes }),
      ["app", "info", "app"],
      ["app.deep", "info", "below"],
      ["other", "info", "other"],
    ];
    expect(run(steps)).toMatchObject(expected);
  });

  // Ours (docs/compatibility.md): Python takes `true` for 1, `false` for 0, and a text for the list of its letters.
  test.each([
    config({ version: true }),
    config({ root: { level: true, handlers: ["out"] } }),
    config({ root: { level: false, handlers: ["out"] } }),
  ])("no number is meant by true and false: %j", (given) => {
    expect(run([given])).toBe(REFUSED);
  });

  test("what is no text is shown as it is written", () => {
    const format = { formatters: { f: { format: [1] } } };
    expect(refusal(format).message).toBe(
      "Unable to configure formatter 'f': a format is a string, not [1]",
    );
    const unknown = { handlers: { out: { ...toStdout, formatter: 1 } } };
    expect(refusal(unknown).message).toBe(
      "Unable to configure handler 'out': Unable to set formatter 1",
    );
  });

  test("a text names one handler", () => {
    const given = config({ root: { level: "INFO", handlers: "out" } });
    expect(run([given, hello])).toMatchObject({ stdout: "hello\n" });
  });
});
