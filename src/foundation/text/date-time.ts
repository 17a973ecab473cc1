/**
 * The result of Python's `datetime.now().strftime(format)` in the C locale on Linux: the directives
 * of the C standard, glibc's further ones with its flags and widths, and Python's `%f`
 * (microseconds; here the last three digits are zeros). Other text stays unchanged.
 */
export function strftime(format: string, date: Date): string {
  return format.replace(
    /%([-_0^#]*)(\d*)([EO]?)([a-zA-Z%])/g,
    (whole, flags: string, width: string, _modifier: string, letter: string) => {
      const directive = Object.hasOwn(DIRECTIVES, letter) ? DIRECTIVES[letter] : undefined;
      return directive === undefined ? whole : decorate(directive(date), letter, flags, width);
    },
  );
}

/** A directive's value, and its padding unless the format sets it. */
interface Field {
  readonly text: string;
  readonly width: number;
  readonly pad: " " | "0" | "";
}

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

const text = (value: string): Field => ({ text: value, width: 0, pad: "" });
const zeros = (value: number, width: number): Field => ({ text: String(value), width, pad: "0" });
const blanks = (value: number, width: number): Field => ({ text: String(value), width, pad: " " });
const hour12 = (date: Date): number => date.getHours() % 12 || 12;

const DIRECTIVES: Readonly<Record<string, (date: Date) => Field>> = {
  a: (d) => text((DAYS[d.getDay()] ?? "").slice(0, 3)),
  A: (d) => text(DAYS[d.getDay()] ?? ""),
  b: (d) => text((MONTHS[d.getMonth()] ?? "").slice(0, 3)),
  h: (d) => text((MONTHS[d.getMonth()] ?? "").slice(0, 3)),
  B: (d) => text(MONTHS[d.getMonth()] ?? ""),
  c: (d) => text(strftime("%a %b %e %H:%M:%S %Y", d)),
  C: (d) => zeros(Math.floor(d.getFullYear() / 100), 2),
  d: (d) => zeros(d.getDate(), 2),
  D: (d) => text(strftime("%m/%d/%y", d)),
  e: (d) => blanks(d.getDate(), 2),
  F: (d) => text(strftime("%Y-%m-%d", d)),
  g: (d) => zeros(isoWeek(d).year % 100, 2),
  G: (d) => text(String(isoWeek(d).year)),
  H: (d) => zeros(d.getHours(), 2),
  I: (d) => zeros(hour12(d), 2),
  j: (d) => zeros(dayOfYear(d) + 1, 3),
  k: (d) => blanks(d.getHours(), 2),
  l: (d) => blanks(hour12(d), 2),
  m: (d) => zeros(d.getMonth() + 1, 2),
  M: (d) => zeros(d.getMinutes(), 2),
  n: () => text("\n"),
  p: (d) => text(d.getHours() < 12 ? "AM" : "PM"),
  P: (d) => text(d.getHours() < 12 ? "am" : "pm"),
  r: (d) => text(strftime("%I:%M:%S %p", d)),
  R: (d) => text(strftime("%H:%M", d)),
  s: (d) => text(String(Math.floor(d.getTime() / 1000))),
  S: (d) => zeros(d.getSeconds(), 2),
  t: () => text("\t"),
  T: (d) => text(strftime("%H:%M:%S", d)),
  u: (d) => text(String(d.getDay() || 7)),
  U: (d) => zeros(weekOfYear(d, 0), 2),
  V: (d) => zeros(isoWeek(d).week, 2),
  w: (d) => text(String(d.getDay())),
  W: (d) => zeros(weekOfYear(d, 1), 2),
  x: (d) => text(strftime("%m/%d/%y", d)),
  X: (d) => text(strftime("%H:%M:%S", d)),
  y: (d) => zeros(d.getFullYear() % 100, 2),
  Y: (d) => text(String(d.getFullYear())),
  // Hydra formats a datetime without a time zone, which has no offset and no zone name.
  z: () => text(""),
  Z: () => text(""),
  f: (d) => zeros(d.getMilliseconds() * 1000, 6),
  "%": () => text("%"),
};

/** glibc's flags: `-` no padding, `_` blanks, `0` zeros, `^` upper case, `#` the other case. */
function decorate(field: Field, letter: string, flags: string, width: string): string {
  const cased = withCase(field.text, letter, flags);
  if (flags.includes("-")) return cased;
  const pad = flags.includes("_") ? " " : flags.includes("0") ? "0" : field.pad;
  const wanted = width === "" ? field.width : Number(width);
  return cased.padStart(wanted, pad === "" ? " " : pad);
}

function withCase(value: string, letter: string, flags: string): string {
  if (flags.includes("#")) return letter === "p" ? value.toLowerCase() : value.toUpperCase();
  return flags.includes("^") ? value.toUpperCase() : value;
}

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
  const thursday = new Date(date.getFullYear(), date.getMonth(), date.getDate());
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
