import { describe, expect, it } from "vitest";
import { program } from "./program.ts";

const NOTE = /^note: /m;

/** As the command `hydraconf`, which reads settings files. */
const AS_COMMAND = { settingsFiles: true } as object;

describe("a note about what composes, but not to what was meant", () => {
  it.each<[string, Record<string, string>, string[]]>([
    [
      "a key `default` of texts, or of names that are no groups",
      {
        "conf/config.yaml": "default:\n- a\n- {b: c}\n- {db: no_option}\n",
        "conf/db/a.yaml": "x: 1\n",
      },
      [],
    ],
    [
      "a key like a group with another text, or one that is chosen",
      {
        "conf/config.yaml": "defaults:\n- db: a\ndb2: a\nmodel: b\nnet: c\nmaps: {model: a}\n",
        "conf/db/a.yaml": "x: 1\n",
        "conf/model/a.yaml": "x: 1\n",
        "conf/net/c.yaml": "x: 1\n",
      },
      ["+net@other=c"],
    ],
    [
      "a key like a group with an option's name, where nothing is chosen by a defaults list",
      { "conf/config.yaml": "model: a\n", "conf/model/a.yaml": "x: 1\n" },
      [],
    ],
    [
      "a text for a key that is no group",
      { "conf/config.yaml": "app: {part: b1}\n" },
      ["app.part=b2"],
    ],
    [
      "a text that is no option of the group",
      {
        "conf/config.yaml": "defaults:\n- app/part: b1\n",
        "conf/app/part/b1.yaml": "x: 1\n",
      },
      ["app.part=other"],
    ],
    [
      "an added text whose key is like a group without such an option, or is not like one",
      { "conf/config.yaml": "lr: 0\n", "conf/experiment/e1.yaml": "lr: 1\n" },
      ["+experiments=e2", "+other=e1", "++experimens=e1", "+experiment=e1"],
    ],
    [
      "settings of a sweep in an option that is chosen for all of it",
      {
        "conf/config.yaml": "lr: 0\nbs: 1\n",
        "conf/exp/e.yaml": "# @package _global_\nhydra: {sweeper: {params: {lr: '1,2'}}}\n",
      },
      ["-m", "+exp=e", "bs=1,2"],
    ],
    [
      "a span as a text in a single run: of devices, say",
      { "conf/config.yaml": "devices: 1\n" },
      ["devices=0-3"],
    ],
    [
      "a list in place of a number beside what is swept",
      { "conf/config.yaml": "devices: 1\nlr: 1\n" },
      ["-m", "devices=[0,1]", "lr=1,2"],
    ],
    [
      "a list in place of a number where the config says what is swept",
      { "conf/config.yaml": "devices: 1\nlr: 1\nhydra: {sweeper: {params: {lr: '1,2'}}}\n" },
      ["-m", "devices=[0,1]"],
    ],
    [
      "a number by the name of a keyword",
      { "conf/config.yaml": "loss: {_target: 0.5, target_: 1.5}\n" },
      [],
    ],
    [
      "an option at the key that has the name of its group",
      {
        "conf/config.yaml": "defaults:\n- global: g\nseed: 1\n",
        "conf/global/g.yaml": "# @package global\nseed: 2\n",
      },
      [],
    ],
    [
      "a header that would say what holds without it",
      {
        "conf/config.yaml": "defaults:\n- db/pg: a\n- db: b\n",
        "conf/db/pg/a.yaml": "# License\n# @package db.pg\nx: 1\n",
        "conf/db/b.yaml": "# License\n# @package _group_\ny: 1\n",
      },
      [],
    ],
    [
      "an option of an optional entry that is removed, too",
      { "conf/config.yaml": "defaults:\n- optional db: a\n", "conf/db/a.yaml": "x: 1\n" },
      ["~db", "db=other"],
    ],
    [
      "an option that an interpolation chooses",
      {
        "conf/config.yaml": "defaults:\n- db: a\n- optional cache: b\n",
        "conf/db/a.yaml": "x: 1\n",
        "conf/cache/a.yaml": "x: 1\n",
        "conf/cache/b.yaml": "x: 1\n",
      },
      ["cache=${db}"],
    ],
  ])("there is none for %s", async (_, files, argv) => {
    const { exitCode, stderr } = await program(files).run(argv);
    expect(stderr).not.toMatch(NOTE);
    expect(exitCode).toBe(0);
  });

  it("proposes the group that an added key misspells, with what chooses the option", async () => {
    const files = {
      "conf/config.yaml": "lr: 0\n",
      "conf/a/experiment/e1.yaml": "# @package _global_\nlr: 1\n",
    };
    const { stderr } = await program(files).run(["--cfg", "job", "+a/experimnt=e1"]);
    const [, proposed = ""] = /^note: .* use (\S+)$/m.exec(stderr) ?? [];
    expect(proposed).toBe("+a/experiment=e1");
    const chosen = await program(files).run(["--cfg", "job", proposed]);
    expect([chosen.stdout, chosen.stderr]).toEqual(["lr: 1\n", ""]);
  });

  it.each([
    ["conf/config.yaml", "defaults:\n- overide db: pg\n- exp: e\n", "- db: pg"],
    ["conf/exp/e.yaml", "defaults:\n- db: pg\n- exp: e\n", "- {overide /opt: b}"],
  ])("names a keyword of %s that is ignored", async (file, config, entry) => {
    const files = {
      "conf/config.yaml": config,
      "conf/db/pg.yaml": "x: 1\n",
      "conf/opt/b.yaml": "y: 1\n",
      "conf/exp/e.yaml": `# @package _global_\ndefaults:\n${entry.startsWith("- {") ? entry : "- optional opt: b"}\n`,
    };
    const run = (argv: string[], options = {}) => program(files, options).run(argv);
    const { exitCode, stderr } = await run([]);
    expect(exitCode).toBe(0);
    expect(stderr.match(/note: .*/g)).toEqual([
      expect.stringMatching(
        `${file}:\\d+:\\d+: 'overide' has no meaning in a defaults list and is ignored: the keywords are \`optional\` and \`override\`$`,
      ),
    ]);
    expect((await run([], { notes: false })).stderr).not.toMatch(NOTE);
  });

  it.each([
    ["# @packge _global_", "is an ordinary comment"],
    ["#@package: _global_", "is an ordinary comment"],
    ["# @Package _global_", "is an ordinary comment"],
    ["# package _global_", "is an ordinary comment"],
    ["# @package _globl_", "names the key _globl_"],
    ["# @package _Global_", "names the key _Global_"],
    ["# An experiment.\n\n# @package _global_", "is an ordinary comment"],
  ])("tells of a header that is not read as meant, and what is: %j", async (header, effect) => {
    const files = (head: string) => ({
      "conf/config.yaml": "defaults:\n- exp: e\n- _self_\nlr: 1\n",
      "conf/exp/e.yaml": `${head}\nlr: 2\n`,
    });
    const { stderr } = await program(files(header)).run(["--cfg", "job"]);
    const [note = "", ...others] = stderr.match(/^note: .*$/gm) ?? [];
    expect(others).toEqual([]);
    expect(note).toContain(`conf/exp/e.yaml:${header.split("\n").length}:1: `);
    expect(note).toContain(effect);
    const right =
      /`(# @package \S+)`/.exec(note)?.[1] ?? header.split("\n").toReversed().join("\n");
    const after = await program(files(right)).run(["--cfg", "job"]);
    expect([after.stdout, after.stderr]).toEqual(["lr: 1\n", ""]);
  });

  it.each([
    "# @package _global_",
    "# @package exp.e",
    "# @package __x",
    "# @author me",
    "# package npm",
    "# Package manager: npm",
    "# The package\n# @version 1",
    "lr: 3\n# @package exp.e",
    "lr: 3\n# as in `# @package _global_`",
  ])("is silent about %j", async (header) => {
    const files = {
      "conf/config.yaml": "defaults:\n- exp: e\n- _self_\nk: 1\n",
      "conf/exp/e.yaml": `${header}\nseed: 2\n`,
    };
    const { exitCode, stderr } = await program(files).run(["--cfg", "job"]);
    expect([exitCode, stderr.match(/^note: .*(?:package|header).*$/gm)]).toEqual([0, null]);
  });

  it("names the launcher of an option that is swept over, once", async () => {
    const files = {
      "conf/config.yaml": "lr: 0\n",
      "conf/exp/e.yaml": "# @package _global_\ndefaults:\n- override /hydra/launcher: basic\n",
      "conf/exp/f.yaml": "# @package _global_\nlr: 2\n",
    };
    const { stderr } = await program(files).run(["-m", "+exp=e,f"]);
    expect(stderr.match(/note: .*hydra\/launcher is read once/g)).toHaveLength(1);
  });

  it("is not printed with `notes: false` in the settings", async () => {
    const files = {
      "conf/config.yaml": "default:\n- db: a\n",
      "conf/db/a.yaml": "x: 1\n",
    };
    expect((await program(files).run(["--cfg", "job"])).stderr).toMatch(NOTE);
    const silent = { ...files, "hydraconf.yaml": "notes: false\n" };
    const { stderr, stdout } = await program(silent, AS_COMMAND).run(["--cfg", "job"]);
    expect(stderr).toBe("");
    expect(stdout).toBe("default:\n- db: a\n");
  });

  it("is not printed with `notes: false` of the program, which its settings may change", async () => {
    const files = {
      "conf/config.yaml": "default:\n- db: a\n",
      "conf/db/a.yaml": "x: 1\n",
    };
    expect((await program(files, { notes: false }).run(["--cfg", "job"])).stderr).toBe("");
    const asked = { ...files, "hydraconf.yaml": "notes: true\n" };
    const { stderr } = await program(asked, { ...AS_COMMAND, notes: false }).run(["--cfg", "job"]);
    expect(stderr).toMatch(NOTE);
  });

  const RARE = {
    "conf/config.yaml": "defaults:\n- db: pg\n- _self_\nurl: ${db.host}:${db.prt}\n",
    "conf/db/pg.yaml": "host: p\nport: 1\nprt: 2\nsslmod: on\n",
    "conf/db/mysql.yaml": "host: m\nport: 3\n",
    "conf/db/none.yaml": "",
  };

  it("names a key of one option only, if it is asked for", async () => {
    const of = async (options: object, argv: readonly string[] = [], files: object = RARE) => {
      const { stderr } = await program({ ...files }, options).run(["--cfg", "job", ...argv]);
      return stderr.match(/^note: .*/gm) ?? [];
    };
    const expected = [
      "note: conf/db/pg.yaml:4:9: no other option of db has 'sslmod', and no interpolation names it: it may be misspelt",
    ];
    expect(await of({})).toEqual([]);
    expect(await of({ notes: "all" })).toEqual(expected);
    expect(await of(AS_COMMAND, [], { ...RARE, "hydraconf.yaml": "notes: all\n" })).toEqual(
      expected,
    );
    expect(await of({ notes: "all" }, ["db=mysql"])).toEqual([]);
    expect(await of({ notes: "all" }, ["db.sslmod=off"])).toEqual([]);
    const schema = { properties: { db: { properties: { sslmod: true } } } };
    expect(await of({ notes: "all", schema })).toEqual([]);
  });

  it("names the text None of a file, if it is asked for", async () => {
    const files = {
      "conf/config.yaml": "defaults:\n- db: a\n- _self_\nl: [None, 'None']\n",
      "conf/db/a.yaml": "host: None\nname: Nones\n",
    };
    const of = async (options: object) => {
      const { stderr } = await program(files, options).run(["--cfg", "job"]);
      return stderr.match(/^note: .*/gm) ?? [];
    };
    expect(await of({})).toEqual([]);
    expect(await of({ notes: "all" })).toEqual([
      "note: conf/config.yaml:4:5: None is the text 'None': for null, write null",
      "note: conf/db/a.yaml:1:7: None is the text 'None': for null, write null",
    ]);
  });

  it.each([
    [{ type: "number" }, false],
    [{ enum: [1, 2] }, false],
    [{ $ref: "#/$defs/rate" }, false],
    [{ type: ["number", "null"] }, true],
    [{ anyOf: [{ type: "number" }, { type: "null" }] }, true],
    [{ enum: [1, null] }, true],
    [{ minimum: 0 }, true],
    [true, true],
  ])("proposes null only where the program's schema takes it: %j", async (lr, isProposed) => {
    const schema = { $defs: { rate: { type: "number" } }, properties: { lr } };
    const options = { schema } as object;
    const { run } = program({ "conf/config.yaml": "lr: 0.1\n" }, options);
    const { stderr } = await run(["--cfg", "job", "lr=None"]);
    expect(stderr.includes("for null, use lr=null")).toBe(isProposed);
    if (isProposed) expect(await run(["lr=null"])).toMatchObject({ exitCode: 0, stderr: "" });
  });

  it("proposes no null that the schema of a config refuses", async () => {
    const entry = { value: { port: 1 }, schema: { properties: { port: { type: "integer" } } } };
    const options = { store: new Map([["db/base", entry]]) };
    const files = { "conf/config.yaml": "defaults: [db: base]\n" };
    const { stderr } = await program(files, options).run(["db.port=None"]);
    expect(stderr).toContain("expected an integer");
    expect(stderr).not.toContain("db.port=null");
  });
});
