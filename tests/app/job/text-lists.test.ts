import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { hydraMain } from "../../../src/index.ts";
import { runs } from "../../runs.ts";

/** What the program reads with these overrides, and what it prints. */
async function read(overrides: readonly string[]) {
  const seen: unknown[] = [];
  let text = "";
  const write = (part: string): void => {
    text += part;
  };
  const declared = {
    ...{ name: "prog", base: "/", configPath: null, configName: "config" },
    store: new Map([["config", { text: "command: []\nmore: {texts: []}\nargs: {}\n" }]]),
    textLists: ["command", "more.texts", "absent.key", "args"],
    freeKeys: ["args"],
    schema: {
      type: "object",
      properties: { command: { type: "array", items: { type: "string" } } },
    },
  };
  const code = await hydraMain(
    declared,
    (config) => {
      seen.push(config.get("command"), config.get("more.texts"));
    },
    {
      argv: [
        ...overrides,
        "hydra.run.dir=/tmp",
        "hydra.output_subdir=null",
        "hydra/job_logging=none",
      ],
      console: { stdout: write, stderr: write },
    },
  );
  return { code, seen, text };
}

describe("lists of texts", () => {
  it.each([
    ["1", "1"],
    ["0.001", "0.001"],
    ["1e-7", "1e-07"],
    ["true", "True"],
    ["'a b'", "a b"],
    ["'10'", "10"],
    ["nan", "nan"],
    ["123456789012345678901234567890", "123456789012345678901234567890"],
  ])("an interpolation that yields %s is the text %j", async (value, text) => {
    const {
      code,
      seen,
      text: printed,
    } = await read([
      `args.n=${value}`,
      "command=[prog,'${args.n}','n=${args.n}']",
      "more.texts=['${args.n}']",
    ]);
    expect(seen, printed).toEqual([["prog", text, `n=${text}`], [text]]);
    expect(code).toBe(0);
  });

  test("a value that was written is refused as before", async () => {
    const { code, text } = await read(["command=[prog,1]"]);
    expect(text).toContain("command[1]");
    expect(code).toBe(1);
  });

  test.each(["null", "[1]", "{a: 1}"])("%s from an interpolation is no text", async (value) => {
    const { code, text } = await read([`args.n=${value}`, "command=['${args.n}']"]);
    expect(text).toContain("command[0]");
    expect(code).toBe(1);
  });

  it("prints the value as a text would contain it", async () => {
    const scalar = fc.oneof(fc.integer(), fc.double(), fc.boolean()).map((value) => String(value));
    await fc.assert(
      fc.asyncProperty(scalar, async (value) => {
        const { seen } = await read([`args.n=${value}`, "command=['${args.n}','-${args.n}']"]);
        const [[alone, within]] = seen as [[string, string]];
        expect(`-${alone}`).toBe(within);
      }),
      { numRuns: runs(50) },
    );
  });

  test("dumps show it as it was written", async () => {
    const { text } = await read(["args.n=1", "command=['${args.n}']", "--cfg", "job"]);
    expect(text).toContain("command:\n- ${args.n}\n");
  });
});
