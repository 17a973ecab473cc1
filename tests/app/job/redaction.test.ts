import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createRedaction } from "../../../src/app/job/redaction.ts";
import { quoted } from "../../../src/engine/overrides/print.ts";
import { visibleControls } from "../../../src/foundation/text/printable.ts";
import { shellQuote } from "../../../src/foundation/text/shell-words.ts";
import { toYaml } from "../../../src/index.ts";
import { growth } from "../../growth.ts";
import { runs } from "../../runs.ts";

const redactor = (...secrets: readonly string[]) => {
  const redaction = createRedaction();
  redaction.learn(secrets);
  return redaction.apply;
};

const inner = (text: string): string => text.slice(1, -1);

const everyPercent = (text: string): string =>
  [...Buffer.from(text, "utf8")].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");

const everyUnit = (text: string): string =>
  [...Array(text.length).keys()]
    .map((at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`)
    .join("");

const asciiJson = (text: string): string =>
  inner(JSON.stringify(text)).replaceAll(/[\u0080-\uffff]/g, everyUnit);

const yaml = (text: string): string => toYaml({ k: text }).slice(3, -1);

const replaced = (table: Readonly<Record<string, string>>) => (text: string) =>
  [...text].map((one) => table[one] ?? one).join("");

/** Encodings of which two may follow one another, each written here anew. */
function encodings(): Readonly<Record<string, (secret: string) => string>> {
  const html = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return {
    "a document of JSON": (secret) => inner(JSON.stringify(secret)),
    "a word of a POSIX shell": replaced({ "'": "'\\''" }),
    "a word of Python's shlex": replaced({ "'": `'"'"'` }),
    "a shell's double quotes": replaced({ '"': '\\"', "\\": "\\\\", $: "\\$", "`": "\\`" }),
    "CSV, SQL": replaced({ '"': '""' }),
    "SQL, YAML": replaced({ "'": "''" }),
    "HTML, as Python's html.escape": replaced({ ...html, "'": "&#x27;" }),
    "HTML, as others": replaced({ ...html, "'": "&#39;" }),
    XML: replaced({ ...html, "'": "&apos;" }),
    "a cell of Markdown": replaced({ "\\": "\\\\", "|": "\\|" }),
    URL: encodeURIComponent,
  };
}

/** As programs print it, each by an encoder that is not the code under test. */
const FORMS: Readonly<Record<string, (secret: string) => string>> = {
  "as it is": (secret) => secret,
  encodeURIComponent,
  "lower case": (secret) =>
    encodeURIComponent(secret).replaceAll(/%../g, (hex) => hex.toLowerCase()),
  form: (secret) => new URLSearchParams({ k: secret }).toString().slice(2),
  "every byte": everyPercent,
  "percent, twice": (secret) => encodeURIComponent(encodeURIComponent(secret)),
  JSON: (secret) => inner(JSON.stringify(secret)),
  "JSON in ASCII": asciiJson,
  "JSON, upper case": (secret) =>
    asciiJson(secret).replaceAll(
      /(?<!\\)\\u[0-9a-f]{4}/g,
      (unit) => `\\u${unit.slice(2).toUpperCase()}`,
    ),
  "JSON with slashes": (secret) => inner(JSON.stringify(secret)).replaceAll("/", "\\/"),
  "JSON in JSON": (secret) => inner(JSON.stringify(inner(JSON.stringify(secret)))),
  "JSON in a query": (secret) => encodeURIComponent(inner(JSON.stringify(secret))),
  YAML: (secret) => inner(yaml(` ${secret} `)).trim(),
  "single quotes of YAML": (secret) => secret.replaceAll("'", "''"),
  "a shell's word": (secret) => inner(shellQuote(` ${secret} `)).trim(),
  "an override": (secret) => inner(quoted(secret, "'")),
  "an override in double quotes": (secret) => inner(quoted(secret, '"')),
  "a message": visibleControls,
  ...encodings(),
};

/** Trimmed: where blanks at the ends belong to the quotes around them, the rest is looked for. */
const aSecret = fc
  .oneof(
    fc.string({ unit: "binary", minLength: 4, maxLength: 40 }),
    fc.string({ unit: "grapheme-ascii", minLength: 4, maxLength: 200 }),
    fc
      .array(fc.constantFrom("'", '"', "\\", "\n", "%", "+", " ", "/", "a", "é", "😀", "\x1b"), {
        minLength: 4,
        maxLength: 30,
      })
      .map((pieces) => pieces.join("")),
  )
  .map((text) => text.replaceAll("*", "x").replaceAll("$", "s").trim())
  .filter((text) => text.length >= 4);

const around = fc.oneof(
  fc.string({ maxLength: 20 }),
  fc
    .array(fc.constantFrom("\\", "%", "'", '"', "2", "5", "a", "\n", " "), { maxLength: 12 })
    .map((pieces) => pieces.join("")),
);

describe("secrets in texts", () => {
  it.each(Object.entries(FORMS))("are masked %s, whatever is around them", (_, form) => {
    fc.assert(
      fc.property(aSecret, around, around, (secret, before, after) => {
        const written = form(secret);
        const shown = redactor(secret)(before + written + after);
        expect(shown.includes(written), shown).toBe(false);
        expect(shown).toContain("***");
      }),
      { numRuns: runs(150) },
    );
  });

  it("are masked in two encodings, one around the other", () => {
    const anEncoding = fc.constantFrom(...Object.entries(encodings()));
    const aQuotedSecret = fc.oneof(
      aSecret.filter((text) => !/\p{Cs}/u.test(text)),
      fc
        .array(fc.constantFrom("'", '"', "\\", "|", "&", "<", "`", "x", "y", "z"), {
          minLength: 4,
          maxLength: 12,
        })
        .map((pieces) => pieces.join("")),
    );
    fc.assert(
      fc.property(aQuotedSecret, anEncoding, anEncoding, around, (secret, [, a], [, b], before) => {
        const written = b(a(secret));
        const shown = redactor(secret)(`${before}${written} ${written}`);
        expect(shown.includes(written), shown).toBe(false);
        expect(shown).toContain("***");
      }),
      { numRuns: runs(1000) },
    );
  });

  it.each(["base64", "base64url"] as const)("are masked in %s of a longer text", (encoding) => {
    fc.assert(
      fc.property(aSecret, fc.string(), fc.string(), (secret, before, after) => {
        const apply = redactor(secret);
        for (const text of [secret, inner(JSON.stringify(secret))]) {
          const shown = apply(Buffer.from(before + text + after).toString(encoding));
          expect(shown).toContain("***");
          for (const piece of shown.split("***"))
            expect(Buffer.from(piece, encoding).toString()).not.toContain(secret);
        }
      }),
      { numRuns: runs(150) },
    );
  });

  it("leave what is around them as it is", () => {
    const plain = fc.stringMatching(/^[ .,:;(){}<>äß中-]*$/);
    const forms = Object.values(FORMS);
    fc.assert(
      fc.property(
        fc.stringMatching(/^[a-z0-9/"]{4,20}$/),
        plain,
        plain,
        (secret, before, after) => {
          for (const form of forms)
            expect(redactor(secret)(before + form(secret) + after)).toBe(`${before}***${after}`);
        },
      ),
      { numRuns: runs(100) },
    );
  });

  it("change no text without them", () => {
    const secrets = ["hunter2 it's 100%", 's\\e"c\nret', "päss/wörd+1"];
    const apply = redactor(...secrets);
    fc.assert(
      fc.property(fc.oneof(around, fc.string({ unit: "binary", maxLength: 200 })), (any) => {
        const text = any.replaceAll("$", "s");
        for (const form of Object.values(FORMS)) expect(apply(form(text))).toBe(form(text));
        expect(apply(Buffer.from(text).toString("base64"))).toBe(
          Buffer.from(text).toString("base64"),
        );
      }),
      { numRuns: runs(100) },
    );
  });

  it.each([
    ["Basic dXNlcjpodW50ZXIy", "Basic dXNlcj***"],
    ["aHVudGVyMg==", "***"],
    ["aHVudGVyMg%3D%3D&x", "***&x"],
    ["%68unter2 and hun\\u0074er2", "*** and ***"],
    ["hunter2hunter2", "******"],
    ["Hunter2 hunter%32x hunter%33", "Hunter2 ***x hunter%33"],
    ["/home/h\\unter2", "/home/h\\unter2"],
  ])("%j becomes %j", (text, shown) => {
    expect(redactor("hunter2")(text)).toBe(shown);
  });

  it("are masked once where they overlap or hold each other", () => {
    expect(redactor("abcdef", "defghi", "cdef")("-abcdefghi-cdef-")).toBe("-***-***-");
  });

  it.each([
    ["''é''", "\\''é''''é''''"],
    ["\\'%25\\'", "\\'%25\\''%25\\''"],
  ])(
    "%j is masked whole in YAML's single quotes, where it can also begin before it: %j",
    (secret, text) => {
      expect(redactor(secret)(text)).toBe("***");
    },
  );

  it("are masked where a long YAML text is folded", () => {
    const words = "correct horse 'battery' staple ".repeat(8);
    for (const secret of [words.trim(), `${words}\x1b${words}`, `${words}\n${words}`]) {
      const text = toYaml({ a: { b: [`key: ${secret} end`] } });
      expect(text.split("\n").length).toBeGreaterThan(3);
      expect(redactor(secret)(text)).toMatch(/^a:\n {2}b:\n {2}- ["']key: \*\*\* end["']\n$/);
    }
  });

  it("are not looked for if they have less than four characters", () => {
    expect(redactor("abc", "")("abc YWJj %61bc")).toBe("abc YWJj %61bc");
  });

  it("need time in proportion to the text, however it repeats itself", () => {
    const long = (unit: string) => unit.repeat(200_000);
    const apply = redactor("\\\\x\\'' y'", "%25%41bc", "aaab c'");
    for (const unit of ["\\", "'", "%25", "%", "aaa", "\\\n ", "+", " \n"])
      expect(apply(long(unit)).length).toBeGreaterThan(0);
  });

  it.each(["%5c", "%255c", "\\%5c", "%5C\\", "\n", "\n "])(
    "need ten times as long for ten times as many of %j",
    async (unit) => {
      const apply = redactor("hunter2pass", "\\\\pass", "\nlines\n", "%pass");
      expect(await growth((times) => apply(unit.repeat(times)), 1000)).toBeLessThan(40);
    },
    60_000,
  );

  it("that begin with backslashes are found behind others, each of them percent-encoded", () => {
    const apply = redactor("\\\\pass", "\\'wörd");
    for (const slash of ["%5c", "%255C", "\\%5c"])
      for (const times of [2, 3, 9]) {
        const run = slash.repeat(times);
        expect(apply(`<${run}pass> ${run}p%61ss`)).not.toMatch(/pass|%61/);
        expect(apply(`<${run}%27wörd>`)).not.toContain("wörd");
      }
  });
});
