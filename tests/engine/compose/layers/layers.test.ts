import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseEnv } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { parseDotenv } from "../../../../src/engine/compose/layers/environment-layers.ts";
import {
  compose,
  createEngine,
  hydraMain,
  isConfigError,
  renderError,
  renderExplanation,
} from "../../../../src/index.ts";
import { compose as composeTexts } from "../../../../src/portable-engine.ts";
import { dotenv, environment, secretFiles } from "../../../../src/sources.ts";
import { capturedConsole } from "../../../captured-console.ts";

const YAML = `
db: {host: localhost, port: 3306, maxConnections: 10, timeout: 1.5, tls: false, password: "???"}
hosts: [a, b]
level: null
`;

const composed = (
  env: Readonly<Record<string, string>>,
  options: Partial<Parameters<typeof composeTexts>[0]> = {},
) =>
  composeTexts({
    files: { "conf/config.yaml": YAML },
    configDir: "conf",
    configName: "config",
    env,
    layers: [environment({ prefix: "APP_" })],
    ...options,
  });

const errorOf = (make: () => unknown): string => {
  try {
    make();
  } catch (error) {
    if (isConfigError(error)) return renderError(error);
    throw error;
  }
  throw new Error("nothing was refused");
};

describe("variables of the environment", () => {
  it.each([
    ["APP_DB__PORT", "1", "db.port", 1],
    ["APP_DB__HOST", "1", "db.host", "1"],
    ["APP_DB__HOST", "${a}b", "db.host", "${a}b"],
    ["APP_DB__HOST", "\\${a}", "db.host", "\\${a}"],
    ["APP_DB__TIMEOUT", "2", "db.timeout", 2],
    ["APP_DB__TIMEOUT", "-inf", "db.timeout", Number.NEGATIVE_INFINITY],
    ["APP_DB__TLS", "on", "db.tls", true],
    ["APP_DB__TLS", "0", "db.tls", false],
    ["APP_DB__MAX_CONNECTIONS", "3", "db.maxConnections", 3],
    ["APP_DB__PASSWORD", "secret", "db.password", "secret"],
    ["APP_HOSTS", "c,d", "hosts", ["c", "d"]],
    ["APP_HOSTS", "[c]", "hosts", ["c"]],
    ["APP_HOSTS__1", "z", "hosts", ["a", "z"]],
    ["APP_LEVEL", "3", "level", 3],
    ["APP_LEVEL", "a: b", "level", "a: b"],
  ])("%s=%s sets %s", (name, text, key, value) => {
    expect(composed({ [name]: text }).get(key, { resolve: true })).toEqual(value);
  });

  it("keeps every text that a key of texts is given", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        fc.pre(text !== "???");
        expect(composed({ APP_DB__HOST: text }).get("db.host")).toBe(text);
      }),
      { numRuns: 40 },
    );
  });

  it("tells where a value comes from, and what it replaced", () => {
    const why = composed({ APP_DB__PORT: "1" }).explain("db.port");
    expect(why && renderExplanation(why)).toBe(
      [
        "db.port = 1",
        "  set by environment variable APP_DB__PORT",
        "  replaced 3306 of conf/config.yaml:2:29",
        "    in the composition of config",
      ].join("\n"),
    );
  });

  it("stands below the overrides", () => {
    const config = composed({ APP_DB__PORT: "1" }, { overrides: ["db.port=2"] });
    expect(config.get("db.port")).toBe(2);
  });

  it("takes the types of a schema", () => {
    const schema = z.object({ level: z.string() }).loose();
    expect(composed({ APP_LEVEL: "3" }, { schema }).get("level")).toBe("3");
    const json = { properties: { level: { type: ["integer", "null"] } } };
    const ajv = () => ({ compile: () => Object.assign(() => true, { errors: null }) });
    expect(composed({ APP_LEVEL: "3" }, { schema: json, ajv }).get("level")).toBe(3);
    expect(errorOf(() => composed({ APP_LEVEL: "x" }, { schema: json, ajv }))).toContain(
      "environment variable APP_LEVEL: 'x' is not an integer, as the schema says",
    );
  });

  it("refuses a text of another type, and a key that is not there", () => {
    expect(errorOf(() => composed({ APP_DB__PORT: "many" }))).toContain(
      "environment variable APP_DB__PORT: 'many' is not a number, as in conf/config.yaml:2:29",
    );
    const unknown = errorOf(() => composed({ APP_DB__PRT: "1" }));
    expect(unknown).toContain("environment variable APP_DB__PRT: the config has no key 'db.prt'");
    expect(unknown).toContain("Did you mean 'db.port'?");
    const layers = [environment({ prefix: "APP_", unknown: "ignore" })];
    expect(composed({ APP_DB__PRT: "1" }, { layers }).get("db.port")).toBe(3306);
  });

  it.each([
    ["APP_DB_PORT", "APP_", "__", "db.port", "APP_DB__PORT"],
    ["APP_DB__PRT", "APP_", "__", "db.port", "APP_DB__PORT"],
    ["APP_DB_MAX_CONNECTIONS", "APP_", "__", "db.maxConnections", "APP_DB__MAX_CONNECTIONS"],
    ["APP_HOSTS_1", "APP_", "__", "hosts.1", "APP_HOSTS__1"],
    ["APP_DB__MAX_CONNECTIONS", "APP_", "_", "db.maxConnections", "APP_DB_MAXCONNECTIONS"],
  ])(
    "names the variable that was meant by %s of %s with %s",
    (name, prefix, separator, key, meant) => {
      const layers = [environment({ prefix, separator })];
      const told = errorOf(() => composed({ [name]: "7" }, { layers }));
      expect(told).toContain(`Did you mean '${key}'?`);
      expect(told).toContain(`Hint: name it ${meant}; or add the key to a config file`);
      expect(String(composed({ [meant]: "7" }, { layers }).get(key))).toBe("7");
    },
  );

  it("are named where a value is missing that they would set", () => {
    const layers = [
      environment({ prefix: "APP_", table: { PGPASSWORD: "db.password" }, unknown: "ignore" }),
      environment({ table: { OTHER: "db.host" } }),
      secretFiles({ directory: "secrets" }),
      secretFiles({ directory: "vault", table: { pw: "db.password" } }),
    ];
    const [first, ...others] = [
      "environment variable PGPASSWORD",
      "environment variable APP_DB__PASSWORD",
      "secret file secrets/db__password",
      "secret file vault/pw",
    ];
    const hint = `Hint: it is set by ${[first, ...others].join(" or ")}`;
    const schema = z.object({ db: z.object({ password: z.string() }) });
    const files = { "conf/config.yaml": "db: {password: '???', host: h}\n" };
    expect(errorOf(() => composed({}, { files, layers }).get("db.password"))).toContain(hint);
    expect(errorOf(() => composed({}, { files, layers, schema }).toObject())).toContain(hint);
    for (const name of ["PGPASSWORD", "APP_DB__PASSWORD"])
      expect(composed({ [name]: "x" }, { files, layers }).get("db.password")).toBe("x");
    const bare = errorOf(() => composed({}, { files, layers: [] }).get("db.password"));
    expect(bare).not.toContain("Hint");
  });

  it("are not named where they would not set it: for a key that the config lacks, or by a name that no shell can set", () => {
    const layers = [environment({ prefix: "APP_" }), secretFiles({ directory: "secrets" })];
    const files = { "conf/config.yaml": 'db: {host: h}\n"a.b": ???\n"c/d": ???\nmax-size: ???\n' };
    const schema = z.object({ db: z.object({ port: z.string() }) });
    expect(errorOf(() => composed({}, { files, layers, schema }).toObject())).not.toContain("PORT");
    const hintOf = (key: string) =>
      /Hint: (.*)/.exec(errorOf(() => composed({}, { files, layers }).get(key)))?.[1];
    expect(hintOf("[a.b]")).toBe("it is set by secret file secrets/a.b");
    expect(hintOf("c/d")).toBeUndefined();
    expect(hintOf("max-size")).toBe(
      "it is set by environment variable APP_MAX_SIZE or secret file secrets/max-size",
    );
    expect(composed({ APP_MAX_SIZE: "7" }, { files, layers }).get("max-size")).toBe(7);
  });

  it("are named for a program whose schema misses a value", async () => {
    const base = mkdtempSync(join(tmpdir(), "hydraconf-layers-"));
    mkdirSync(join(base, "conf"));
    writeFileSync(join(base, "conf/config.yaml"), "password: ???\n");
    const { console, out } = capturedConsole();
    const schema = { properties: { password: { type: "string" } } };
    const options = { configPath: "conf", configName: "config", base, schema } as const;
    const layers = [environment({ prefix: "APP_" })];
    const run = { argv: [], env: {}, cwd: base, console };
    expect(await hydraMain({ ...options, layers }, () => undefined, run)).toBe(1);
    expect(out.stderr).toContain("set by:       environment variable APP_PASSWORD\n");
  });

  it("does not guess where the letters fit several keys, or the name is one of a table", () => {
    const files = { "conf/config.yaml": "a: {bc: 1}\nab: {c: 2}\n" };
    const several = errorOf(() => composed({ APP_ABC: "7" }, { files }));
    expect(several).toContain("Available: a.bc, ab.c");
    expect(several).not.toContain("name it");
    const layers = [environment({ table: { PORT: "db_port" }, unknown: "ignore" })];
    const told = errorOf(() => composed({ PORT: "7" }, { layers }));
    expect(told).toContain("Did you mean 'db.port'?");
    expect(told).not.toContain("name it");
  });

  it("refuses a name that fits several keys", () => {
    const files = { "conf/config.yaml": "ab: 1\na_b: 2\nAB: 3\n" };
    expect(composed({ APP_ab: "7" }, { files }).get("ab")).toBe(7);
    expect(errorOf(() => composed({ APP_Ab: "7" }, { files }))).toContain(
      "environment variable APP_Ab may mean several keys: ab, AB",
    );
  });

  it.each(["1.3", "1.4"] as const)("sets keys as YAML reads them, in Hydra %s", (dialect) => {
    const set = (yaml: string, env: Readonly<Record<string, string>>) =>
      composed(env, { files: { "conf/config.yaml": yaml }, dialect }).toYaml();
    expect(set("m: {10: a, 2: b}\n", { APP_M__10: "x" })).toBe("m:\n  10: x\n  2: b\n");
    expect(set("m: {'10': a}\n", { APP_M__10: "x" })).toBe("m:\n  '10': x\n");
    expect(set("m: {1.5: a, true: b}\n", { "APP_M__1.5": "x", APP_M__TRUE: "y" })).toBe(
      "m:\n  1.5: x\n  true: 'y'\n",
    );
    expect(set("l: [{10: {a: 1}}]\n", { APP_L__0__10__A: "3" })).toBe("l:\n- 10:\n    a: 3\n");
    expect(set("'a[0]': 1\n'x]y.z': 2\n", { "APP_A[0]": "3", "APP_X]Y.Z": "4" })).toBe(
      "a[0]: 3\nx]y.z: 4\n",
    );
    expect(set("m: {}\n", { APP_M: "{10: x, a: b}" })).toBe("m:\n  10: x\n  a: b\n");
    expect(errorOf(() => set("m: {10: a}\n", { APP_M__1: "x" }))).toContain(
      "environment variable APP_M__1: the config has no key 'm.1'",
    );
  });

  it("names the variable where both an integer and a text are such a key", () => {
    const files = { "conf/config.yaml": "m: {10: a, '10': b}\n" };
    expect(errorOf(() => composed({ APP_M__10: "x" }, { files }))).toContain(
      "environment variable APP_M__10 may mean several keys: 10, '10'",
    );
  });

  it("takes a table, whose names need no prefix", () => {
    const layers = [environment({ table: { PORT: "db.port" } })];
    expect(composed({ PORT: "80", APP_DB__PORT: "1" }, { layers }).get("db.port")).toBe(80);
  });

  it("is read again after refresh", () => {
    const env: Record<string, string> = { APP_DB__PORT: "1" };
    const engine = createEngine({
      env,
      store: new Map([["config", { value: { db: { port: 3306 } } }]]),
      layers: [environment({ prefix: "APP_" })],
    });
    const port = () => engine.compose({ configName: "config" }).get("db.port");
    expect(port()).toBe(1);
    env["APP_DB__PORT"] = "2";
    expect(port()).toBe(1);
    engine.refresh();
    expect(port()).toBe(2);
  });
});

it("a plugin may bring layers, which come before those of the program", () => {
  const plugin = {
    name: "mine",
    layers: [environment({ table: { PORT: "db.port", HOST: "db.host" } })],
  };
  const config = composed({ PORT: "1", HOST: "h", APP_DB__PORT: "2" }, { plugins: [plugin] });
  expect([config.get("db.host"), config.get("db.port")]).toEqual(["h", 2]);
});

describe(".env files", () => {
  const files = {
    "conf/config.yaml": YAML,
    ".env": "APP_DB__PORT=1\nAPP_DB__HOST=of.env\n",
    ".env.local": "APP_DB__PORT=2\n",
    ".env.production": "APP_DB__PORT=3\n",
    ".env.production.local": "export APP_LEVEL = 'x # y' # comment\n",
  };
  const layers = [dotenv(), environment({ prefix: "APP_" })];

  it("are read in Vite's order, and the process's variables come first", () => {
    const port = (env: Readonly<Record<string, string>>) =>
      composed(env, { files, layers }).get("db.port");
    expect(port({})).toBe(2);
    expect(port({ NODE_ENV: "production" })).toBe(3);
    expect(port({ NODE_ENV: "production", APP_DB__PORT: "4" })).toBe(4);
    expect(composed({ NODE_ENV: "production" }, { files, layers }).get("level")).toBe("x # y");
  });

  it("give way to the process's variables, and earlier files to later ones, in any spelling of a key", () => {
    const level = (env: Readonly<Record<string, string>>, more: Readonly<Record<string, string>>) =>
      composed(env, { files: { ...files, ...more }, layers }).get("db.maxConnections");
    const spellings = [
      "APP_DB__MAX_CONNECTIONS",
      "APP_DB__MAXCONNECTIONS",
      "APP_db__maxConnections",
    ];
    for (const one of spellings)
      for (const other of spellings) {
        expect(level({ [one]: "1" }, { ".env": `${other}=2\n` })).toBe(1);
        expect(level({}, { ".env": `${one}=1\n`, ".env.local": `${other}=2\n` })).toBe(2);
        const three = { ".env": `${one}=1\n`, ".env.local": `${other}=2\n` };
        const mode = { NODE_ENV: "test" };
        expect(level(mode, { ...three, ".env.test": `${one}=3\n` })).toBe(3);
      }
    // A whole map of the process replaces a key of it in a file.
    const port = composed({ APP_DB: "{port:7}" }, { files, layers }).get("db.port");
    expect(port).toBe(7);
  });

  it("are places that explain shows", () => {
    const why = composed({}, { files, layers }).explain("db.host");
    expect(why && renderExplanation(why)).toContain("set by .env:2:14");
  });

  it("are what oc.env reads", () => {
    const own = { ...files, "conf/config.yaml": "host: ${oc.env:APP_DB__HOST}\n" };
    expect(composed({}, { files: own, layers: [dotenv()] }).get("host")).toBe("of.env");
  });

  it("must consist of assignments; an error does not quote the line, which may be of a key", () => {
    const key = "A=1\nKEY=-----BEGIN\nMIIhunter22\n";
    const told = errorOf(() => composed({}, { files: { ...files, ".env": key }, layers }));
    expect(told).toContain(".env:3: the line is no assignment");
    expect(told).not.toContain("hunter22");
  });

  it("are read as Node reads them", () => {
    const name = fc.stringMatching(/^[A-Z][A-Z0-9_]{0,4}$/);
    const value = fc.oneof(
      fc.stringMatching(/^[a-z0-9$={}.,:/@-][ a-z0-9$={}.,:/@-]{0,12}$/),
      fc.stringMatching(/^"[ a-z0-9#'=\n]{0,12}"$/),
      fc.stringMatching(/^'[ a-z0-9#"=\n]{0,12}'$/),
    );
    const line = fc.oneof(
      fc.tuple(name, value).map(([key, text]) => `${key}=${text}`),
      fc.constant("# a comment"),
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 6 }), (lines) => {
        const text = `${lines.join("\n")}\n`;
        const ours = parseDotenv(".env", text).map(({ name, text }) => [name, text]);
        expect(Object.fromEntries(ours)).toEqual({ ...parseEnv(text) });
      }),
    );
  });
});

describe("files with secrets", () => {
  const folder = () => {
    const directory = mkdtempSync(join(tmpdir(), "layers-"));
    mkdirSync(join(directory, "conf"));
    mkdirSync(join(directory, "secrets"));
    writeFileSync(join(directory, "conf", "config.yaml"), YAML);
    writeFileSync(join(directory, "secrets", "db__password"), "hunter22\n");
    return directory;
  };

  it("set the keys of their names, and are masked", () => {
    const config = compose({
      cwd: folder(),
      configDir: "conf",
      configName: "config",
      layers: [secretFiles({ directory: "secrets" })],
    });
    expect(config.get("db.password")).toBe("hunter22");
    expect(config.toYaml()).toContain("password: '***'");
    const why = config.explain("db.password");
    expect(why && renderExplanation(why)).toContain("set by secret file secrets/db__password");
    expect(JSON.stringify(config)).not.toContain("hunter22");
  });

  it.each([
    ["db", "db: {host: a}\n"],
    ["db", "db: [a]\n"],
    ["db", "db: 1\n"],
    ["db", "db: true\n"],
    // The type of a field.
    ["hydra__job__chdir", "db: 1\n"],
    ["hydra__job__num", "db: 1\n"],
  ])("do not appear in the error of the file %s for '%s'", (name, yaml) => {
    const files = { "conf/config.yaml": yaml, [`secrets/${name}`]: "p@ss{" };
    const layers = [secretFiles({ directory: "secrets" })];
    const refused = errorOf(() => composed({}, { files, layers }));
    expect(refused).toContain(`secret file secrets/${name}: its text`);
    expect(refused).not.toContain("p@ss");
  });

  it.each([
    ["a JSON Schema", { properties: { password: { type: "string", minLength: 20 } } }],
    ["a validator", z.object({ password: z.string().min(20) })],
  ])("are where an error of %s is, and not the value that they replace", (_, schema) => {
    const refused = errorOf(() =>
      createEngine({
        cwd: folder(),
        layers: [secretFiles({ directory: "secrets", table: { db__password: "password" } })],
        store: new Map([["config", { text: "password: ???\n" }]]),
      })
        .compose({ configName: "config", schema })
        .toObject(),
    );
    expect(refused).toContain("--> secret file secrets/db__password");
    expect(refused).not.toContain("hunter22");
  });

  it("may be named by a variable", () => {
    const config = compose({
      cwd: folder(),
      env: { APP_DB__PASSWORD_FILE: "secrets/db__password" },
      configDir: "conf",
      configName: "config",
      layers: [environment({ prefix: "APP_", fileSuffix: "_FILE" })],
    });
    expect(config.get("db.password")).toBe("hunter22");
    expect(config.toYaml({ resolve: true })).toContain("password: '***'");
  });

  it("are told the name that was meant", () => {
    const tree = { cwd: folder(), configDir: "conf", configName: "config" };
    const fileSuffix = environment({ prefix: "APP_", fileSuffix: "_FILE" });
    const env = { APP_DB_PASSWORD_FILE: "secrets/db__password" };
    expect(errorOf(() => compose({ ...tree, env, layers: [fileSuffix] }))).toContain(
      "Hint: name it APP_DB__PASSWORD_FILE; or ",
    );
    const layers = [secretFiles({ directory: "secrets", separator: "--" })];
    expect(errorOf(() => compose({ ...tree, layers }))).toContain(
      "Hint: name it db--password; or ",
    );
  });

  it("are masked in the logs and files of a program", async () => {
    const cwd = folder();
    const { console, out } = capturedConsole();
    const code = await hydraMain(
      {
        base: cwd,
        name: "prog",
        configPath: "conf",
        configName: "config",
        layers: [dotenv(), environment({ prefix: "APP_" }), secretFiles({ directory: "secrets" })],
      },
      (config, job) => job.log.info(`${config.get("db.port")} ${config.get("db.password")}`),
      { cwd, console, env: { APP_DB__PORT: "7" }, argv: ["hydra.run.dir=out"] },
    );
    expect([code, out.stderr]).toEqual([0, ""]);
    expect(out.stdout).toContain("7 ***");
  });
});
