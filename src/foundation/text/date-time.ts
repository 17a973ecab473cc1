/** Dates and times as text: Python's `strftime`, and RFC 3339. */

/**
 * The result of Python's `datetime.now().strftime(format)` in the C locale on Linux: the directives of the C standard,
 * glibc's further ones with its flags and widths, and Python's `%f` (microseconds; here the last three digits are
 * zeros). The time has no zone, so `%z` and `%Z` are empty. Other text stays unchanged; a result that is far longer
 * than its format is the empty text, as there.
 */
export function strftime(format: string, date: Date): string {
  const microseconds = String(date.getMilliseconds() * 1000).padStart(6, "0");
  const byPython: Readonly<Record<string, string>> = { f: microseconds, z: "", Z: "" };
  // Python puts these in before the C library reads the format.
  const cFormat = format.replace(/%(.)/gsu, (whole, letter: string) => byPython[letter] ?? whole);
  return formatTime(cFormat, date, { isLocal: false });
}

/**
 * The result of Python's `time.strftime(format, time.localtime(...))`, as loggers use it: `%z` and `%Z` tell the zone,
 * and there is no `%f`.
 */
export const localStrftime = (format: string, date: Date): string =>
  formatTime(format, date, { isLocal: true });

interface TimeZone {
  /** Whether the time is that of the machine's zone; otherwise it has none. */
  readonly isLocal: boolean;
}

/** What glibc makes of a format. */
function formatTime(format: string, date: Date, { isLocal }: TimeZone): string {
  // Python doubles its buffer until it has 256 characters for each one of the format.
  let capacity = 1024;
  while (capacity < 256 * format.length) capacity *= 2;
  let leastLength = 0;
  const result = format.replace(
    /%([-_0^#]*)(\d*)([EO]?)(.?)/gsu,
    (whole, flags: string, digits: string, modifier: string, letter: string) => {
      const width = Math.min(Number(digits), capacity);
      const style = { flags, width, pad: [...flags].findLast((flag) => "-_0".includes(flag)) };
      if (letter === "z" && !isLocal) return "";
      leastLength += width;
      // The result is too long, whatever follows: writing it would only take memory.
      if (leastLength > 2 * capacity) return "";
      if (letter === "z") return zoneOffset(date, style);
      if (letter === "Z")
        return padded(withCase(isLocal ? zoneName(date) : "", letter, flags), style);
      const directive = Object.hasOwn(DIRECTIVES, letter) ? DIRECTIVES[letter] : undefined;
      if (directive === undefined || REFUSED[modifier]?.includes(letter) === true) {
        // glibc has changed the case of these two before it refuses them.
        const isUpper = flags.includes("^") || (flags.includes("#") && "bh".includes(letter));
        return padded(isUpper ? whole.toUpperCase() : whole, style);
      }
      const value = directive(date);
      return typeof value === "string"
        ? padded(withCase(value, letter, flags), style)
        : padded(number(value, style), style);
    },
  );
  return result.length < capacity ? result : "";
}

/** A number with as many digits as it has at least, or with blanks in their place. */
interface Digits {
  readonly value: number;
  readonly digits: number;
  readonly isBlank?: boolean;
}

/** How a directive's value is written. */
interface Style {
  /** glibc's: `-` no padding, `_` blanks, `0` zeros, `^` upper case, `#` the other case. */
  readonly flags: string;
  readonly width: number;
  /** The last flag that is about padding. */
  readonly pad: string | undefined;
}

const padded = (value: string, { pad, width }: Style): string =>
  value.padStart(width, pad === "0" ? "0" : " ");

function number({ digits, isBlank, value }: Digits, { pad, width }: Style): string {
  if (pad === "-") return String(value);
  const isFilled = pad === "_" || (isBlank === true && pad !== "0");
  return String(value).padStart(Math.max(digits, width), isFilled ? " " : "0");
}

function withCase(value: string, letter: string, flags: string): string {
  if (letter === "P" || ("pZ".includes(letter) && flags.includes("#"))) return value.toLowerCase();
  const isUpper = flags.includes("^") || (flags.includes("#") && "aAbBh".includes(letter));
  return isUpper ? value.toUpperCase() : value;
}

/** The sign has the width of its own that was asked for. */
function zoneOffset(date: Date, style: Style): string {
  const minutes = -date.getTimezoneOffset();
  const size = Math.abs(minutes);
  const value = Math.floor(size / 60) * 100 + (size % 60);
  return (
    padded(minutes < 0 ? "-" : "+", style) + padded(number({ value, digits: 4 }, style), style)
  );
}

/** A zone's abbreviation; where neither kind of English has one, its offset. */
function zoneName(date: Date): string {
  const [first = "", second = ""] = ["en-US", "en-GB"].map(
    (locale) =>
      new Intl.DateTimeFormat(locale, { timeZoneName: "short" })
        .formatToParts(date)
        .find(({ type }) => type === "timeZoneName")?.value ?? "",
  );
  return /^GMT[+-]/.test(first) ? second : first;
}

/** The directives that the modifiers `E` and `O` are refused for. */
const REFUSED: Readonly<Record<string, string>> = {
  E: "abdeghjklmwABDFGHIMSUVW",
  O: "acxADFXY",
};

const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];
const DAY_MS = 86_400_000;

const digits = (value: number, least: number): Digits => ({ value, digits: least });
const blanks = (value: number): Digits => ({ value, digits: 2, isBlank: true });
const hour12 = (date: Date): number => date.getHours() % 12 || 12;

const DIRECTIVES: Readonly<Record<string, (date: Date) => string | Digits>> = {
  a: (d) => (DAYS[d.getDay()] ?? "").slice(0, 3),
  A: (d) => DAYS[d.getDay()] ?? "",
  b: (d) => (MONTHS[d.getMonth()] ?? "").slice(0, 3),
  h: (d) => (MONTHS[d.getMonth()] ?? "").slice(0, 3),
  B: (d) => MONTHS[d.getMonth()] ?? "",
  c: (d) => strftime("%a %b %e %H:%M:%S %Y", d),
  C: (d) => digits(Math.floor(d.getFullYear() / 100), 1),
  d: (d) => digits(d.getDate(), 2),
  D: (d) => strftime("%m/%d/%y", d),
  e: (d) => blanks(d.getDate()),
  F: (d) => strftime("%Y-%m-%d", d),
  g: (d) => digits(isoWeek(d).year % 100, 2),
  G: (d) => digits(isoWeek(d).year, 1),
  H: (d) => digits(d.getHours(), 2),
  I: (d) => digits(hour12(d), 2),
  j: (d) => digits(dayOfYear(d) + 1, 3),
  k: (d) => blanks(d.getHours()),
  l: (d) => blanks(hour12(d)),
  m: (d) => digits(d.getMonth() + 1, 2),
  M: (d) => digits(d.getMinutes(), 2),
  n: () => "\n",
  p: (d) => (d.getHours() < 12 ? "AM" : "PM"),
  P: (d) => (d.getHours() < 12 ? "am" : "pm"),
  r: (d) => strftime("%I:%M:%S %p", d),
  R: (d) => strftime("%H:%M", d),
  s: (d) => String(Math.floor(d.getTime() / 1000)),
  S: (d) => digits(d.getSeconds(), 2),
  t: () => "\t",
  T: (d) => strftime("%H:%M:%S", d),
  u: (d) => digits(d.getDay() || 7, 1),
  U: (d) => digits(weekOfYear(d, 0), 2),
  V: (d) => digits(isoWeek(d).week, 2),
  w: (d) => digits(d.getDay(), 1),
  W: (d) => digits(weekOfYear(d, 1), 2),
  x: (d) => strftime("%m/%d/%y", d),
  X: (d) => strftime("%H:%M:%S", d),
  y: (d) => digits(d.getFullYear() % 100, 2),
  Y: (d) => digits(d.getFullYear(), 1),
  "%": () => "%",
};

function dayOfYear(date: Date): number {
  const midnight = Date.UTC(date.getFullYear(), date.getMonth(), date.getDate());
  return Math.round((midnight - Date.UTC(date.getFullYear(), 0, 1)) / DAY_MS);
}

/** Weeks begin on `firstDay` (0 Sunday, 1 Monday); days before the first one are week 0. */
function weekOfYear(date: Date, firstDay: number): number {
  return Math.floor((dayOfYear(date) + 7 - ((date.getDay() - firstDay + 7) % 7)) / 7);
}

/** ISO 8601: the week belongs to the year of its Thursday. */
function isoWeek(date: Date): { readonly year: number; readonly week: number } {
  const thursday = new Date(date);
  thursday.setDate(thursday.getDate() + 4 - (date.getDay() || 7));
  return { year: thursday.getFullYear(), week: Math.floor(dayOfYear(thursday) / 7) + 1 };
}

/**
 * A date and time as reports write it: RFC 3339, in UTC. Its years have four digits, so a clock that is far off is
 * clamped to the first or last moment that can be written, so that no measurement is lost.
 */
export const dateTime = (moment: Date): string =>
  new Date(Math.min(Math.max(moment.getTime(), FIRST), LAST)).toISOString();

const FIRST = Date.parse("0000-01-01T00:00:00.000Z");
const LAST = Date.parse("9999-12-31T23:59:59.999Z");
