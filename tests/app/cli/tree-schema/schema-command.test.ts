import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { execa } from "execa";
import { describe, expect, it, test } from "vitest";
import { runSchema } from "../../../../src/app/cli/tree-schema/schema-command.ts";
import { renderIssues, validateTree } from "../../../../src/engine/schema/index.ts";
import { isConfigError } from "../../../../src/engine/values/errors.ts";
import { packageInfo } from "../../../../src/engine/values/package-info.ts";
import { readYaml } from "../../../../src/engine/values/yaml/reader.ts";
import { until } from "../../../wait.ts";

const TREE = {
  "conf/config.yaml":
    "defaults:\n- db: mysql\n- override hydra/job_logging: none\n- _self_\nlr: 1\n",
  "conf/db/mysql.yaml": "host: h\nport: 3306\nuser: null\ntags: [a]\n",
  "conf/db/pg.yaml": "defaults: [base, _self_]\nport: ${oc.env:PORT}\nssl: true\nuser: me\n",
  "conf/db/base.yaml": "host: ???\n",
  "conf/model/arch/small.yaml": "# @package model\ndepth: 2\n",
};

function workplace(files: Readonly<Record<string, string>> = TREE): string {
  const cwd = mkdtempSync(join(tmpdir(), "hydraconf-schema-"));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true });
    writeFileSync(join(cwd, name), text);
  }
  return cwd;
}

async function schema(args: readonly string[], cwd = workplace()) {
  let stdout = "";
  const console = {
    stdout: (text: string) => {
      stdout += text;
    },
    stderr: () => {},
  };
  const exitCode = await runSchema(args, { argv: args, env: {}, cwd, console, now: new Date(0) });
  return { exitCode, stdout };
}

const problems = (text: string, document: string): readonly string[] =>
  validateTree(readYaml(text), JSON.parse(document)).map(({ key, problem }) => `${key} ${problem}`);

test("the schema of a group accepts its files and knows the types of their keys", async () => {
  const { stdout } = await schema(["db"]);
  for (const name of ["mysql", "pg"] as const)
    expect(problems(TREE[`conf/db/${name}.yaml`], stdout)).toEqual([]);
  expect(problems("port: ${other}\nhost: x\nunknown: 1\nuser: null\n", stdout)).toEqual([]);
  expect(problems("port: many\nssl: 3\ntags: x\n", stdout)).toEqual([
    "port invalid_value",
    "ssl invalid_value",
    "tags invalid_value",
  ]);
});

test("defaults lists know the options of every group, relative, absolute and with a package", async () => {
  const { stdout: primary } = await schema([]);
  expect(problems(TREE["conf/config.yaml"], primary)).toEqual([]);
  for (const item of ["db: pg", "override db@x: mysql", "/model/arch: small", "db: [mysql, pg]"])
    expect(problems(`defaults: [{${item}}]\n`, primary)).toEqual([]);
  for (const item of ["db: nope", "override /db@x.y: nope", "model/arch: big", "db: [mysql, no]"])
    expect(problems(`defaults: [{${item}}]\n`, primary)).not.toEqual([]);
  const { stdout: inModel } = await schema(["model/arch"]);
  expect(problems("defaults: [{db: anything}]\n", inModel)).toEqual([]);
  expect(problems("defaults: [{/db: anything}]\n", inModel)).not.toEqual([]);
});

test("groups below a group are named from it on, in its files alone", async () => {
  const cwd = workplace({
    ...TREE,
    "conf/model/big.yaml": "defaults: [{arch: small}]\n",
    "conf/modelling/arch/other.yaml": "",
  });
  const { stdout } = await schema(["model"], cwd);
  for (const item of ["arch: small", "optional arch: small", "arch@x: small", "ling/arch: any"])
    expect(problems(`defaults: [{${item}}]\n`, stdout), item).toEqual([]);
  for (const item of ["arch: big", "override arch: big", "optional arch: big", "/model: small"])
    expect(problems(`defaults: [{${item}}]\n`, stdout), item).not.toEqual([]);
});

test("every reference is a JSON pointer to what is there, as RFC 6901 reads it", async () => {
  const { stdout } = await schema([], workplace({ ...TREE, "conf/a~b/c d/x.yaml": "" }));
  const document = JSON.parse(stdout);
  const references = [...stdout.matchAll(/"\$ref": "#([^"]*)"/g)].map(([, found = ""]) => found);
  expect(references).toContain("/$defs/options%20of%20a~0b~1c%20d");
  for (const reference of references) {
    const tokens = decodeURIComponent(reference).split("/").slice(1);
    const names = tokens.map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
    expect(
      names.reduce((at, name) => at?.[name], document),
      reference,
    ).toBeDefined();
  }
  // A group without options has none to list.
  expect(Object.keys(document.$defs)).toEqual([
    "interpolation",
    "options of a~b/c d",
    "options of db",
    "options of model/arch",
  ]);
});

test("what options have in common, and a few values of theirs as examples", async () => {
  const values = ["1", "2.5", ".inf", "12345678901234567890", "1", "3", "4", "5"];
  const files = values.map((value, index) => [`conf/g/o${index}.yaml`, `n: ${value}\n`] as const);
  const { stdout } = await schema(
    ["g"],
    workplace({
      "conf/config.yaml": "",
      ...Object.fromEntries(files),
      "conf/g/p.yaml": "n: ${x}\nopen: ???\nmixed: 1\n",
      "conf/g/q.yaml": "n: null\nopen: null\nmixed: [true]\n",
      "conf/g/r.yaml": "mixed: {a: b}\n",
    }),
  );
  const interpolation = { $ref: "#/$defs/interpolation" };
  const { n, open, mixed } = JSON.parse(stdout).properties;
  expect(n).toEqual({
    anyOf: [{ type: "number" }, { type: "null" }, interpolation],
    examples: [1, 2.5, 12345678901234567000, 3, 4],
  });
  expect(open).toEqual({});
  expect(mixed.anyOf.map(({ type, $ref }: Record<string, string>) => type ?? $ref)).toEqual([
    "number",
    "object",
    "array",
    interpolation.$ref,
  ]);
});

test("all schemas of a tree are written, and nothing else", async () => {
  const cwd = workplace();
  const { exitCode, stdout } = await schema(["-o", "schemas"], cwd);
  expect(exitCode).toBe(0);
  const files = readdirSync(join(cwd, "schemas"), { recursive: true, encoding: "utf8" });
  expect(files.filter((name) => name.endsWith(".json")).sort()).toEqual([
    "config.schema.json",
    "groups/db.schema.json",
    "groups/model/arch.schema.json",
  ]);
  expect(stdout.split("\n")).toContain("schemas/groups/db.schema.json");
  const file = readFileSync(join(cwd, "schemas/groups/db.schema.json"), "utf8");
  expect(file).toBe((await schema(["db"], cwd)).stdout);
});

test("every file of the project's own tree fits its schema", async () => {
  const { root } = packageInfo();
  const conf = join(root, "conf");
  for (const group of ["workload", "profiling/ncu", "profiling/nsys", "runners"]) {
    const { stdout } = await schema(["-cp", conf, group], root);
    for (const name of readdirSync(join(conf, group))) {
      const text = readFileSync(join(conf, group, name), "utf8");
      const issues = validateTree(readYaml(text), JSON.parse(stdout)).filter(
        ({ problem }) => problem !== "missing_value",
      );
      expect(issues.length === 0 ? "" : renderIssues(issues)).toBe("");
    }
  }
  const { stdout } = await schema([`-cp=${conf}`], root);
  expect(problems(readFileSync(join(conf, "config.yaml"), "utf8"), stdout)).toEqual([]);
});

test("types are those of a JSON Schema", async () => {
  const cwd = workplace({
    ...TREE,
    "my.schema.json": JSON.stringify({
      type: "object",
      properties: { mode: { enum: ["fast", "exact"] }, n: { type: "integer" } },
      required: ["mode"],
    }),
  });
  const given = (await schema(["--types", "--from", "my.schema.json"], cwd)).stdout;
  expect(given).toContain("export interface My {");
  expect(given).toContain('mode: "fast" | "exact";');
  expect(given).toContain("n?: number;");
});

test("types say what the schema says with patterns, conditions and described references", async () => {
  const cwd = workplace({
    "answer.yaml": `type: object
required: [scope, device, question, answer]
properties:
  scope: { type: string, pattern: "^(all|rank:[0-9]+|device:.+)$" }
  device: { type: [string, "null"], pattern: "^(cpu|cuda:[0-9]+)$" }
  fingerprint: { type: string, pattern: "^sha256:[0-9a-f]{64}$" }
  question: { enum: [top, sum] }
  answer: { type: object }
allOf:
  - if: { properties: { question: { const: top } } }
    then: { properties: { answer: { $ref: "#/$defs/Part" } } }
  - if: { properties: { question: { const: sum } } }
    then: { properties: { answer: { description: The sum., $ref: "#/$defs/Part" } } }
$defs:
  Part: { type: object, properties: { x: { type: number } } }
`,
  });
  const { stdout } = await schema(["--types", "--from", "answer.yaml"], cwd);
  expect(stdout).toContain('scope: "all" | `rank:${number}` | `device:${string}`;');
  expect(stdout).toContain('device: "cpu" | `cuda:${number}` | null;');
  expect(stdout).toContain("fingerprint?: string;");
  expect(stdout).toMatch(/& \(\{\n +question: "top";\n +answer: Part;\n\} \| \{/);
  expect(stdout.match(/interface Part\d?/g)).toEqual(["interface Part"]);
  const uses =
    'const whole: Answer = { scope: "rank:3", device: null, question: "top", answer: {} };';
  const misuses = ['const scope: Answer["scope"] = "rank:first";'];
  expect(await compiled(stdout, [uses], misuses)).toBe("");
});

test("--readonly: nothing of the types can be changed, lists have any length", async () => {
  const list = (items: object) => ({ type: "array", items });
  const cwd = workplace({
    "my.yaml": `openapi: 3.1.0
components:
  schemas:
    Node:
      type: object
      additionalProperties: false
      required: [path, nodes]
      properties:
        # Of a described list of objects, whose comment has brackets.
        path: { type: array, minItems: 1, items: { type: string } }
        pair: { type: array, minItems: 2, maxItems: 2, items: { type: number } }
        table: ${JSON.stringify(list(list({ enum: ["a]", "b[]", null] })))}
        rows: ${JSON.stringify(list({ type: "object", additionalProperties: false, properties: { x: { description: "} of [] {", type: "string" } } }))}
        "by name": { type: object, additionalProperties: { $ref: "#/components/schemas/Node" } }
        nodes: { type: array, items: { $ref: "#/components/schemas/Node" } }
    Other: { type: object }
`,
  });
  const from = "my.yaml#/components/schemas/Node";
  const { stdout } = await schema(["--types", "--readonly", "--from", from], cwd);
  const uses = [
    "declare const node: Node;",
    'const made: Node = { path: [..."ab"], nodes: [], table: [["a]", null]], rows: [{ x: "" }] };',
    'const inner: string | undefined = node["by name"]?.["x"]?.path[0];',
    "const pair: readonly [number, number] | undefined = node.pair;",
  ];
  const changes = [
    "node.path = [];",
    'node.path.push("x");',
    'node.table?.push(["a]"]);',
    "node.table?.[0]?.pop();",
    "node.rows?.pop();",
    'for (const row of node.rows ?? []) row.x = "";',
    'for (const all of [node["by name"] ?? {}]) all["x"] = node;',
    "node.pair?.fill(0);",
    "node.nodes[0] = node;",
  ];
  expect(await compiled(stdout, uses, changes)).toBe("");
  expect(stdout).not.toContain("Other");
  const nowhere = schema(["--types", "--from", "my.yaml#/components/schemas/None"], cwd);
  await expect(nowhere).rejects.toMatchObject({
    code: "schema.invalid",
    message: "Cannot make types from the schema: it has nothing at '#/components/schemas/None'",
  });
});

/** What the compiler says against types, against `uses` of them, and for any of the `misuses`; nothing if all is well. */
async function compiled(
  types: string,
  uses: readonly string[],
  misuses: readonly string[],
): Promise<string> {
  const refused = misuses.map((line) => `// @ts-expect-error\n${line}`);
  const directory = workplace({ "use.ts": [types, ...uses, ...refused].join("\n") });
  const tsc = join(packageInfo().root, "node_modules/@typescript/native/bin/tsc");
  const options = ["--strict", "--noEmit", "--noUncheckedIndexedAccess", "--ignoreConfig"];
  const { stdout } = await execa(
    process.execPath,
    [tsc, ...options, "--target", "es2022", join(directory, "use.ts")],
    { reject: false },
  );
  return stdout;
}

test.each([
  [["a", "b"], "app.usage"],
  [["--nope"], "app.usage"],
  [["--from", "x.json"], "app.usage"],
  [["--readonly"], "app.usage"],
  [["--types", "db"], "app.usage"],
  [["--types", "--readonly"], "app.usage"],
  [["--types", "--stubs"], "app.usage"],
  [["--check"], "app.usage"],
  [["--types", "--watch", "--check"], "app.usage"],
  [["--stubs", "--check", "-o", "-"], "app.usage"],
  [["--types", "--from", "x.json", "-o", "y"], "app.usage"],
  [["nope"], "key.not_found"],
  [["-cn", "nope"], "compose.missing_config"],
  [["--types", "--from", "nope.json"], "schema.invalid"],
])("%j is refused", async (args, code) => {
  const error = await schema(args).catch((thrown: unknown) => thrown);
  expect(isConfigError(error) && error.code).toBe(code);
});

test.each([
  [["--outptu=x"], "unknown option --outptu", "--output"],
  [["-o", "x", "--tyeps"], "unknown option --tyeps", "--types"],
  [["--zzzzzzzz"], "unknown option --zzzzzzzz", undefined],
  [["-o"], "--output needs a value: PATH", undefined],
  [["-o", "-cp", "x"], "--output needs a value: PATH", undefined],
])("%j is answered with the nearest option", async (args, message, near) => {
  const error = await schema(args).catch((thrown: unknown) => thrown);
  expect(isConfigError(error) && [error.message, error.details.nearest]).toEqual([message, near]);
});

test("what cannot be written or read is said in a line, and so is an override in the place of a group", async () => {
  const cwd = workplace({ ...TREE, file: "", "no.json": "defaults:\n- db: x\n" });
  const refusal = async (...args: readonly string[]) => {
    const error = await schema(args, cwd).catch((thrown: unknown) => thrown);
    if (!isConfigError(error)) throw error;
    return [error.code, error.message, error.details.hint];
  };
  expect(await refusal("-o", "file")).toEqual([
    "app.system",
    expect.stringMatching(/^Cannot write 'file\/config\.schema\.json': [^\n]*$/),
    "choose another place with --output PATH",
  ]);
  expect(await refusal("--types", "--from", "no.json")).toEqual([
    "schema.invalid",
    expect.stringMatching(/^Cannot read the JSON Schema 'no\.json': [^\n]+$/),
    undefined,
  ]);
  expect(await refusal("db=mysql")).toEqual([
    "key.not_found",
    "There is no config group 'db=mysql' with options in this tree",
    "name the group alone: overrides change no schema",
  ]);
});

test("types are made although a value is only known in a run, of a tree with an added directory", async () => {
  const cwd = workplace({
    "conf/config.yaml": "defaults: [{more: m}, _self_]\nhost: ${oc.env:NOT_SET_ANYWHERE}\nn: 1\n",
    "added/more/m.yaml": "extra: [1]\n",
  });
  const { stdout } = await schema(["--types", "-cd", "added", "-o", "-"], cwd);
  expect(stdout).toContain("n: number;");
  expect(stdout).toContain("extra: number[];");
});

test("a schema that no types can be made of is refused with the cause", async () => {
  const cwd = workplace({ "bad.json": '{"$ref": "#/$defs/none"}', "half.json": "{" });
  const refusal = async (file: string) =>
    schema(["--types", "--from", file], cwd).catch((thrown: unknown) => thrown);
  expect(await refusal("bad.json")).toMatchObject({
    code: "schema.invalid",
    message: expect.stringMatching(/^Cannot make types from the schema: .+/),
  });
  expect(await refusal("half.json")).toMatchObject({
    code: "schema.invalid",
    message: expect.stringMatching(/^Cannot read the JSON Schema 'half.json': .+/),
  });
});

test("--help explains all of it", async () => {
  const { exitCode, stdout } = await schema(["--help"]);
  expect(exitCode).toBe(0);
  for (const word of ["GROUP", "--output", "--types", "--from", "yaml-language-server", "-cp"])
    expect(stdout).toContain(word);
});

describe("the declarations of a tree", () => {
  it("are written to one file: groups, options, and the configs that compose, with what options change", async () => {
    const cwd = workplace({
      ...TREE,
      "conf/eval.yaml": "checkpoint: last\n",
      "conf/part.yaml": "defaults: [nothing]\n",
    });
    const { stdout } = await schema(["--types"], cwd);
    expect(stdout).toBe("hydraconf.d.ts\n");
    expect(readFileSync(join(cwd, "hydraconf.d.ts"), "utf8")).toMatchInlineSnapshot(`
      "// Made by \`hydraconf schema --types\`. Make it again instead of editing it.
      import "hydraconf";

      declare module "hydraconf" {
        interface ConfigTrees {
          conf: {
            configs: {
              config: ComposedConfig;
              eval: ComposedEval;
            };
            groups: {
              db: "base" | "mysql" | "pg";
              "model/arch": "small";
            };
          };
        }
      }

      /** The composed config 'config', interpolations resolved. */
      export interface ComposedConfig {
        db: {
          host: string;
          port?: number;
          user?: string | null;
          tags?: string[];
          ssl?: boolean;
        };
        lr: number;
        model?: {
          depth: number;
        };
      }

      /** The composed config 'eval', interpolations resolved. */
      export interface ComposedEval {
        checkpoint: string;
        db?: {
          host: string;
          port?: number;
          user?: string | null;
          tags?: string[];
          ssl?: boolean;
        };
        model?: {
          depth: number;
        };
      }
      "
    `);
    const named = await schema(["--types", "-cn", "eval", "-o", "-"], cwd);
    expect(named.stdout).not.toContain("ComposedConfig");
  });

  it("are checked: a changed tree is refused with what makes the file", async () => {
    const cwd = workplace();
    const check = () => schema(["--types", "--check"], cwd).then(({ exitCode }) => exitCode);
    await expect(check()).rejects.toMatchObject({ message: "There is no file 'hydraconf.d.ts'" });
    await schema(["--types"], cwd);
    expect(await check()).toBe(0);
    writeFileSync(join(cwd, "conf/db/new.yaml"), "x: 1\n");
    const before = readFileSync(join(cwd, "hydraconf.d.ts"), "utf8");
    const error = await check().catch((thrown: unknown) => thrown);
    expect(isConfigError(error) && [error.code, error.details.hint]).toEqual([
      "schema.mismatch",
      "hydraconf schema --types, with the same options, makes it",
    ]);
    expect(readFileSync(join(cwd, "hydraconf.d.ts"), "utf8")).toBe(before);
  });

  it("are classes of Python: names that are none, and methods of DictConfig, are left out", async () => {
    const cwd = workplace({
      "conf/config.yaml":
        "lr: 0.1\nsteps: 3\nitems: 1\nclass: x\na-b: 1\njobs: [{name: a}]\ndb: {port: 1, user: me}\nany: ???\n",
    });
    expect((await schema(["--stubs"], cwd)).stdout).toBe("config_types.pyi\n");
    const stubs = readFileSync(join(cwd, "config_types.pyi"), "utf8");
    expect(stubs.slice(stubs.indexOf("class ComposedConfigDb"))).toBe(
      `class ComposedConfigDb(_Map):
    port: int
    user: str

class ComposedConfigJobsItem(_Map):
    name: str

class ComposedConfig(_Map):
    lr: float
    steps: int
    jobs: List[ComposedConfigJobsItem]
    db: ComposedConfigDb
    any: Any
`,
    );
    const python = await execa("python3", ["-c", "import ast, sys; ast.parse(sys.stdin.read())"], {
      input: stubs,
      reject: false,
    });
    expect(python.stderr).toBe("");
  });

  it.each([
    ["a: 1\n", []],
    ["a: [1]\n", ["List"]],
    ["a: [1, null]\n", ["List", "Optional"]],
    ["a: [1, b]\n", ["List", "Union"]],
    // The members of a class with such a key name typing itself.
    ["List: [1]\nOptional: 1\n", []],
  ])("import the types of Python that they use, and no others: %j", async (text, expected) => {
    const cwd = workplace({ "conf/config.yaml": text });
    await schema(["--stubs"], cwd);
    const stubs = readFileSync(join(cwd, "config_types.pyi"), "utf8");
    const [, imported = ""] = /^from typing import (.*)$/m.exec(stubs) ?? [];
    expect(imported.split(", ")).toEqual(["Any", "Iterator", ...expected]);
  });

  it("follow the tree: a broken one is told, and the file stays", async () => {
    const cwd = workplace();
    let [stdout, stderr] = ["", ""];
    const console = {
      stdout: (text: string) => {
        stdout += text;
      },
      stderr: (text: string) => {
        stderr += text;
      },
    };
    const args = ["--types", "--watch"];
    // Ends with the process, as with Ctrl-C.
    void runSchema(args, { argv: args, env: {}, cwd, console, now: new Date(0) });
    const file = () => readFileSync(join(cwd, "hydraconf.d.ts"), "utf8");
    await until(() => stdout === "hydraconf.d.ts\n");
    writeFileSync(join(cwd, "conf/db/new.yaml"), "x: 1\n");
    await until(() => file().includes('"new"'));
    const good = file();
    writeFileSync(join(cwd, "conf/config.yaml"), "lr: [\n");
    await until(() => stderr.includes("conf/config.yaml"));
    expect(file()).toBe(good);
    writeFileSync(join(cwd, "conf/config.yaml"), "other: 1\n");
    await until(() => file().includes("other: number;"));
  });
});
