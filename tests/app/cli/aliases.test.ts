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

describe("aliases of a settings file", () => {
  const files = {
    "hydraconf.yaml": "aliases: {lr: opt.rate, fast: epochs=1, d: db}\n",
    "conf/config.yaml": "defaults:\n- db: a\n- _self_\nopt: {rate: 0.1}\nepochs: 9\n",
    "conf/db/a.yaml": "x: 1\n",
    "conf/db/b.yaml": "x: 2\n",
  };
  const options = { settingsFiles: true, whenBare: "show" } as object;

  test.each(["1.1", "1.3", "1.4"])("are expanded in the dialect %s", async (versionBase) => {
    const { run } = program(files, { ...options, versionBase });
    const { stdout } = await run(["lr=2", "fast", "d=b", "+opt.more=3"]);
    expect(stdout).toBe("db:\n  x: 2\nopt:\n  rate: 2\n  more: 3\nepochs: 1\n");
    expect((await run(["~d"])).stdout).toBe("opt:\n  rate: 0.1\nepochs: 9\n");
    expect((await run(["d=c"])).stderr).toContain("Could not find 'db/c'");
    expect((await run(["lr"])).stderr).toContain("use lr=VALUE");
  });

  test.each(["1.3", "1.4"] as const)("are listed by --info in the dialect %s", async (dialect) => {
    const { run } = program(files, { ...options, choosesDialect: true, dialect });
    const table = "lr -> opt.rate=<value>\nfast -> epochs=1\nd -> db=<value>\n";
    expect((await run(["--info", "aliases"])).stdout).toContain(table);
  });

  test("--help explains what they stand for", async () => {
    const { run } = program(files, options);
    const { stdout } = await run(["--help", "lr", "fast", "d", "fast"]);
    expect(stdout).toMatch(
      /^opt\.rate\n {2}default +0\.1 .*^epochs\n {2}default +9 .*^db\n {2}group/ms,
    );
    expect((await run(["--help", "lr", "lr=2"])).stdout).toMatch(/^opt\.rate\n {2}value +2 /);
  });

  test("those of the primary config come first", async () => {
    const config = `${files["conf/config.yaml"]}hydra: {override: {aliases: {lr: epochs}}}\n`;
    const { run } = program(
      { ...files, "conf/config.yaml": config },
      { ...options, versionBase: "1.4" },
    );
    expect((await run(["lr=2", "d=b"])).stdout).toBe("db:\n  x: 2\nopt:\n  rate: 0.1\nepochs: 2\n");
  });

  test.each([
    ["aliases: {lr: 3}", "An alias must be a text"],
    ["aliases: [lr]", "`aliases` must be a map"],
    ['aliases: {lr: "+a"}', "A key alias target cannot have an operator"],
    ['aliases: {"a b(": c}', "Invalid override alias 'a b('"],
  ])("%s is refused at its place", async (text, message) => {
    const { run } = program({ ...files, "hydraconf.yaml": `${text}\n` }, options);
    const { exitCode, stderr } = await run(["lr=2"]);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(message)]);
    expect(stderr).toMatch(/hydraconf\.yaml:1:\d+/);
  });

  test("programs without settings files do not have them", async () => {
    const { run } = program(files, { whenBare: "show" });
    expect((await run(["lr=2"])).stderr).toContain("Could not override 'lr'");
  });
});
