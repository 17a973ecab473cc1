import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  argumentEdit,
  argumentText,
  type NamedArgument,
  withoutArgument,
} from "../../../src/language/migrate/python-edits.ts";
import { editedText } from "../../../src/language/migrate/text-edits.ts";

const VERSION: NamedArgument = ["version_base", 2];
const PATH: NamedArgument = ["config_path", 0];

const at = (source: string) => ({ file: "/train.py", source, line: 1 });

function edited(source: string, argument: NamedArgument, value: string): string {
  const edit = argumentEdit(at(source), argument, value);
  return edit === undefined ? source : editedText(source, [edit]);
}

describe("edits of a declaration's arguments", () => {
  it("replaces the whole value, whatever it is", () => {
    const cases = [
      [
        '@hydra.main(config_path=os.path.join("..", "conf"), config_name="c")',
        '@hydra.main(config_path=".", config_name="c")',
      ],
      ['@hydra.main(config_path=["a", "b"][0])', '@hydra.main(config_path=".")'],
      ['@hydra.main("a", "c")', '@hydra.main(".", "c")'],
      ['@hydra.main(config_path="a" # why\n)', '@hydra.main(config_path="." # why\n)'],
      ['@hydra.main(config_path=("a"\n  "b"),\n)', '@hydra.main(config_path=".",\n)'],
    ];
    for (const [before = "", after] of cases) expect(edited(before, PATH, '"."')).toBe(after);
  });

  it("adds an argument where Python takes it", () => {
    const cases = [
      ["@hydra.main()", '@hydra.main(version_base="1.3")'],
      ['@hydra.main(config_path="a")', '@hydra.main(version_base="1.3", config_path="a")'],
      ['@hydra.main("a", "c")', '@hydra.main("a", "c", version_base="1.3")'],
      ['@hydra.main("a", # where\n)', '@hydra.main("a", version_base="1.3", # where\n)'],
      [
        '@hydra.main("a", config_name="c")',
        '@hydra.main("a", version_base="1.3", config_name="c")',
      ],
      ["@hydra.main(**ARGUMENTS)", '@hydra.main(version_base="1.3", **ARGUMENTS)'],
    ];
    for (const [before = "", after] of cases) expect(edited(before, VERSION, '"1.3"')).toBe(after);
  });

  it("removes an argument with its comma", () => {
    const cases = [
      ['@hydra.main(config_path="a", strict=True)', '@hydra.main(config_path="a")'],
      ['@hydra.main(strict=True, config_path="a")', '@hydra.main(config_path="a")'],
      [
        '@hydra.main(config_path="a", strict=f(1, 2), config_name="c")',
        '@hydra.main(config_path="a", config_name="c")',
      ],
    ];
    for (const [before = "", after] of cases) {
      const edit = withoutArgument(at(before), "strict");
      expect(edit && editedText(before, [edit])).toBe(after);
    }
    expect(withoutArgument(at("@hydra.main(strict=True)"), "strict")).toBeUndefined();
  });

  it("what is set is read again, and all others stay", () => {
    const value = fc.constantFrom(
      '"a"',
      "None",
      'join("a", "b")',
      "[1, 2][0]",
      '"a,b"',
      "{'a': 1}",
    );
    const name = fc.constantFrom("config_path", "config_name", "version_base", "strict");
    const blank = fc.constantFrom("", " ", "\n    ", " # note\n    ");
    const listed = fc.uniqueArray(fc.tuple(name, value), {
      selector: ([one]) => one,
      maxLength: 4,
    });
    fc.assert(
      fc.property(listed, blank, fc.boolean(), name, value, (given, gap, hasComma, set, wanted) => {
        const written = given.map(([one, text]) => `${one}=${text}`).join(`,${gap}`);
        const source = `@hydra.main(${written}${hasComma && written !== "" ? "," : ""}${gap})\ndef main(): ...\n`;
        const after = edited(source, [set, 9], wanted);
        const read = (one: string) => argumentText(at(after), [one, 9]);
        expect(read(set)).toBe(wanted);
        for (const [one, text] of given) if (one !== set) expect(read(one)).toBe(text);
        const removal = withoutArgument(at(after), set);
        if (removal !== undefined) {
          const without = editedText(after, [removal]);
          expect(argumentText(at(without), [set, 9])).toBeUndefined();
          for (const [one, text] of given)
            if (one !== set) expect(argumentText(at(without), [one, 9])).toBe(text);
        }
      }),
    );
  });
});
