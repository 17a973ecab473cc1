import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { withSyntaxRemedy } from "../../../src/engine/compose/syntax-remedy.ts";
import { parseOverrides } from "../../../src/engine/overrides/index.ts";
import { dialectNamed } from "../../../src/engine/values/dialect.ts";
import { isConfigError } from "../../../src/engine/values/errors.ts";
import { createResolveContext } from "../../../src/engine/values/resolution/context.ts";
import { writeYaml } from "../../../src/engine/values/yaml/writer.ts";
import { runs } from "../../runs.ts";
import { composeOn, type Files, snapshotOf } from "./in-memory.ts";

const TREE: Files = {
  config:
    "defaults:\n- db: pg\n- db@backup: pg\n- _self_\nlr: 0.1\nname: n\nlayers: [1, 2]\nnames: [a, b c]\nopt: {lr: 1}\n",
  "db/pg": "a: 1\n",
  "db/my": "a: 2\n",
};

const WORD = "write KEY=VALUE or GROUP=OPTION, without spaces around the '='";
const WHOLE = "a list is replaced as a whole: ";
const SPLIT = "a shell splits an override at its blanks: put all of it in quotes, like ";

describe.each(["1.3", "1.4"] as const)("a text that is no override of %s", (dialect) => {
  const context = createResolveContext({ env: {}, dialect: dialectNamed(dialect) });
  const snapshot = snapshotOf(TREE);
  const compose = (texts: readonly string[]) => composeOn(snapshot, texts, context);

  const hintOf = (texts: readonly string[]): string | undefined => {
    try {
      parseOverrides(texts, { dialect: context.dialect });
    } catch (error) {
      const told = withSyntaxRemedy(error, { texts, compose });
      if (isConfigError(told)) return told.details.hint;
    }
    throw new Error("nothing was refused");
  };

  it.each([
    [["layers+=3"], `${WHOLE}layers=[1,2,3]`],
    [["layers+=[3,4]"], `${WHOLE}layers=[1,2,3,4]`],
    [["layers=[5]", "layers+=3"], `${WHOLE}layers=[5,3]`],
    [["names += d"], `${WHOLE}names=[a,'b c',d]`],
    [["lrr+=0.2"], "use lr=0.2, or +lrr=0.2 to add the key"],
    [["lyers=(8,16)"], "use layers=[8,16], or +lyers=[8,16] to add the key"],
    [["lr=0.1,name=x"], "each override is an argument of its own: lr=0.1 name=x"],
    [["nope: x"], "use +nope=x to add the key"],
    [["lr+=0.2"], "an override assigns a value: lr=0.2"],
    [["db.my"], "use db=my"],
    [["db:my"], "use db=my"],
    [["db/my"], "use db=my"],
    [["db@backup.my"], "use db@backup=my"],
    [["hydra/launcher.basic"], "use hydra/launcher=basic"],
    [["lr.0.2"], "use lr=0.2"],
    [["name.x"], "use name=x"],
    [["opt.lr"], "a value follows the key: opt.lr=VALUE"],
    [["db.sqlite"], WORD],
    [["x.y"], WORD],
    [["name=my", "run"], `${SPLIT}'name=my run'`],
    [["lr=1", "name=my", "first", "run", "opt.lr=2"], `${SPLIT}'name=my first run'`],
    [["name=my", "lr", "0.3"], WORD],
    [["layers=8", "16"], "a list stands in brackets: layers=[8,16] (in a shell: 'layers=[8,16]')"],
    [["layer=[8,", "16]"], "use layers=[8,16], or +layer=[8,16] to add the key"],
    [["lr=0.1", "x"], WORD],
    [["lr"], "a value follows the key: lr=VALUE"],
    [["db"], "use db=my, or db=pg"],
    [["db@backup"], "use db@backup=my, or db@backup=pg"],
    [["db=pg", "run"], WORD],
    [
      ["lr=0.1", "0.2"],
      "compose once for each value, or use the mode multirun, which ignores sweeps, and the values of a sweep have commas between them: lr=0.1,0.2",
    ],
    [["run"], WORD],
  ])("%j", (texts, hint) => {
    expect(hintOf(texts)).toBe(hint);
  });

  it("is told without a proposal where its key would be far too deep", () => {
    const deep = "a.".repeat(600);
    expect(hintOf([`${deep}a`])).toBe(WORD);
    expect(hintOf(["name=my", `${deep}a`])).toBe(`${SPLIT}'name=my ${deep}a'`);
    expect(hintOf([`${deep}a+=1`])).toContain("is refused, too: ");
  });

  it("is tried with a few of its separators, and the rest composed once", () => {
    let composed = 0;
    const texts = [`${"opt.".repeat(100)}x`];
    try {
      parseOverrides(texts, { dialect: context.dialect });
    } catch (error) {
      const typed = {
        texts,
        compose: (others: readonly string[]) => {
          composed++;
          return compose(others);
        },
      };
      const told = withSyntaxRemedy(error, typed);
      expect(composed).toBe(0);
      expect(isConfigError(told) && told.details.hint).toBe(WORD);
    }
    expect(composed).toBeGreaterThan(0);
    expect(composed).toBeLessThan(10);
  });

  it("works as the hint proposes it, and changes nothing else", () => {
    const item = fc.constantFrom("1", "x", "a b", "[1,2]", "{a:1}", "'q'", "${lr}", "null");
    const key = fc.constantFrom(
      "layers",
      "names",
      "db",
      "db@backup",
      "lr",
      "opt.lr",
      "opt",
      "nope",
    );
    const before = compose([]);
    let tried = 0;
    fc.assert(
      fc.property(key, fc.oneof(item, fc.constantFrom("my", "pg")), (name, text) => {
        for (const typed of [`${name}+=${text}`, `${name}.${text}`, `${name}:${text}`]) {
          let hint: string | undefined;
          try {
            hint = hintOf([typed]);
          } catch {
            continue; // It is an override.
          }
          const [, proposal] =
            /(?:^use |: )(\S+=.*?)(?: to add the key)?(?:, or .*| \(in a shell: .*)?$/.exec(
              hint ?? "",
            ) ?? [];
          if (proposal === undefined) continue;
          tried++;
          const { config } = compose([proposal.trim()]);
          const changed = name.replace(/^db@|\..*$/g, "");
          for (const [id, { value }] of before.config.entries)
            if (id !== changed)
              expect([typed, id, writeYaml(config.entries.get(id)?.value ?? value)]).toEqual([
                typed,
                id,
                writeYaml(value),
              ]);
        }
      }),
      { numRuns: runs(60) },
    );
    // Otherwise the property says nothing.
    expect(tried).toBeGreaterThan(15);
  });
});

describe("an item in brackets, before Hydra 1.4", () => {
  const context = createResolveContext({ env: {} });
  const snapshot = snapshotOf(TREE);
  const compose = (texts: readonly string[]) => composeOn(snapshot, texts, context);
  it.each([
    ["layers[0]=3", "write list items with a dot: layers.0=3"],
    ["layers[2]=3", `${WHOLE}layers=[1,2,3]`],
    ["layers[5]=3", "the list has 2 items"],
  ])("%s", (text, hint) => {
    let told: unknown;
    try {
      parseOverrides([text]);
    } catch (error) {
      told = withSyntaxRemedy(error, { texts: [text], compose });
    }
    expect(isConfigError(told) && told.details.hint).toBe(hint);
  });
});
