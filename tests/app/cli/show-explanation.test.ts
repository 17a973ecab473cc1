import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { originsText } from "../../../src/app/cli/show-explanation.ts";
import { originLines } from "../../../src/engine/compose/index.ts";
import {
  type ConfigNode,
  list,
  map,
  type ScalarValue,
  scalar,
} from "../../../src/engine/values/node.ts";
import type { Origin } from "../../../src/engine/values/origin.ts";
import { toObject } from "../../../src/engine/values/plain-objects.ts";
import { readYaml } from "../../../src/engine/values/yaml/reader.ts";
import { writeYaml } from "../../../src/engine/values/yaml/writer.ts";
import { program } from "./program.ts";

const CONFIG = {
  "conf/config.yaml": "defaults:\n- db: mysql\n- _self_\nname: x # y\nnote: |\n  two\n  lines\n",
  "conf/db/mysql.yaml": "port: 3306\nuser: root\n",
  "conf/db/pg.yaml": "defaults: [common]\nport: 5432\n",
  "conf/db/common.yaml": "port: 1\nhosts: [a, b]\n",
};

/** Each line of `--origins` is the line of `--cfg`, and at most a comment behind it. */
function expectSameLines(commented: string, plain: string) {
  const lines = commented.split("\n");
  expect(lines).toHaveLength(plain.split("\n").length);
  for (const [index, line] of plain.split("\n").entries()) {
    expect(lines[index]?.startsWith(line)).toBe(true);
    expect(lines[index]?.slice(line.length)).toMatch(/^(?: {2,}# .*)?$/su);
  }
}

describe("a wrong argument of --explain", () => {
  test.each([
    [["--explain", "db.port", "name"], "--explain takes one key: explain each key"],
    [["--explain", "db.port", "--explain", "name"], "argument --explain: takes one key"],
    [["--explain", "name", "--explain=db.port"], "explain each key with a command of its own"],
    [["--explain", "db.port=5"], "it takes a key without a value: --explain db.port"],
    [["--explain", "+db.port=5"], "it takes a key without a value: --explain db.port"],
  ])("is refused with what to type: %j", async (argv, expected) => {
    const { exitCode, stderr, stdout } = await program(CONFIG).run(argv);
    expect([exitCode > 0, stdout, stderr]).toEqual([true, "", expect.stringContaining(expected)]);
  });
});

describe("--cfg --origins", () => {
  test("prints the same YAML with what set each line, in one column", async () => {
    const { run } = program(CONFIG);
    const { stdout } = await run(["--cfg", "job", "--origins", "db.port=7", "+a=[1]"]);
    expect(stdout).toBe(
      [
        "db:            # conf/db/mysql.yaml:1:1",
        "  port: 7      # override 'db.port=7'",
        "  user: root   # conf/db/mysql.yaml:2:7",
        "name: x        # conf/config.yaml:4:7",
        "note: 'two",
        "",
        "  lines",
        "",
        "  '            # conf/config.yaml:5:7",
        "a:             # override '+a=[1]'",
        "- 1            # override '+a=[1]'",
        "",
      ]
        .join("\n")
        .replaceAll(/ {3}#/g, "  #"),
    );
  });

  test("is for --cfg alone, and shows packages", async () => {
    const { run } = program(CONFIG);
    expect((await run(["--origins"])).exitCode).toBe(1);
    for (const whenBare of ["run", "show"] as const)
      for (const other of [["--explain", "db.port"], ["--diff", "db.port=1"], ["--info"]])
        expect((await program(CONFIG, { whenBare }).run(["--origins", ...other])).exitCode).toBe(1);
    const part = await run(["--cfg", "job", "-p", "db", "--origins"]);
    expect(part.stdout).toMatch(/^# @package db\nport: 3306 {2}# conf/);
    const lone = await run(["--cfg", "job", "-p", "db.port", "--origins"]);
    expect(lone.stdout).toBe("3306  # conf/db/mysql.yaml:1:7\n");
  });

  test.each(["job", "hydra", "all"])("--cfg %s is the same without the comments", async (view) => {
    const { run } = program(CONFIG);
    const plain = await run(["--cfg", view]);
    const commented = await run(["--cfg", view, "--origins"]);
    expectSameLines(commented.stdout, plain.stdout);
    expect(toObject(readYaml(commented.stdout))).toEqual(toObject(readYaml(plain.stdout)));
  });

  test("--json lists every value with its origin", async () => {
    const { run } = program(CONFIG);
    const { stdout } = await run(["--cfg", "job", "-p", "db", "--origins", "--json", "+db.n=.inf"]);
    const { values, version } = JSON.parse(stdout);
    expect(version).toBe(1);
    expect(values).toEqual([
      {
        key: "db.port",
        value: 3306,
        origin: { kind: "file", file: "conf/db/mysql.yaml", line: 1, column: 7 },
      },
      {
        key: "db.user",
        value: "root",
        origin: { kind: "file", file: "conf/db/mysql.yaml", line: 2, column: 7 },
      },
      {
        key: "db.n",
        value: ".inf",
        origin: { kind: "override", override: "+db.n=.inf", index: 0 },
      },
    ]);
  });

  test("any tree: without the comments the text and the values are those of --cfg", () => {
    fc.assert(
      fc.property(trees, (tree) => {
        const plain = writeYaml(tree);
        const commented = originsText(originLines(tree));
        expectSameLines(commented, plain);
        expect(toObject(readYaml(commented))).toEqual(toObject(readYaml(plain)));
      }),
    );
  });
});

const origins: fc.Arbitrary<Origin> = fc
  .string({ unit: "binary" })
  .map((text) => ({ kind: "override", text, index: 0 }));

const texts = fc
  .oneof(
    fc.string(),
    fc.string({ unit: "grapheme", maxLength: 200 }),
    fc
      .array(fc.constantFrom("a b", "# c", "\n", "  ", "|", "'", '"', ":", "x".repeat(50)))
      .map((parts) => parts.join(" ")),
  )
  // Half an interpolation cannot be read, so that no config holds one.
  .filter((text) => !text.includes("${"));

const trees: fc.Arbitrary<ConfigNode> = fc.letrec<{ node: ConfigNode }>((tie) => ({
  node: fc.oneof(
    { depthSize: "small" },
    fc
      .tuple(
        fc.oneof<fc.Arbitrary<ScalarValue>[]>(
          texts,
          fc.bigInt(),
          fc.boolean(),
          fc.constant(null),
          fc.uint8Array({ maxLength: 100 }),
        ),
        origins,
      )
      .map(([value, origin]) => scalar(value, origin)),
    fc
      .tuple(fc.array(tie("node"), { maxLength: 4 }), origins)
      .map(([items, origin]) => list(items, origin)),
    fc
      .tuple(fc.array(fc.tuple(texts, tie("node")), { maxLength: 4 }), origins)
      .map(([entries, origin]) => map(entries, origin)),
  ),
})).node;

describe("--explain", () => {
  test("names the chain of defaults lists, and all that was replaced, newest first", async () => {
    const { run } = program(CONFIG);
    const { stdout } = await run(["--explain", "db.port", "db=pg", "db.port=7"]);
    expect(stdout).toBe(
      [
        "db.port = 7",
        "  set by override 'db.port=7'",
        "  replaced 5432 of conf/db/pg.yaml:2:7",
        "    chosen by db=pg (override 'db=pg')",
        "    in the composition of config",
        "  replaced 1 of conf/db/common.yaml:1:7",
        "    listed as db/common (conf/db/pg.yaml:1:12)",
        "    chosen by db=pg (override 'db=pg')",
        "    in the composition of config",
        "",
      ].join("\n"),
    );
  });

  test("--json holds the same", async () => {
    const { run } = program(CONFIG);
    const { stdout } = await run(["--explain", "db.port", "db=pg", "db.port=7", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({
      key: "db.port",
      value: 7,
      origin: { kind: "override", override: "db.port=7", index: 1 },
      broughtInBy: [],
      replaced: [
        {
          value: 5432,
          origin: { kind: "file", file: "conf/db/pg.yaml", line: 2, column: 7 },
          broughtInBy: [{ config: "config" }, { config: "db/pg", package: "db", choice: "db=pg" }],
        },
        { value: 1 },
      ],
    });
  });

  test("suggests the nearest key", async () => {
    const { run } = program(CONFIG);
    const { exitCode, stderr } = await run(["--explain", "db.prot"]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain("db.port");
  });
});

describe("--diff", () => {
  test("shows what more overrides change", async () => {
    const { run } = program(CONFIG);
    const { exitCode, stdout } = await run(["name=z", "--diff", "db=pg", "+lr=0.1"]);
    expect(exitCode).toBe(0);
    expect(stdout).toBe(
      [
        "changed db.port",
        "  - 3306  # conf/db/mysql.yaml:1:7",
        "  + 5432  # conf/db/pg.yaml:2:7",
        "removed db.user",
        '  - "root"  # conf/db/mysql.yaml:2:7',
        "added db.hosts",
        '  + ["a", "b"]  # conf/db/common.yaml:2:8',
        "added lr",
        "  + 0.1  # override '+lr=0.1'",
        "",
      ].join("\n"),
    );
  });

  test("prints nothing where nothing differs", async () => {
    const { run } = program(CONFIG);
    expect(await run(["--diff", "db.port=3306"])).toEqual({ exitCode: 0, stdout: "", stderr: "" });
    expect((await run(["--diff", "db=mysql", "--json"])).stdout).toBe(
      `${JSON.stringify({ version: 1, differences: [] }, null, 2)}\n`,
    );
  });

  test("compares two runs, without any config tree", async () => {
    const { run } = program({
      "a=1/config.yaml": "x: 1\ny: ${x}\n",
      "b/.hydra/config.yaml": "x: 1.0\ny: ${x}\n",
    });
    const { stdout } = await run(["--diff", "a=1", "b"]);
    expect(stdout).toBe(
      "changed x\n  - 1    # a=1/config.yaml:1:4\n  + 1.0  # b/.hydra/config.yaml:1:4\n",
    );
    const json = await run(["--diff", "a=1", "b", "--json"]);
    expect(JSON.parse(json.stdout).differences).toMatchObject([
      { key: "x", kind: "changed", before: { value: 1 }, after: { origin: { line: 1 } } },
    ]);
    const missing = await run(["--diff", "a=1", "c"]);
    expect(missing.exitCode).toBe(1);
    expect(missing.stderr).toContain("'c' is not a run directory");
  });

  test("wants something to compare with", async () => {
    const { run } = program(CONFIG);
    expect((await run(["db=pg", "--diff"])).exitCode).toBe(2);
  });

  test("--resolve compares what interpolations lead to", async () => {
    const { run } = program({ "conf/config.yaml": "a: 1\nb: ${a}\n" });
    expect((await run(["--diff", "a=2"])).stdout).not.toContain("changed b");
    expect((await run(["--resolve", "--diff", "a=2"])).stdout).toContain("changed b\n  - 1");
  });
});
