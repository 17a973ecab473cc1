import { describe, expect, test } from "vitest";
import { dateTime, localStrftime, strftime } from "../../../src/foundation/text/date-time.ts";

// Local times, so that the expectations hold in every time zone.
const EVENING = new Date(2026, 10, 21, 17, 5, 9, 42);
const NEW_YEAR = new Date(2027, 0, 1, 0, 30, 0);
const NOON = new Date(2024, 11, 30, 12, 0, 0);
const LONG_AGO = new Date(2000, 1, 16);
LONG_AGO.setFullYear(99);

describe("strftime", () => {
  test("gives nothing for far too many and too wide directives, before they fill the memory", () => {
    expect(strftime("%99999999d".repeat(5_000), EVENING)).toBe("");
    expect(strftime(`${"%9999z".repeat(9)}%d`, EVENING)).toBe("21");
  });

  // Expected values: python3 -c "print(datetime(...).strftime(...))".
  test.each([
    ["%Y%m%d-%H%M%S", EVENING, "20261121-170509"],
    ["%Y-%m-%d", EVENING, "2026-11-21"],
    ["%H-%M-%S.%f", EVENING, "17-05-09.042000"],
    ["%a %A %b %B %h", EVENING, "Sat Saturday Nov November Nov"],
    ["%c|%x|%X", EVENING, "Sat Nov 21 17:05:09 2026|11/21/26|17:05:09"],
    ["%D %F %T %R %r", EVENING, "11/21/26 2026-11-21 17:05:09 17:05 05:05:09 PM"],
    ["%I %l %k %p %P", EVENING, "05  5 17 PM pm"],
    ["%j %U %W %V %G %g %u %w", EVENING, "325 46 46 47 2026 26 6 6"],
    ["%j %U %W %V %G %g %u %w", NEW_YEAR, "001 00 00 53 2026 26 5 5"],
    ["%j %U %W %V %G %g %u %w", NOON, "365 52 53 01 2025 25 1 1"],
    ["%I %p|%e|%C %y", NEW_YEAR, "12 AM| 1|20 27"],
    ["%I %p", NOON, "12 PM"],
    ["%-d.%-m. %_H %05d %^a %#p", NEW_YEAR, "1.1.  0 00001 FRI am"],
    ["%z|%Z|", EVENING, "||"],
    ["100%% %n%t%Q %", EVENING, "100% \n\t%Q %"],
    ["%-f|%f|%%f", EVENING, "%-f|042000|%f"],
    [
      "%10Y|%_6Y|%3u|%-5e|%-5a|%0-5d|%-05d",
      EVENING,
      "0000002026|  2026|006|   21|  Sat|   21|00021",
    ],
    [
      "%#c|%^c|%#b|%^P|%#r",
      NEW_YEAR,
      "Fri Jan  1 00:30:00 2027|FRI JAN  1 00:30:00 2027|JAN|am|12:30:00 AM",
    ],
    ["%Ec|%EY|%Oy|%OC|%E%", NOON, "Mon Dec 30 12:00:00 2024|2024|24|20|%"],
    ["%Ed|%OY|%5Ed|%E5d|%^q|%05q|%-5", NOON, "%Ed|%OY| %5Ed|%E5d|%^Q|0%05q|  %-5"],
    ["%C|%_C|%5C|%EC|%Y %G %g %V", LONG_AGO, "0|0|00000|0|99 99 99 08"],
    ["%#Eh|%#5Eb|%#EB|%^EB", NOON, "%#EH|%#5EB|%#EB|%^EB"],
    ["%5z|%5Z|", EVENING, "|     |"],
    ["%-%f", EVENING, ""],
    ["%3000d", EVENING, ""],
    ["%999999999999d", EVENING, ""],
    ["", EVENING, ""],
    ["plain", EVENING, "plain"],
  ])("%j", (format, date, expected) => {
    expect(strftime(format, date)).toBe(expected);
  });
});

describe("localStrftime", () => {
  test("knows the zone, and no microseconds", () => {
    const minutes = -EVENING.getTimezoneOffset();
    const hours = String(Math.floor(Math.abs(minutes) / 60)).padStart(2, "0");
    const rest = String(Math.abs(minutes) % 60).padStart(2, "0");
    const sign = minutes < 0 ? "-" : "+";
    expect(localStrftime("%H:%M:%S%z %f", EVENING)).toBe(`17:05:09${sign}${hours}${rest} %f`);
    expect(localStrftime("%-z|%8z", EVENING)).toBe(
      `${sign}${Number(`${hours}${rest}`)}|       ${sign}0000${hours}${rest}`,
    );
    expect(localStrftime("%Z", EVENING)).toMatch(/^\S+$/);
  });
});

test.each([
  ["2026-01-02T03:04:05.678Z", "2026-01-02T03:04:05.678Z"],
  ["+010000-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z"],
  ["+275760-09-13T00:00:00.000Z", "9999-12-31T23:59:59.999Z"],
  ["-000001-12-31T23:59:59.999Z", "0000-01-01T00:00:00.000Z"],
])("writes %s as %s, with a year of four digits", (moment, told) => {
  expect(dateTime(new Date(moment))).toBe(told);
});
