import { describe, expect, test } from "vitest";
import { all, formatter, hello, REFUSED, run, toStdout } from "./dict-config.ts";

/*
 * What Python 3.11 wrote by the same formats, and colorlog 6.12 on a terminal.
 */

/** A record that does not fit its format is told of. */
const TOLD = "told";

const seconds = new Date(2026, 0, 2, 3, 4, 5).getTime() / 1000;
const grouped = (mark: string) => String(seconds).replace(/\B(?=(\d{3})+$)/g, mark);
const CREATED = `${grouped(",")}.0|${grouped("_")}|6.0|    6.0`;

describe("formats", () => {
  test.each<[string, string | null | undefined, string]>([
    ["%", "%(levelname)10s|", "      INFO|"],
    ["%", "%(levelname)-10s|", "INFO      |"],
    ["%", "%(levelname).2s|", "IN|"],
    ["%", "%(levelname)-6.2s|", "IN    |"],
    ["%", "%(levelname)010s|", "      INFO|"],
    ["%", "%(levelname)r|", "'INFO'|"],
    ["%", "%(levelno)6d|", "    20|"],
    ["%", "%(levelno)-6d|", "20    |"],
    ["%", "%(levelno)06d|", "000020|"],
    ["%", "%(levelno)-06d|", "20    |"],
    ["%", "%(levelno)f|", "20.000000|"],
    ["%", "%(levelno)08.1f|", "000020.0|"],
    ["%", "%(levelno)5s|", "   20|"],
    ["%", "%(msecs)03d|%(msecs)i|%(msecs)u|%(msecs).0f", "006|6|6|6"],
    ["%", "%(levelno)x|%(levelno)X|%(levelno)#x|%(levelno)o|%(levelno)#o", "14|14|0x14|24|0o24"],
    [
      "%",
      "%(levelno)08x|%(levelno)#08x|%(levelno)-8x|%(levelno)+d",
      "00000014|0x000014|14      |+20",
    ],
    ["%", "%(levelno)+06d|%(levelno) d|%(levelno).5d|%(levelno)#.3x", "+00020| 20|00020|0x014"],
    ["%", "%(levelno)e|%(levelno).1E|%(levelno)012.2e", "2.000000e+01|2.0E+01|00002.00e+01"],
    ["%", "%(levelno)g|%(levelno).1g|%(levelno)#g|%(levelno)G", "20|2e+01|20.0000|20"],
    ["%", "%(levelno)+.1f|%(levelno)c|%(msecs)s", "+20.0|\x14|6.0"],
    ["%", "%(msecs)x", TOLD],
    ["%", "%(levelname)x", TOLD],
    ["%", "%(levelname)e", TOLD],
    ["%", "%(levelname)c", TOLD],
    ["%", "%(levelname)d|", TOLD],
    ["%", "%(nope)s", TOLD],
    ["%", "%%%(levelname)s%%", "%INFO%"],
    ["%", "%(levelname)", REFUSED],
    ["%", "% (levelname)s", REFUSED],
    ["%", "%(asctime)s %(processName)s", "2026-01-02 03:04:05,006 MainProcess"],
    ["{", "{levelname:6}|{levelname:>6}|{levelname:^6}|", "INFO  |  INFO| INFO |"],
    ["{", "{levelname:*^11}|", "***INFO****|"],
    ["{", "{levelname:^^9}|", "^^INFO^^^|"],
    ["{", "{levelname:0>6}|{levelname:06}|", "00INFO|INFO00|"],
    ["{", "{levelname:.2}|{levelname:-<6.2}|", "IN|IN----|"],
    ["{", "{levelname!r:8}|{levelname!s:>8}|", "'INFO'  |    INFO|"],
    ["{", "{levelno:6}|{levelno:<6}|{levelno:^6}|", "    20|20    |  20  |"],
    ["{", "{levelno:06}|{levelno:06d}|{levelno:0<6}|", "000020|000020|200000|"],
    ["{", "{levelno:*>6d}|{levelno!s:5}|{levelno!r}|", "****20|20   |20|"],
    ["{", "{levelno:.1f}|{levelno:F}|", "20.0|20.000000|"],
    [
      "{",
      "{levelno:x}|{levelno:#X}|{levelno:o}|{levelno:#b}|{levelno:#08x}",
      "14|0X14|24|0b10100|0x000014",
    ],
    ["{", "{levelno:+}|{levelno:0=+8d}|{levelno:+06}|{levelno:,}", "+20|+0000020|+00020|20"],
    [
      "{",
      "{levelno:e}|{levelno:g}|{levelno:.1G}|{levelno:%}|{levelno:n}",
      "2.000000e+01|20|2E+01|2000.000000%|20",
    ],
    ["{", "{created:,.1f}|{created:_.0f}|{msecs}|{msecs:7}", CREATED],
    ["{", "{msecs:.2}|{msecs:.1}|{msecs:.0}|{msecs:.9}|{msecs:+}", "6.0|6e+00|6e+00|6.0|+6.0"],
    ["{", "{msecs:#.6}|{msecs:#.2}|{msecs:#.1}|{msecs:#}", "6.00000|6.0|6.e+00|6.0"],
    ["{", "{created:,}|{created:_}", `${grouped(",")}.006|${grouped("_")}.006`],
    ["{", "{levelno:010,}|{levelno:08,}|{levelno:07_x}", "00,000,020|0,000,020|00_0014"],
    ["{", "{msecs:#.0f}|{msecs:#.0e}|{levelno:#.0%}", "6.|6.e+00|2000.%"],
    ["{", "{levelname:😀>6}|{levelname:\u00e9^6}|", "😀😀INFO|éINFOé|"],
    ["{", "{levelname:\n>6}", REFUSED],
    ["{", "{levelname!r:D}", TOLD],
    ["{", "{levelname}{}", TOLD],
    ["{", "{levelno:+c}", TOLD],
    ["{", "{levelno:#c}", TOLD],
    ["{", "{levelname:+}", TOLD],
    ["{", "{levelname:#}", TOLD],
    ["{", "{levelname:,}", TOLD],
    ["{", "{levelname:=10}", TOLD],
    ["{", "{levelno:,x}", TOLD],
    ["{", "{levelname} {", REFUSED],
    ["{", "{levelname} }", REFUSED],
    ["{", "{levelname }", REFUSED],
    ["{", "{levelname!x}", REFUSED],
    ["{", "{levelno:1$}", REFUSED],
    ["{", "{levelname:{<10}", REFUSED],
    ["$", "$levelname$", REFUSED],
    ["$", "100$ $levelname", REFUSED],
    ["$", "${levelname:.2}", REFUSED],
    ["%", "%(levelname)s %", TOLD],
    ["%", "%(levelname)s %d", TOLD],
    ["%", "%(levelname)*s", TOLD],
    ["%", "%(msecs)#.0f", "6."],
    ["%", "%(levelno)d|%(levelno)ld|%(msecs)5.f|%(levelname).s|", "20|20|    6||"],
    ["{", "{msecs:x}", TOLD],
    ["{", "{msecs:d}", TOLD],
    ["{", "{levelno:s}", TOLD],
    ["{", "{levelno:.2}", TOLD],
    ["{", "{{{levelname}}}", "{INFO}"],
    ["{", "{nope}", TOLD],
    ["{", "{levelname:d}", TOLD],
    ["{", "plain", REFUSED],
    ["$", "$levelname$name|${levelname}x $$ $$", "INFOapp.part|INFOx $ $"],
    ["$", "$$$levelname", "$INFO"],
    ["$", "$nope", TOLD],
    ["$", "plain", REFUSED],
    ...["%", "{", "$"].flatMap((style) =>
      [undefined, null, ""].map((format): [string, typeof format, string] => [
        style,
        format,
        "hello",
      ]),
    ),
    ["?", "%(message)s", REFUSED],
  ])("%s %j", (style, format, expected) => {
    const outcome = run([formatter({ format, style }), hello]);
    if (expected !== TOLD || outcome === REFUSED)
      expect(outcome === REFUSED ? REFUSED : outcome.stdout).toBe(
        expected === REFUSED ? REFUSED : `${expected}\n`,
      );
    else expect(outcome.stderr).toMatch(/--- Logging error ---(.|\n)*\nMessage: 'hello'\n/);
  });

  test.each([
    ["%", "%(message)a|%(message)10.3a|%(levelno)a", '"\\xe9\\u20ac\\U0001f600\'"|       "\\x|20'],
    ["%", "%(message)r", '"é€😀\'"'],
    ["{", "{message!a}|{levelno!a:>4}", '"\\xe9\\u20ac\\U0001f600\'"|  20'],
  ])("%s %s shows a text as it is written in a program", (style, format, expected) => {
    const outcome = run([formatter({ format, style }), ["app", "info", "é€😀'"]]);
    expect(outcome).toMatchObject({ stdout: `${expected}\n` });
  });

  test.each([
    ["%H:%M", "03:04"],
    ["%Y%j", "2026002"],
    ["", "2026-01-02 03:04:05,006"],
    [null, "2026-01-02 03:04:05,006"],
  ])("times by the format %j", (datefmt, time) => {
    const settings = { format: "%(asctime)s", datefmt };
    expect(run([formatter(settings), hello])).toMatchObject({ stdout: `${time}\n` });
  });

  test.each(["{args[0]}", "{message:{lineno}}", "{message.x}"])(
    "%s, which only Python has, is refused",
    (format) => {
      expect(run([formatter({ format, style: "{" }), hello])).toBe(REFUSED);
    },
  );

  test("a precision counts emojis as one character each", () => {
    const outcome = run([formatter({ format: "%(message).2s|" }), ["a", "info", "😀😀😀"]]);
    expect(outcome).toMatchObject({ stdout: "😀😀|\n" });
  });

  test("%(created)s is in seconds", () => {
    const outcome = run([formatter({ format: "%(created).3f" }), hello]);
    const seconds = new Date(2026, 0, 2, 3, 4, 5).getTime() / 1000;
    expect(outcome).toMatchObject({ stdout: `${seconds}.006\n` });
  });
});

describe("colorlog", () => {
  const GREEN = "\u001b[32m";
  const YELLOW = "\u001b[33m";
  const RESET = "\u001b[0m";
  const log_colors = { INFO: ",red,,thin", WARNING: "fg_208,", ERROR: "" };
  const secondary_log_colors = { message: { INFO: "blue" } };
  test.each<[object, string, string]>([
    ...["%", "{", "$"].map((style): [object, string, string] => [
      { style },
      `${GREEN}INFO:app.part:i${RESET}`,
      `${YELLOW}WARNING:app.part:w${RESET}`,
    ]),
    [{ format: "%(log_color)s%(message)s%(reset)s" }, `${GREEN}i${RESET}`, `${YELLOW}w${RESET}`],
    [
      { format: "%(log_color)s%(message)s", log_colors },
      `\u001b[31m\u001b[2mi${RESET}`,
      `\u001b[38;5;208mw${RESET}`,
    ],
    [{ format: "%(log_color)s%(message)s", log_colors: {} }, `i${RESET}`, `w${RESET}`],
    [
      { format: "%(message_log_color)s%(message)s", secondary_log_colors },
      `\u001b[34mi${RESET}`,
      `w${RESET}`,
    ],
    [{ format: "%(asctime)s", datefmt: "%H" }, `03${RESET}`, `03${RESET}`],
    [{ format: "%(log_color)s%(message)s", no_color: true }, "i", "w"],
    [
      { format: "%(log_color)s%(message)s", no_color: true, force_color: true },
      `${GREEN}i${RESET}`,
      `${YELLOW}w${RESET}`,
    ],
  ])("%j", (settings, ...expected) => {
    const colored = { "()": "colorlog.ColoredFormatter", ...settings };
    for (const stream of [toStdout, { class: "colorlog.StreamHandler" }]) {
      const outcome = run([formatter(colored, stream as typeof toStdout), ...all.slice(1, 3)]);
      const text = expected.map((line) => `${line}\n`).join("");
      expect(outcome).toMatchObject(stream === toStdout ? { stdout: text } : { stderr: text });
    }
  });
});
