import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { shellQuote } from "../../src/foundation/text/shell-words.ts";
import { commandsIn } from "../../src/language/command-words.ts";

const texts = (text: string, kind: "shell" | "make" | "markdown" = "shell") =>
  commandsIn(text, kind).map((words) => words.map((word) => word.text));

describe("words of commands", () => {
  it.each([
    ["python a.py x=1 'y=a b' \"z=c\"\n", [["python", "a.py", "x=1", "y=a b", "z=c"]]],
    [
      "python a.py \\\n  x=1 \\\n  y=2 && ls | wc\n",
      [["python", "a.py", "x=1", "y=2"], ["ls"], ["wc"]],
    ],
    ["python a.py x=1 > log 2>&1 # z=3\n", [["python", "a.py", "x=1"]]],
    ["- run: python a.py x=1\n", [["-", "run:", "python", "a.py", "x=1"]]],
    ["python a.py x=\\'a\\' ~y\n", [["python", "a.py", "x='a'", "~y"]]],
  ])("%j", (text, expected) => {
    expect(texts(text)).toEqual(expected);
  });

  it("replaces a variable that is assigned once, and no other", () => {
    const script =
      "LR=0.1\nN=1\nN=2\nfor S in 1 2; do\npython a.py lr=$LR n=${N} s=$S d=$(date)\ndone\n";
    const words = commandsIn(script, "shell").flat().slice(-6);
    const found = words.filter(({ text }) => text.includes("="));
    expect(found.map(({ isExpanded, isKnown, text }) => [text, isKnown, isExpanded])).toEqual([
      ["lr=0.1", true, true],
      ["n=${N}", false, false],
      ["s=$S", false, false],
      ["d=$(date)", false, false],
    ]);
  });

  it("reads blocks of code of Markdown, and not its prose", () => {
    const page =
      "Don't run python a.py x=1\n\n```sh\n$ python a.py x=2\n```\n\n    python a.py x=3\n";
    expect(texts(page, "markdown").map((words) => words.at(-1))).toEqual(["x=2", "x=3"]);
  });

  it("knows the variables of Makefiles", () => {
    expect(texts("LR := 0.1\nrun:\n\tpython a.py lr=$(LR) h=$$HOME\n", "make").at(-1)).toEqual([
      "python",
      "a.py",
      "lr=0.1",
      "h=$$HOME",
    ]);
  });

  it("finds every quoted word again, in its place", () => {
    const word = fc.string({ unit: "grapheme-ascii", minLength: 1 });
    fc.assert(
      fc.property(fc.array(word, { minLength: 1 }), (words) => {
        const text = `${words.map(shellQuote).join(" ")}\n`;
        const [found = []] = commandsIn(`${text}`, "shell");
        expect(found.map((one) => one.text)).toEqual(words);
        expect(found.map(({ end, start }) => text.slice(start, end))).toEqual(
          words.map(shellQuote),
        );
      }),
    );
  });
});
