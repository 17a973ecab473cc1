import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseOverride } from "../../../src/engine/overrides/index.ts";
import { isConfigError } from "../../../src/engine/values/errors.ts";
import { shellQuote } from "../../../src/foundation/text/shell-words.ts";
import { growth } from "../../growth.ts";
import { runs } from "../../runs.ts";
import { errorOf, plain } from "./plain.ts";

const hintOf = (text: string): string | undefined =>
  errorOf(() => parseOverride(text)).details.hint;

const SPLIT = "a shell splits an override at its blanks: put all of it in quotes, like ";

/** A word of single quotes, with quotes of their own between them. */
const asShellReads = (word: string): string =>
  word.replaceAll(
    /'([^']*)'|\\(.)/gs,
    (_, inner?: string, escaped?: string) => inner ?? escaped ?? "",
  );

const inShell = (override: string): string => `${override} (in a shell: ${shellQuote(override)})`;

describe("hints", () => {
  it.each([
    ["key=é", `quote the value: key='é' (in a shell: 'key="é"')`],
    ["key=it's", `quote the value: key="it's" (in a shell: 'key="it'\\''s"')`],
    [`+key=it's "so`, `quote the value: +key="it's \\"so" (in a shell: '+key="it'\\''s \\"so"')`],
    ["key=a=b", `quote the value: key='a=b' (in a shell: 'key="a=b"')`],
    ["key=${a.${b}}", `quote the value: key='\${a.\${b}}' (in a shell: 'key="\${a.\${b}}"')`],
    ["key=a ${b", "close the interpolation: key=a ${b} (in a shell: 'key=a ${b}')"],
    ["key={a:${b", "close what is open: key={a:${b}} (in a shell: 'key={a:${b}}')"],
    ["key=[${a,", "close what is open: key=[${a}] (in a shell: 'key=[${a}]')"],
    ["key=[a,é]", `quote the parts that are text: ${inShell("key=[a,'é']")}`],
    ["key=a,é", `quote the parts that are text: ${inShell("key=a,'é'")}`],
    [
      "key={a: (b), c: [d, e^]}",
      `quote the parts that are text: ${inShell("key={a:'(b)', c:[d,'e^']}")}`,
    ],
    ["key=range(1;é)", "put this part of the value in quotes"],
    ["key=range(1;3)", `arguments are separated by commas: ${inShell("key=range(1,3)")}`],
    ["db/pg", "write KEY=VALUE or GROUP=OPTION, without spaces around the '=': db=pg"],
    ["a..b.=x", "use a.b=x"],
    ["key='a' ", "remove everything after the closing quote"],
    ["key='a", "close the quote"],
    ["/db=x", "write the group without a leading '/': db=x"],
    ["key={'a':1}", `keys of dicts cannot be quoted: ${inShell("key={a:1}")}`],
    ["key={'a b':1}", "keys of dicts cannot be quoted"],
    ["key={'true':1}", "keys of dicts cannot be quoted"],
    ["lr", "write KEY=VALUE or GROUP=OPTION, without spaces around the '='"],
    ["0.2", "write KEY=VALUE or GROUP=OPTION, without spaces around the '='"],
    ["conf/sub/train.yaml", "to choose a config, use --config-path conf/sub --config-name train"],
    ["train.yaml", "to choose a config, use --config-name train"],
    ["db.port:1", "use db.port=1"],
    ["+db.port: pg", "use +db.port=pg"],
    ["b[0].x=5", "write list items with a dot: b.0.x=5"],
    ["~b[0]", "a list item cannot be deleted: assign the list without it"],
    ["+a.b[0][12]=[1]", "write list items with a dot: +a.b.0.12=[1] (in a shell: '+a.b.0.12=[1]')"],
    ["b[0]", "write KEY=VALUE, and list items with a dot: b.0=VALUE"],
    ["b[0]: 3", "use b.0=3"],
    ["b[0].x: [1]", "write KEY=VALUE, and list items with a dot: b.0.x=VALUE"],
    ["key==3", "write one '=': key=3"],
    ["~key= ==3", "write one '=': ~key=3 (in a shell: '~key=3')"],
    ["key==", "write one '=': key="],
    ["key={a", `as text it needs quotes: key='{a' (in a shell: 'key="{a"')`],
    ["key={a:1", "close what is open: key={a:1} (in a shell: 'key={a:1}')"],
    ["key==[1]", "write one '=': key=[1] (in a shell: 'key=[1]')"],
    ["key=[1,", `${SPLIT}'key=[1, …]'`],
    ["key={a:[1],b:", `${SPLIT}'key={a:[1],b: …}'`],
    ["key=[a,'b',", String.raw`${SPLIT}'key=[a,'\''b'\'', …]'`],
    ["key=[a,{b:(c)", `as text it needs quotes: key='[a,{b:(c)' (in a shell: 'key="[a,{b:(c)"')`],
    [
      "key=[a,{b:[1,'}']",
      String.raw`close what is open: key=[a,{b:[1,'}']}] (in a shell: 'key=[a,{b:[1,'\''}'\'']}]')`,
    ],
    [
      "key=choice(1,[2,3]",
      "close what is open: key=choice(1,[2,3]) (in a shell: 'key=choice(1,[2,3])')",
    ],
    ["key=a,", `as text it needs quotes: key='a,' (in a shell: 'key="a,"')`],
    ["key=f(a", `as text it needs quotes: key='f(a' (in a shell: 'key="f(a"')`],
    ["key=choice(1,", `${SPLIT}'key=choice(1, …)'`],
    ["key=choice(", undefined],
    ["key=(a)", `as text it needs quotes: key='(a)' (in a shell: 'key="(a)"')`],
    ["a b", "a key consists of ASCII letters, digits, '_', '-', '$', '.' and '/'"],
  ])("for %s", (text, hint) => {
    expect(hintOf(text)).toBe(hint);
  });

  it.each([
    ["key=1", " ", "'"],
    ["key=[1 ", " ", "'"],
    ["key={a", " ", "'}"],
    ["key=range(1", " ", "x"],
    ["key=f(", " ", "]"],
    ["key={{", " ", "a"],
    ["key=${a ", ") ", "x"],
    ["key={", "'k':1,", ""],
    ["key={", "k=1,", "}"],
  ])("take their share of the time, also for %j and many %j", async (head, repeated, end) => {
    const hint = (count: number) => hintOf(head + repeated.repeat(count) + end);
    expect(await growth(hint, 2_000)).toBeLessThan(40);
  });

  it("show an override that works and means what was typed", () => {
    let shown = 0;
    const text = fc.string({ unit: fc.constantFrom(..."ab1 é#'\"\\=:$}][{,();&\n".split("")) });
    fc.assert(
      fc.property(text, (value) => {
        try {
          parseOverride(`key=${value}`);
        } catch (error) {
          const hint = isConfigError(error) ? error.details.hint : undefined;
          const [, suggestion, typed] =
            /^(?:quote the value|as text it needs quotes): (.*) \(in a shell: (.*)\)$/s.exec(
              hint ?? "",
            ) ?? [];
          if (suggestion === undefined || typed === undefined) return;
          shown++;
          for (const override of [suggestion, asShellReads(typed)]) {
            const suggested = parseOverride(override).value;
            expect(suggested && plain(suggested)).toBe(value.trim());
          }
        }
      }),
      { numRuns: runs(1000) },
    );
    expect(shown).toBeGreaterThan(100);
  });
});

describe("what other languages write", () => {
  const LIST = "a list stands in brackets: ";
  const DICT = "in a dict, a colon stands between key and value: ";
  const TEMPLATE = "an interpolation is written ${KEY}: ";
  const OWN = "each override is an argument of its own: ";
  it.each([
    ["k=(8,16)", LIST + inShell("k=[8,16]")],
    ["k=(8,)", LIST + inShell("k=[8]")],
    ["k=(8 16)", LIST + inShell("k=[8,16]")],
    ["k={8,16}", LIST + inShell("k=[8,16]")],
    ["k=list(1,2)", LIST + inShell("k=[1,2]")],
    ["k=tuple([1,2])", LIST + inShell("k=[1,2]")],
    ["k=((1,2),(3,4))", LIST + inShell("k=[[1,2],[3,4]]")],
    ["k=[(1,2),3]", LIST + inShell("k=[[1,2],3]")],
    ["k={a:(1,2)}", LIST + inShell("k={a:[1,2]}")],
    ["k={a=b}", DICT + inShell("k={a:b}")],
    ["k={a=(1,2)}", DICT + inShell("k={a:[1,2]}")],
    ["k={'a'=b}", DICT + inShell("k={a:b}")],
    ["k=dict(a=b,c=1)", DICT + inShell("k={a:b,c:1}")],
    ["k={a.b}", TEMPLATE + inShell("k=${a.b}")],
    ["k={{ a.b }}", TEMPLATE + inShell("k=${a.b}")],
    ["k=${{a.b}}", TEMPLATE + inShell("k=${a.b}")],
    ["k=$(a.b)", TEMPLATE + inShell("k=${a.b}")],
    ["k=http://{a.b}:{c}/", TEMPLATE + inShell("k=http://${a.b}:${c}/")],
    ["k=1;b=2", `${OWN}k=1 b=2`],
    ["k=1,b=2", `${OWN}k=1 b=2`],
    ["k=1 b.c=2", `${OWN}k=1 b.c=2`],
    ["k=1 ~b +c=[1,2] db@p=q", `${OWN}k=1 '~b' '+c=[1,2]' db@p=q`],
    ["k=1,2 b=3,4", `${OWN}k=1,2 b=3,4`],
  ])("%s is shown as an override has it", (text, hint) => {
    expect(hintOf(text)).toBe(hint);
  });

  it.each(["k=(new) run", "k=f(x)", "k=http://x?a=1&b=2", "k=$(pwd)/x", "k=a;b", "k=a=b,c=d"])(
    "%s is text",
    (text) => {
      expect(hintOf(text)).toMatch(/^(?:quote|as text)/);
    },
  );

  /** A value, as an override has it and as Python has it. */
  const { both } = fc.letrec<{ both: readonly [string, string] }>((tie) => ({
    both: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      fc
        .constantFrom("1", "-2.5", "a", "true", "null")
        .map((text): readonly [string, string] => [text, text]),
      fc
        .array(tie("both"), { minLength: 2, maxLength: 3 })
        .map((items): readonly [string, string] => [
          `[${items.map(([own]) => own).join(",")}]`,
          `(${items.map(([, foreign]) => foreign).join(", ")})`,
        ]),
      fc
        .uniqueArray(fc.tuple(fc.constantFrom("x", "y_1", "z"), tie("both")), {
          minLength: 1,
          maxLength: 3,
          selector: ([key]) => key,
        })
        .map((entries): readonly [string, string] => [
          `{${entries.map(([key, [own]]) => `${key}:${own}`).join(",")}}`,
          `{${entries.map(([key, [, foreign]]) => `${key}=${foreign}`).join(", ")}}`,
        ]),
    ),
  }));

  it("is proposed with the same value, however deep its parts are", () => {
    let tried = 0;
    fc.assert(
      fc.property(both, ([own, foreign]) => {
        if (own === foreign) return;
        const hint = hintOf(`k=${foreign}`) ?? "";
        const [, proposal] = /: (k=.*) \(in a shell: /s.exec(hint) ?? [];
        tried++;
        const [meant, shown] = [`k=${own}`, proposal ?? ""].map(
          (text) => parseOverride(text).value,
        );
        expect([foreign, shown && plain(shown)]).toEqual([foreign, meant && plain(meant)]);
      }),
      { numRuns: runs(500) },
    );
    expect(tried).toBeGreaterThan(100);
  });
});
