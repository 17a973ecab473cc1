import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createEngine } from "../../../src/engine.ts";
import { program } from "./program.ts";

const SECRET = "hunter2-correct-horse";
const OTHER = "battery staple";

const SCHEMA = {
  properties: {
    db: {
      properties: {
        password: { type: "string", minLength: 3, writeOnly: true },
        keys: { type: "object", format: "password" },
      },
    },
    token: { anyOf: [{ type: "string", format: "password" }, { type: "null" }] },
  },
};

const FILES = {
  "conf/config.yaml": `db: {host: h, password: from-file-secret, keys: {a: nothing}}\ntoken: null\nurl: "pg://u:\${db.password}@h"\n`,
};

const options = { schema: SCHEMA };

/** Everything that a run left in its place, as one text. */
function everythingIn(directory: string): string {
  return readdirSync(directory, { recursive: true, encoding: "utf8" })
    .map((name) => join(directory, name))
    .map((path) => `${path}\n${statSync(path).isFile() ? readFileSync(path, "utf8") : ""}`)
    .join("\n");
}

const SHOWING: readonly (readonly string[])[] = [
  ["--cfg", "job"],
  ["--cfg", "all"],
  ["--cfg", "all", "--resolve"],
  ["--cfg", "job", "--resolve"],
  ["--cfg", "job", "--origins"],
  ["--cfg", "job", "--origins", "--json"],
  ["--cfg", "job", "--json"],
  ["--cfg", "job", "-p", "db.password"],
  ["--explain", "db.password"],
  ["--explain", "db.password", "--json"],
  ["--explain", "url"],
  ["--info", "all"],
  ["--info", "config"],
  ["--help"],
  ["--help", "db.password"],
  ["--dry-run"],
];

describe("a value that the schema marks secret", () => {
  test("is masked where it does not fit the schema, whatever its key is called", async () => {
    const secret = { type: "string", pattern: "^x", writeOnly: true };
    const schema = { properties: { "api/key": secret, "a~b": { properties: { c: secret } } } };
    // Too short to be looked for in texts.
    const text = "api/key: qz\na~b: {c: qz}\n";
    const { run } = program({ "conf/config.yaml": text }, { schema });
    const { exitCode, stderr } = await run([]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('api/key = "***"');
    expect(stderr).toContain('a~b.c = "***"');
    expect(stderr).not.toContain("qz");
  });

  test("is masked in the hint how a text is written that looks like a number", async () => {
    const schema = { properties: { pin: { type: "string", writeOnly: true } } };
    const store = new Map([["base", { value: { pin: "none" }, schema }]]);
    const { run } = program({ "conf/config.yaml": "defaults: [base, _self_]\n" }, { store });
    const { stderr } = await run(["pin=12345.50"]);
    expect(stderr).toContain(`'pin="***"'`);
    expect(stderr).not.toContain("12345");
  });

  test.each([
    ["lists+=cccccc", "lists=***"],
    ["lists.2=cccccc", "list index out of range"],
    ["+lists=cccccc", "An item is already at 'lists'"],
    ["+each=cccccc", "An item is already at 'each'"],
    ["each+=cccccc", "each=cccccc"],
    ["+plain=c", "a list is replaced as a whole: plain=[a,b,c]"],
    ["-m hydra/sweeper=tpe", "as in 'x=choice(3,6)'"],
    ["db.password=correct horse battery", "like 'db.password=***'"],
    ["db.password=choise(correct,battery)", "use db.password=choice(***,***)"],
    ["db.password=correct,battery,", "behind the last value: db.password=***,***"],
    ["lists=(correct,battery)", "a list stands in brackets: lists=[***,***]"],
    ["pin.x=1", "'pin' has no keys"],
  ])("is in no hint of what to write instead: %s", async (line, hint) => {
    const secret = { writeOnly: true };
    const schema = {
      properties: {
        each: { items: secret },
        pin: secret,
        lists: secret,
        db: { properties: { password: secret } },
      },
    };
    const text =
      "pin: 12345678\nlists: [aaaaaa, bbbbbb]\neach: [aaaaaa, bbbbbb]\nplain: [a, b]\ndb: {password: ''}\nx: 3\n";
    const { run } = program({ "conf/config.yaml": text }, { schema });
    const { stderr } = await run(line.split(" "), () => 1);
    expect(stderr).toContain(hint);
    expect(stderr).not.toMatch(/12345678|24691356|aaaaaa|bbbbbb|correct|battery/);
  });

  test.each(SHOWING)("is shown by no flag: %s %s %s %s", async (...argv) => {
    const { run } = program(FILES, options);
    const args = argv.filter((arg) => arg !== undefined);
    const { exitCode, stderr, stdout } = await run([`db.password=${SECRET}`, ...args]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).not.toBe("");
    expect(stdout).not.toContain(SECRET);
    expect(stdout).not.toContain("from-file-secret");
  });

  test("is masked and the rest is not", async () => {
    const { run } = program(FILES, options);
    const plain = await run(["--cfg", "job", `db.password=${SECRET}`, `+db.keys.b='${OTHER}'`]);
    expect(plain.stdout).toBe(
      `db:\n  host: h\n  password: '***'\n  keys:\n    a: '***'\n    b: '***'\ntoken: null\nurl: pg://u:\${db.password}@h\n`,
    );
    const resolved = await run(["--cfg", "job", "--resolve", `token=${SECRET}`]);
    expect(resolved.stdout).toContain("url: pg://u:***@h\n");
    expect(resolved.stdout).toContain("token: '***'\n");
    const explained = await run(["--explain", "db.password", `db.password=${SECRET}`]);
    expect(explained.stdout).toContain('db.password = "***"');
    expect(explained.stdout).toContain("override 'db.password=***'");
  });

  test("is compared, not shown, by --diff", async () => {
    const { run } = program(FILES, options);
    const { stdout } = await run(["--diff", `db.password=${SECRET}`, "db.host=x"]);
    expect(stdout).toContain("changed db.password");
    expect(stdout).toContain("changed db.host");
    expect(stdout).not.toContain(SECRET);
    expect(stdout).not.toContain("from-file-secret");
  });

  test("is stored nowhere by a run: files, logs, names of directories", async () => {
    const { cwd, run } = program(
      {
        "conf/config.yaml": `${FILES["conf/config.yaml"]}hydra:\n  run:\n    dir: out/\${hydra:job.override_dirname}\n`,
      },
      options,
    );
    let got: unknown;
    const result = await run(
      [`db.password=${SECRET}`, `db.keys={a: '${OTHER}'}`, "db.host=x"],
      (config, job) => {
        got = config.toObject({ resolve: true });
        job.log.info(`connecting with ${SECRET}`);
        job.log.info(config.toYaml({ resolve: true }));
        return undefined;
      },
    );
    expect(result.exitCode).toBe(0);
    expect(got).toMatchObject({
      db: { password: SECRET, keys: { a: OTHER } },
      url: `pg://u:${SECRET}@h`,
    });
    expect(readdirSync(join(cwd, "out"))).toEqual(["db.host=x"]);
    const stored = everythingIn(join(cwd, "out"));
    for (const text of [stored, result.stdout, result.stderr])
      for (const secret of [SECRET, OTHER, "from-file-secret"]) expect(text).not.toContain(secret);
    expect(stored).toContain("connecting with ***");
    const directory = join(cwd, "out/db.host=x/.hydra");
    expect(existsSync(directory)).toBe(true);
    expect(readFileSync(join(directory, "overrides.yaml"), "utf8")).toBe(
      "- db.password=***\n- db.keys=***\n- db.host=x\n",
    );
  });

  test("is masked in logs and errors however it is encoded", async () => {
    const { cwd, run } = program(FILES, options);
    const secret = 'it\'s "a/b" 100%é';
    const forms = [
      encodeURIComponent(secret),
      String(new URLSearchParams({ q: secret })).slice(2),
      JSON.stringify(secret).slice(1, -1),
      Buffer.from(`user:${secret}`).toString("base64"),
      Buffer.from(secret).toString("base64url"),
    ];
    const result = await run([`token='${secret.replace("'", "\\'")}'`], (_, job) => {
      for (const form of forms) job.log.info(`sent <${form}>`);
      throw new Error(`refused: ${forms.join(" ")}`);
    });
    expect(result.exitCode).toBe(1);
    expect(result.stderr).toContain("refused: *** *** *** dXNlcj*** ***");
    const stored = everythingIn(cwd);
    for (const text of [stored, result.stdout, result.stderr])
      for (const form of forms) expect(text).not.toContain(form);
    expect(stored.match(/sent <(dXNlcj)?\*\*\*>/g)).toHaveLength(forms.length);
  });

  test("is stored nowhere by a sweep, and every job gets it", async () => {
    const { cwd, run } = program(FILES, options);
    const got: unknown[] = [];
    const result = await run(
      ["-m", `db.password=${SECRET},other-${SECRET}`, "db.host=x"],
      (config) => {
        got.push(config.get("db.password"));
        return undefined;
      },
    );
    expect(result).toMatchObject({ exitCode: 0 });
    expect(got).toEqual([SECRET, `other-${SECRET}`]);
    expect(result.stdout + result.stderr).not.toContain(SECRET);
    expect(everythingIn(join(cwd, "multirun"))).not.toContain(SECRET);
  });

  test("is not supposed of a key that is there, whatever its name is like", async () => {
    const files = { "conf/config.yaml": "model: {tokens: 1, width: 4096}\ntoken: null\n" };
    const { stdout } = await program(files, options).run(["model.tokens=4096", "--cfg", "job"]);
    expect(stdout).toBe("model:\n  tokens: 4096\n  width: 4096\ntoken: null\n");
  });

  test("is in no message about what is wrong", async () => {
    const { run } = program(FILES, options);
    const failing: readonly (readonly string[])[] = [
      [`db.password=${SECRET}]`],
      [`db.password=${SECRET}`, "nope=1"],
      [`db.pasword=${SECRET}`, `db.password=${SECRET}`],
      [`db.pasword=${SECRET}`],
      [`pasword=${SECRET}`],
      [`bd.password=${SECRET}`],
      [`--db.passwrd=${SECRET}`],
      [`db={passwrd:${SECRET}}`],
      [`db={password:${SECRET},hosst:x}`],
      [`tokn=${SECRET}`],
      [`+db.password=${SECRET}`],
      [`db.password={a: ${SECRET}}`],
      [`db={passwrd:"x-${SECRET},y-${SECRET}",host:`],
      [`db={passwrd:'x,${SECRET}'}`],
      [`db={keys:{b:[x,${SECRET}]},hosst:x}`],
      [`db={hosst:x, keys: {b: "${SECRET}"}`],
      ["db.password", SECRET],
      ["db.password", "=", SECRET],
      ["host", "h", "db.password", `=${SECRET}`],
      ["db.password=my", SECRET, "db.host=x"],
      ["--db.password", SECRET, "nope=1"],
      ["--db.keys.a", SECRET, "nope=1"],
    ];
    for (const argv of failing) {
      const { exitCode, stderr } = await run(argv);
      expect(exitCode).not.toBe(0);
      expect(stderr).not.toContain(SECRET);
    }
    const short = await run(["db.password=ab"]);
    expect(short.exitCode).toBe(1);
    expect(short.stderr).toContain('db.password = "***"');
    expect(short.stderr).not.toMatch(/\bab\b/);
    const thrown = await run([`db.password=${SECRET}`], () => {
      throw new Error(`cannot log in with ${SECRET}`);
    });
    expect(thrown.stderr).toContain("cannot log in with ***");
    expect(thrown.stderr).toContain("db.password=***");
    expect(thrown.stderr).not.toContain(SECRET);
  });

  test("is in no note about what was meant", async () => {
    const schema = { properties: { pin: { writeOnly: true } } };
    const { run } = program({ "conf/config.yaml": "pin: 12\nn: 12\n" }, { schema });
    expect((await run(["n=21..23"])).stderr).toContain("range(21,24)");
    expect((await run(["pin=21..23"])).stderr).not.toContain("24");
  });

  test("from the environment is masked where it is resolved", async () => {
    const { run } = program(
      { "conf/config.yaml": "token: ${oc.env:TOKEN}\nheader: Bearer ${token}\n" },
      options,
    );
    const env = { TOKEN: SECRET };
    expect((await run(["--cfg", "job"], undefined, env)).stdout).toContain("${oc.env:TOKEN}");
    const { stdout } = await run(["--cfg", "job", "--resolve"], undefined, env);
    expect(stdout).toBe("token: '***'\nheader: Bearer ***\n");
  });
});

test("a schema of the store marks secrets where its entry is mounted", () => {
  const engine = createEngine({
    env: {},
    store: new Map<string, never>([
      ["config", { text: "defaults: [db@main: pg, _self_]\n" }],
      ["db/pg", { value: { password: "stored" }, schema: SCHEMA.properties.db }],
    ] as never),
  });
  const config = engine.compose({ configName: "config", overrides: [`main.password=${SECRET}`] });
  expect(config.toYaml()).toBe("main:\n  password: '***'\n");
  expect(config.get("main.password")).toBe(SECRET);
  expect(JSON.stringify(config.explain("main.password"), show)).not.toContain(SECRET);
  expect(JSON.stringify(config.origins(), show)).not.toContain(SECRET);
  const other = engine.compose({ configName: "config" });
  const [difference] = config.diff(other);
  expect(difference?.kind).toBe("changed");
  expect(JSON.stringify(difference, show)).not.toMatch(/hunter2|stored/);
});

const show = (_: string, value: unknown): unknown =>
  typeof value === "bigint" ? String(value) : value instanceof Map ? [...value] : value;

test("completion offers no secret", async () => {
  const { run } = program(FILES, options);
  for (const line of ["prog db.password=", "prog db.host= db.pass", "prog db.pass"]) {
    const { stdout } = await run(["-sc", "query=bash"], undefined, {
      COMP_LINE: line,
      COMP_POINT: String(line.length),
    });
    expect(stdout).not.toContain("from-file-secret");
    expect(stdout).not.toContain("***");
  }
});
