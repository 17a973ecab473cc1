import { describe, expect, test } from "vitest";
import { program } from "./program.ts";

const FILES = {
  "conf/config.yaml": `hydra:
  override:
    aliases: {lr: opt.lr, "bs,batch": "data[size]", fast: epochs=1, loop: lr}
opt: {lr: 0.1}
data: {size: 8}
epochs: 10
lr: none
`,
};
const SHOWS = { dialect: "1.4", whenBare: "show" } as const;
const shown = (lr: string, size: string, epochs: string, own = "none") =>
  `opt:\n  lr: ${lr}\ndata:\n  size: ${size}\nepochs: ${epochs}\nlr: ${own}\n`;

describe("aliases of overrides", () => {
  test.each([
    { argv: ["lr=1"], gives: shown("1", "8", "10") },
    { argv: ["batch=4", "fast"], gives: shown("0.1", "4", "1") },
    // What an alias stands for is not expanded again.
    { argv: ["loop=x"], gives: shown("0.1", "8", "10", "x") },
    // A word that is more than the name of a whole override is no alias.
    { argv: ["++fast=2"], gives: `${shown("0.1", "8", "10")}fast: 2\n` },
  ])("$argv", async ({ argv, gives }) => {
    const { run } = program(FILES, SHOWS);
    expect((await run(argv)).stdout).toBe(gives);
  });

  test("an error tells what was typed, and a key needs a value", async () => {
    const { run } = program(FILES, SHOWS);
    expect((await run(["+bs=4"])).stderr).toContain(
      "Alias expansion:\n  '+bs=4' -> '+data[size]=4'",
    );
    const bare = await run(["lr"]);
    expect(bare.stderr).toContain("Override alias 'lr' requires a value for 'lr'");
    expect(bare.stderr).toContain("use lr=VALUE");
  });

  test("--info aliases lists them, and only Hydra 1.4 has them", async () => {
    const { run } = program(FILES, SHOWS);
    expect((await run(["--info", "aliases"])).stdout).toBe(
      "== Override aliases ==\n\nlr -> opt.lr=<value>\nbs -> data[size]=<value>\n" +
        "batch -> data[size]=<value>\nfast -> epochs=1\nloop -> lr=<value>\n\n",
    );
    const older = program(
      { "conf/config.yaml": "lr: 1\n" },
      { choosesDialect: true, whenBare: "show" },
    );
    const { exitCode, stderr } = await older.run(["--info", "aliases"]);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("--version-base 1.4")]);
    const newer = await older.run(["--version-base", "1.4", "--info", "aliases"]);
    expect(newer.stdout).toBe("No override aliases defined.\n");
  });

  test("a program of Hydra 1.3 does not know the topic", async () => {
    const { run } = program({ "conf/config.yaml": "lr: 1\n" }, { whenBare: "show" });
    const { exitCode, stderr } = await run(["--info", "aliases"]);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("invalid choice: 'aliases'")]);
  });
});
