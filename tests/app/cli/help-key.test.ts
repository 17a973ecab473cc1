import { describe, expect, test } from "vitest";
import { program } from "./program.ts";

const CONFIG = {
  "conf/config.yaml": "defaults:\n  - db: mysql\n  - _self_\nlr: 0.1\nmode: fast\n",
  "conf/db/mysql.yaml": "host: m\nport: 3306\nuser: ???\n",
  "conf/db/pg.yaml": "host: p\nport: 5432\n",
};
const schema = {
  properties: {
    lr: {
      type: "number",
      exclusiveMinimum: 0,
      description: "How fast it learns.",
      examples: [0.1],
    },
    mode: { enum: ["fast", "exact"] },
    db: {
      description: "Where the data is.",
      properties: { port: { type: ["integer", "null"], description: "A TCP port." }, host: true },
    },
  },
};

const help = async (argv: readonly string[], options = {}) => {
  const { exitCode, stdout, stderr } = await program(CONFIG, options).run(["--help", ...argv]);
  return { exitCode, stderr, lines: stdout.split("\n") };
};

describe("--help KEY", () => {
  test("a key: default, type, what is allowed, what it means", async () => {
    const { lines } = await help(["lr"], { schema });
    expect(lines).toEqual([
      "lr",
      "  default      0.1  (conf/config.yaml:4:5)",
      "  type         a number",
      "  allowed      more than 0",
      "  examples     0.1",
      "  description  How fast it learns.",
      "",
    ]);
    expect((await help(["mode"], { schema })).lines).toContain("  allowed  one of fast, exact");
  });

  test("--json: the same as data", async () => {
    const { lines } = await help(["lr", "db", "--json"], { schema });
    expect(JSON.parse(lines.join("\n"))).toEqual({
      version: 1,
      keys: [
        {
          key: "lr",
          default: "0.1  (conf/config.yaml:4:5)",
          type: "a number",
          allowed: "more than 0",
          examples: "0.1",
          description: "How fast it learns.",
        },
        expect.objectContaining({
          key: "db",
          options: ["mysql", "pg"],
          chosen: ["db=mysql"],
          keys: expect.arrayContaining(["port: A TCP port."]),
        }),
      ],
    });
  });

  test("an example that is a mapping or a list, as an override writes it", async () => {
    const examples = [{ lr: 0.1, names: ["a"] }, [1, null], true, "x=[y]"];
    const { lines } = await help(["mode"], { schema: { properties: { mode: { examples } } } });
    expect(lines).toContain('  examples  {lr: 0.1, names: ["a"]}, [1, null], true, x=[y]');
  });

  test("a key that has to be set, and once it is", async () => {
    expect((await help(["db.user"])).lines[1]).toBe(
      "  default  none; it must be set  (conf/db/mysql.yaml:3:7)",
    );
    expect((await help(["db.user", "db.user=me"])).lines.slice(1, 3)).toEqual([
      "  value    \"me\"  (override 'db.user=me')",
      "  default  none; it must be set  (conf/db/mysql.yaml:3:7)",
    ]);
  });

  test("an override's value, and what it would be without", async () => {
    const { lines } = await help(["db.port", "db=pg", "db.port=1"], { schema });
    expect(lines).toContain("  value        1  (override 'db.port=1')");
    expect(lines).toContain("  default      5432  (conf/db/pg.yaml:2:7)");
    expect(lines).toContain("  type         an integer or null");
  });

  test("a group: how to choose, the options, and the keys below it", async () => {
    const { lines } = await help(["db"], { schema });
    expect(lines).toContain("  group        choose with db=OPTION");
    expect(lines).toContain("  options      mysql, pg");
    expect(lines).toContain("  chosen       db=mysql");
    expect(lines).toContain("  keys         port: A TCP port.");
    expect(lines).toContain("               host");
  });

  test("without a schema the tree says what it can, also of Hydra's own keys", async () => {
    expect((await help(["db.port"])).lines).toContain("  type     an integer");
    expect((await help(["hydra.job.chdir"])).lines).toContain("  type     Optional[bool]");
    expect((await help(["hydra/job_logging"])).lines.join("\n")).toContain("disabled, none");
  });

  test("several keys; one that is not there", async () => {
    expect((await help(["lr", "mode"])).lines.filter((line) => /^\w/.test(line))).toEqual([
      "lr",
      "mode",
    ]);
    const { exitCode, stderr } = await help(["db.prot"]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain("Did you mean 'db.port'?");
  });
});

test("an empty word is no key, but an override that cannot be read", async () => {
  expect((await help([""])).stderr).toContain("Error parsing override ''");
});

test("--schema prints the schema, or says that there is none", async () => {
  const { run } = program(CONFIG, { schema });
  expect(JSON.parse((await run(["--schema"])).stdout)).toEqual(schema);
  const without = await program(CONFIG).run(["--schema"]);
  expect([without.exitCode, without.stdout]).toEqual([1, ""]);
  expect(without.stderr).toContain("declares no schema");
});

describe("--help KEY of a config with comments", () => {
  const files = {
    "conf/config.yaml": `# @package _global_
# The seed.
defaults:
  - db: mysql
  - _self_

# How fast it learns;
# smaller is slower.
lr: 0.1  # or less

# Not about steps.

steps: "# 10"
# What runs.
run:
  # How often.
  every: 2
  # In one line.
  flow: {a: 1, b: 2}  # both
name: |
  # text
after: 1
`,
    "conf/db/mysql.yaml": "# @package db\nhost: m # where\n",
  };

  test.each([
    ["lr", "How fast it learns; smaller is slower. or less"],
    ["lr lr=3", "How fast it learns; smaller is slower. or less"],
    ["steps", undefined],
    ["run", "What runs."],
    ["run.every", "How often."],
    ["run.flow", "In one line. both"],
    ["run.flow.a", undefined],
    ["after", undefined],
    ["db.host", "where"],
  ])("%s shows what the file says of it", async (words, comment) => {
    const { stdout } = await program(files).run(["--help", ...words.split(" ")]);
    expect(/^ {2}comment +(.*)$/m.exec(stdout)?.[1]).toBe(comment);
  });
});
