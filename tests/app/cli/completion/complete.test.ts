import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it, test } from "vitest";
import { SWEEP_LINE } from "../../../../src/app/cli/sweep-line.ts";
import type { Task } from "../../../../src/app/job/job.ts";
import { corpusDir } from "../../../shared.ts";
import { program } from "../program.ts";

const SCHEMA = {
  type: "object",
  properties: {
    port: { type: "integer", description: "Where it listens" },
    mode: { enum: ["fast", "safe", null], description: "How it works" },
    strict: { type: "boolean" },
    note: { type: "string", description: "Anything" },
    wordy: { description: ` Two\n  lines, ${"and more ".repeat(20)}` },
    device: { type: "string", examples: ["auto", "cuda:0", "[a,b]", "two words", 7] },
    batch: { enum: [1, 16, 0.5] },
    opt: {
      discriminator: { propertyName: "kind" },
      oneOf: [
        { properties: { kind: { const: "sgd" }, how: { enum: ["plain"] } } },
        { properties: { kind: { const: "adam" }, how: { enum: ["fused", [1], { a: 1 }] } } },
      ],
    },
    db: { properties: { host: {}, timeout: { description: "In s" } } },
  },
};
const app = program(
  {
    "conf/config.yaml":
      "defaults:\n  - db: mysql\n  - db@backup: pg\n  - _self_\nport: 80\nmode: fast\nstrict: true\nref: ${port}\nbad: ${absent}\nlist: [1, 2]\nnothing: null\nlr: 1.0\nopt: {kind: sgd}\n",
    "conf/other.yaml": "only_here: 1\n",
    "conf/db/mysql.yaml": "host: localhost\nuser: root\n",
    "conf/db/pg.yaml": "host: remote\n",
    "conf/db/pg.yml": "",
    "conf/nested/inner/a.yaml": "x: 1\n",
    "more/extra/one.yaml": "y: 1\n",
    "data/train.csv": "",
  },
  {
    schema: SCHEMA,
    subcommands: [
      {
        name: "import",
        summary: "reads files",
        run: async () => 0,
        commandLine: async () => ({
          options: {
            format: { value: "F", choices: ["csv", "json"], help: "what they are" },
            force: { help: "overwrite" },
          },
        }),
      },
      {
        name: "sweep",
        summary: "looks after sweeps",
        run: async () => 0,
        commandLine: async () => SWEEP_LINE,
      },
    ],
  },
);
afterAll(() => rmSync(app.cwd, { recursive: true }));

const refuse: Task = () => {
  throw new Error("completion must not run anything");
};

/** The answers for fish: words and what is said of them. */
async function answers(...words: string[]): Promise<readonly string[]> {
  const { exitCode, stdout, stderr } = await app.run(["-sc", "query=fish", "--", ...words], refuse);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  return stdout.split("\n").filter((line) => line !== "");
}
const texts = async (...words: string[]) =>
  (await answers(...words)).map((line) => line.split("\t")[0] ?? "");

describe("completion", () => {
  it.each<[string, readonly string[]]>([
    ["hydra.mode=", ["hydra.mode=RUN", "hydra.mode=MULTIRUN"]],
    ["hydra.mode=M", ["hydra.mode=MULTIRUN"]],
    ["hydra.mode=RunMode.", ["hydra.mode=RunMode.RUN", "hydra.mode=RunMode.MULTIRUN"]],
    // Hydra offers files for any key: only what repeats a member is left out.
    ["hydra.mode=./data/", ["hydra.mode=./data/train.csv"]],
    [`hydra.mode=${app.cwd}/data/`, [`hydra.mode=${app.cwd}/data/train.csv`]],
  ])("offers members of an enum once: %s", async (word, expected) => {
    expect(await texts(word)).toEqual(expected);
    expect(await texts("hydra.mode=RUN", word)).toEqual(expected);
  });

  it.each<[readonly string[], readonly string[]]>([
    [["d"], ["db.", "db=", "db@backup="]],
    [["db=m"], ["db=mysql"]],
    [["db="], ["db=mysql", "db=pg"]],
    [["+db="], ["+db=mysql", "+db=pg"]],
    [["nested"], ["nested/"]],
    [["nested/"], ["nested/inner="]],
    [["db=pg", "db."], ["db.host="]],
    // packages
    [["db@"], ["db@backup="]],
    [["db@backup="], ["db@backup=mysql", "db@backup=pg"]],
    [["+db@third=p"], ["+db@third=pg"]],
    [["~db@"], ["~db@backup"]],
    // options behind others
    [["-m", "db=mysql,"], ["db=mysql,pg"]],
    [["db=[pg,my"], ["db=[pg,mysql"]],
    [["db=[pg,"], ["db=[pg,mysql"]],
    // keys behind prefixes
    [["++po"], ["++port="]],
    [["++db.h"], ["++db.host="]],
    [["~por"], ["~port"]],
    [["~db."], ["~db.host", "~db.user"]],
    // values: what stands there, booleans, the schema's
    [["port="], ["port=80"]],
    [["port=8"], ["port=80"]],
    [["strict="], ["strict=true", "strict=false"]],
    [["++strict=f"], ["++strict=false"]],
    [["mode="], ["mode=fast", "mode=safe", "mode=null"]],
    [["mode=s"], ["mode=safe"]],
    [["lr="], ["lr=1.0"]],
    [["nothing="], []],
    [["+batch="], ["+batch=1", "+batch=16", "+batch=0.5"]],
    [["+opt.how="], ["+opt.how=plain"]],
    [["opt.kind=adam", "+opt.how="], ["+opt.how=fused"]],
    [["+device="], ["+device=auto", "+device=cuda:0", "+device=7"]],
    [["device=c"], ["device=cuda:0"]],
    // interpolations: listed and resolved, but never completed, and no error where they are broken
    [["re"], ["ref="]],
    [["ref="], ["ref=80"]],
    [["bad="], []],
    [["port=${"], []],
    [["port=${db."], []],
    // what the schema knows and the config has not
    [["+no"], ["+note="]],
    [["+po"], []],
    [["+db."], ["+db.timeout="]],
    [["+db.t"], ["+db.timeout="]],
    [["+port."], []],
    // files
    [["x=./data/"], ["x=./data/train.csv"]],
    // flags and their values
    [["--c"], ["--cfg", "--config-path", "--config-name", "--config-dir"]],
    [
      ["--cfg", ""],
      ["job", "hydra", "all"],
    ],
    [["-c"], ["-c"]],
    [["--cfg"], ["--cfg"]],
    [["--experimental"], []],
    [["-c", "j"], ["job"]],
    [["--cfg=h"], ["--cfg=hydra"]],
    [
      ["-cn", ""],
      ["config", "other", "db/", "nested/"],
    ],
    [["--config-name", "ot"], ["other"]],
    [["-cn", "db/m"], ["db/mysql"]],
    [["-cd", "m"], ["more/"]],
    [["-cd", "data/"], []],
    [["-p", "db"], ["db"]],
    [
      ["--explain", "db."],
      ["db.host", "db.user"],
    ],
    // flags that stand in the line hold for it
    [["-cn", "other", "only"], ["only_here="]],
    [["-cd", "more", "+extra="], ["+extra=one"]],
    [
      ["--info", "def"],
      ["defaults", "defaults-tree"],
    ],
    // whose value may be left out
    [["--info", "po"], ["port="]],
    [["--info", ""], expect.arrayContaining(["all", "port="])],
    // subcommands
    [["im"], ["import"]],
    [["port=1", "im"], []],
    [
      ["import", "--f"],
      ["--format", "--force"],
    ],
    [
      ["sweep", ""],
      ["status", "wait", "cancel", "collect", "best", "watch", "compare"],
    ],
    [
      ["sweep", "c"],
      ["cancel", "collect", "compare"],
    ],
    [["sweep", "wait", "--t"], ["--timeout"]],
    [["sweep", "--t"], ["--timeout"]],
    [["sweep", "status", "da"], ["data/"]],
    [["import", "--format=c"], ["--format=csv"]],
    [["import", "--format", "c"], ["csv"]],
    [["import", "--force", "data/"], ["data/train.csv"]],
    [
      ["sweep", "--json", "--timeout", "9", "c"],
      ["cancel", "collect", "compare"],
    ],
    [["sweep", "--timeout", "c"], ["conf/"]],
    [["import", "data/"], ["data/train.csv"]],
    // nothing to say
    [["x", "--", "db"], []],
    [["db=pg", "--", "d"], []],
    [
      ["db=", "d"],
      ["db=", "db@backup="],
    ],
    [["--nope", "d"], []],
    [["port=[1", "d"], []],
  ])("of %j is %j", async (words, expected) => {
    expect(await texts(...words)).toEqual(expected);
  });

  it("says what the schema, the config and the flags say", async () => {
    expect(await answers("po")).toEqual(["port=\tWhere it listens"]);
    expect(await answers("db.h")).toEqual(["db.host=\tlocalhost"]);
    expect(await answers("d")).toEqual(["db.", "db=\tmysql, pg", "db@backup=\tmysql, pg"]);
    expect(await answers("+db.t")).toEqual(["+db.timeout=\tIn s"]);
    expect(await answers("--cf")).toEqual(["--cfg\tShow a configuration instead of running"]);
    expect(await answers("im")).toEqual(["import\treads files"]);
  });

  it("says it in one line that fits", async () => {
    const [line = ""] = await answers("+wo");
    const [text, description = ""] = line.split("\t");
    expect([text, description.length]).toEqual(["+wordy=", 80]);
    expect(description).toMatch(/^Two lines, and more and .*…$/);
  });

  it("offers both values of a boolean that no schema knows, and no package that only overrides a choice", async () => {
    const plain = program({
      "conf/config.yaml":
        "defaults:\n  - db@main: a\n  - more\n  - override db@side: b\n  - _self_\nfast: true\n",
      "conf/more.yaml": "defaults:\n  - db@side: a\n",
      "conf/db/a.yaml": "x: 1\n",
      "conf/db/b.yaml": "x: 2\n",
    });
    const asked = async (word: string) =>
      (await plain.run(["-sc", "query=fish", "--", word], refuse)).stdout.replaceAll(/\t.*/g, "");
    expect(await asked("fast=")).toBe("fast=true\nfast=false\n");
    expect(await asked("db")).toBe("db=\ndb@main=\n");
    rmSync(plain.cwd, { recursive: true });
  });

  it("tells why there is no answer when it is asked to", async () => {
    const asked = ["-sc", "query=fish", "--", "port=[1", "d"];
    const { stderr } = await app.run(asked, refuse, { HYDRA_COMP_DEBUG: "1" });
    expect(stderr).toMatch(/port=\[1/);
  });

  it("answers who asks as Hydra's own shell code does as Hydra would", async () => {
    const ask = (line: string) => app.run(["-sc", "query=bash"], refuse, { COMP_LINE: line });
    expect((await ask("python prog.py db=")).stdout).toBe("db=mysql db=pg\n");
    expect((await ask("prog nope")).stdout).toBe("\n");
  });

  it("offers no subcommand or flag to bash that it would have to describe", async () => {
    const env = { COMP_LINE: "prog db=my x", COMP_POINT: "10", COMP_WORDBREAKS: "=" };
    const { stdout } = await app.run(["-sc", "query=bash"], refuse, env);
    expect(stdout).toBe("mysql \n");
  });

  it.each([
    [["-sc"], /Expecting one subcommand from \['install', 'uninstall', 'query'\]/],
    [["-sc", "install=bash", "query=bash"], /Expecting one subcommand/],
    [["-sc", "db=mysql"], /Expecting one subcommand/],
    [["-sc", "query=bash", "x=[1"], /expected ',' or '\]'/],
    [["-sc", "install=fissh"], /No completion plugin for 'fissh' found[\s\S]*Did you mean 'fish'/],
  ])("%j is refused as Hydra refuses it", async (argv, message) => {
    const { exitCode, stderr } = await app.run(argv, refuse);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(message);
  });
});

describe("a subcommand that is a program", () => {
  const asked: (readonly [readonly string[], string | undefined, string | undefined])[] = [];
  const { cwd, run } = program(
    { "conf/config.yaml": "x: 1\n" },
    {
      subcommands: [
        {
          name: "go",
          summary: "runs",
          isProgram: true,
          run: async (args, { console, env }) => {
            asked.push([args, env["COMP_LINE"], env["COMP_POINT"]]);
            console.stdout("from go\n");
            return 0;
          },
        },
      ],
    },
  );
  afterAll(() => rmSync(cwd, { recursive: true }));

  it("completes the words behind its name", async () => {
    const { stdout } = await run(["-sc", "query=fish", "--", "go", "-m", "a=", "b"], refuse);
    expect(stdout).toBe("from go\n");
    expect(asked.pop()).toEqual([
      ["-sc", "query=fish", "--", "-m", "a=", "b"],
      undefined,
      undefined,
    ]);
  });

  it("completes the line up to the cursor as if it were the program", async () => {
    const env = { COMP_LINE: "prog go 'a b' c= -- d", COMP_POINT: "16", COMP_WORDBREAKS: "=" };
    const { stdout } = await run(["-sc", "query=bash"], refuse, env);
    expect(stdout).toBe("from go\n");
    expect(asked.pop()).toEqual([["-sc", "query=bash"], "go 'a b' c=", undefined]);
  });

  it("is offered itself where it is being typed, and only there", async () => {
    const answer = async (...words: string[]) =>
      (await run(["-sc", "query=zsh", "--", ...words], refuse)).stdout;
    expect(await answer("go")).toBe("-go\truns\n");
    expect(await answer("x=2", "go")).toBe("");
    expect(asked).toEqual([]);
  });
});

test("bash puts a blank behind what is whole, and behind no beginning", async () => {
  const { run, cwd } = program({
    "conf/config.yaml": "defaults:\n- both: a\n- /only@src: o\n- _self_\nx: 1\n",
    "conf/both/a.yaml": "y: 1\n",
    "conf/both/in/b.yaml": "",
    "conf/only/o.yaml": "z: 1\n",
  });
  const ask = async (line: string) => {
    const env = { COMP_LINE: `prog ${line}`, COMP_WORDBREAKS: "" };
    return (await run(["-sc", "query=bash"], refuse, env)).stdout.split("\n").slice(0, -1);
  };
  expect(await ask("bo")).toEqual(["both", "both."]);
  expect(await ask("+bo")).toEqual(["+both"]);
  expect(await ask("~bo")).toEqual(["~both ", "~both."]);
  expect(await ask("both=")).toEqual(["both=a "]);
  expect(await ask("only@")).toEqual(["only@src="]);
  expect(await ask("--explain b")).toEqual(["both"]);
  expect(await ask("--explain x")).toEqual(["x "]);
  rmSync(cwd, { recursive: true });
});

const SECRET = { type: "string", writeOnly: true };

test("a secret is neither offered nor described", async () => {
  const { run, cwd } = program(
    {
      "conf/config.yaml":
        "token: hunter22\nuser: me\nurl: http://${user}:${token}@host\npin: user\nnone: ''\n",
    },
    { schema: { properties: { token: SECRET, pin: SECRET, none: SECRET } } },
  );
  const ask = async (word: string) => (await run(["-sc", "query=fish", "--", word], refuse)).stdout;
  expect(await ask("token=")).toBe("");
  expect(await ask("url=")).toBe("");
  expect(await ask("user=")).toBe("user=me\n");
  const keys = await ask("");
  expect(keys).toContain("token=\n");
  expect(keys).not.toContain("hunter22");
  // As Hydra's own shell code asks; a key that reads as a secret does is none.
  const askAsHydra = async (word: string) =>
    (await run(["-sc", "query=bash"], refuse, { COMP_LINE: `prog ${word}` })).stdout;
  expect(await askAsHydra("us")).toBe("user=\n");
  expect(await askAsHydra("user=")).toBe("user=me\n");
  expect(await askAsHydra("url=")).toBe("\n");
  expect(await askAsHydra("hydra.job.n")).toBe("hydra.job.name= hydra.job.num=\n");
  rmSync(cwd, { recursive: true });
});

test("offers whatever Hydra offers", async () => {
  const directory = join(corpusDir("conformance"), "completion");
  const hydra = program(
    {},
    { configPath: join(directory, "conf"), configName: "config", plugins: [] },
  );
  const cases = readFileSync(join(directory, "bash.jsonl"), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line))
    .filter(
      ({ ok, op, config_name, files, line }) =>
        ok &&
        op === undefined &&
        config_name === "config.yaml" &&
        files === undefined &&
        !/(^| )--?( |\w|$)|\\|\$/.test(line),
    );
  expect(cases.length).toBeGreaterThan(100);
  for (const { id, line, expected } of cases) {
    const { stdout } = await hydra.run(["-sc", "query=bash"], refuse, {
      COMP_LINE: `app ${line}`,
      COMP_WORDBREAKS: "",
    });
    const given = new Set(stdout.split("\n").map((text) => text.trimEnd()));
    expect(
      expected.filter((text: string) => !given.has(text) && text !== "hydra.job.name=UNKNOWN_NAME"),
      id,
    ).toEqual([]);
  }
  rmSync(hydra.cwd, { recursive: true });
});
