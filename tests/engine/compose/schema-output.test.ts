import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { renderExplanation } from "../../../src/app/cli/show-explanation.ts";
import type { AjvFactory } from "../../../src/engine/schema/given-ajv.ts";
import type { ConfigSchema } from "../../../src/engine/values/config-schema.ts";
import { renderError } from "../../../src/engine/values/render-error.ts";
import { createEngine, createTargets, instantiate } from "../../../src/portable-engine.ts";
import { runs } from "../../runs.ts";
import { refusal } from "./in-memory.ts";

const ajv: AjvFactory = (options) => new Ajv2020(options);

const compose = <const Schema extends ConfigSchema>(
  text: string,
  schema: Schema,
  { env = {}, overrides = [] as readonly string[], files = {} } = {},
) =>
  createEngine({ files: { "conf/config.yaml": text, ...files }, env, ajv }).compose({
    configDir: "conf",
    configName: "config",
    overrides: [...overrides],
    schema,
  });

const explained = (config: ReturnType<typeof compose>, key: string): string => {
  const found = config.explain(key);
  return found === undefined ? "" : renderExplanation(found);
};

const server = z.object({
  server: z.object({
    port: z.coerce.number().int(),
    host: z.string().default("localhost"),
    since: z.coerce.date().optional(),
    tags: z.array(z.string().trim()).default(["web"]),
  }),
});

describe("what a validator gives", () => {
  it("is the config: defaults, conversions and transforms, everywhere", () => {
    const config = compose('server:\n  port: "8080"\n', server);
    expect(config.toObject()).toEqual({ server: { port: 8080, host: "localhost", tags: ["web"] } });
    expect(config.get("server.port")).toBe(8080);
    expect(config.get("server.tags")).toEqual(["web"]);
    expect(config.toYaml()).toBe("server:\n  port: 8080\n  host: localhost\n  tags:\n  - web\n");
    expectTypeOf(config.get("server.port")).toEqualTypeOf<number>();
  });

  it("has origins that explain shows", () => {
    const config = compose("server:\n  port: ${oc.env:PORT}\n", server, { env: { PORT: "80" } });
    expect(explained(config, "server.port")).toBe(
      [
        "server.port = 80",
        '  set by converted from "${oc.env:PORT}" at conf/config.yaml:2:9',
        '  replaced "${oc.env:PORT}" of conf/config.yaml:2:9',
        "    in the composition of config",
      ].join("\n"),
    );
    expect(explained(config, "server.host")).toBe(
      'server.host = "localhost"\n  set by schema default',
    );
    const overridden = compose("server: {}\n", server, { overrides: ['+server.port="1"'] });
    expect(explained(overridden, "server.port")).toContain(
      'converted from "1" at override \'+server.port="1"\'',
    );
  });

  it("keeps what it left as it was, interpolations included, and what it dropped", () => {
    const config = compose("base: /data\nserver:\n  port: 1\n  host: ${base}/x\n", server);
    expect(config.toYaml()).toContain("host: ${base}/x");
    expect(config.toObject()).toMatchObject({ base: "/data", server: { host: "/data/x" } });
  });

  it("holds values of classes, and shows their text", () => {
    const config = compose("server: {port: 1, since: 2026-01-02}\n", server);
    const { since } = config.toObject().server;
    expect(since).toEqual(new Date("2026-01-02"));
    expect(config.get("server.since")).toEqual(since);
    expect(config.get("server").since).toEqual(since);
    expect(config.get("server.since.nothing" as never)).toBeUndefined();
    expect(config.toYaml()).toContain("since: '2026-01-02T00:00:00.000Z'");
  });

  it("is not known before all values are: then a key that it would give says why", () => {
    const config = compose("server: {port: 1}\nname: ???\n", server.extend({ name: z.string() }));
    expect(config.get("server.port")).toBe(1);
    expect(refusal(() => config.get("server.host")).message).toBe("Key 'name' has no value");
    expect(refusal(() => config.toObject()).code).toBe("schema.mismatch");
  });

  it("hides secrets in origins", () => {
    const schema = z.object({ pin: z.coerce.number().meta({ writeOnly: true }) });
    const config = compose("pin: '987654321'\n", schema);
    expect(config.get("pin")).toBe(987654321);
    expect(explained(config, "pin")).not.toContain("987654321");
    expect(explained(config, "pin")).toContain("converted from *** at conf/config.yaml:1:6");
  });
});

describe("what a validator makes of a secret", () => {
  const database = z.object({
    password: z.string().trim().meta({ writeOnly: true }),
    url: z.string().trim(),
    port: z.number().default(5432),
  });
  const schema = database.transform((db) => ({ ...db, dsn: `pg://${db.password}@h:${db.port}` }));
  const text = "password: ${oc.env:PW}\nurl: ' at ${password}'\n";

  /** A transform hides from zod which keys are secret. */
  const withMarks = <Schema extends z.ZodType>(schema: Schema) =>
    Object.assign(schema, {
      "~standard": {
        ...schema["~standard"],
        jsonSchema: {
          input: () => ({ properties: { password: { writeOnly: true } } }),
          output: () => ({}),
        },
      },
    });

  it("is a secret, too", () => {
    const marked = withMarks(schema);
    const config = compose(text, marked, { env: { PW: " hunter22 " } });
    expect(config.toObject()).toEqual({
      password: "hunter22",
      url: "at  hunter22",
      port: 5432,
      dsn: "pg://hunter22@h:5432",
    });
    expect(config.toYaml({ resolve: true })).toBe(
      "password: '***'\nurl: '***'\nport: 5432\ndsn: '***'\n",
    );
    for (const key of ["password", "url", "dsn"])
      expect(explained(config, key)).not.toContain("hunter");
    const other = compose(text, marked, { env: { PW: "another one" } });
    expect(
      JSON.stringify(config.diff(other), (_, value) =>
        typeof value === "bigint" ? `${value}` : value,
      ),
    ).not.toMatch(/hunter|another/);
  });

  const ENTITIES: Readonly<Record<string, string>> = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
  };

  /** As programs write a password into another value, each by an encoder that is not the code under test. */
  const FORMS: Readonly<Record<string, (password: string) => string>> = {
    "a URL": (password) => Object.assign(new URL("pg://u@h/db"), { password }).href,
    "a query": (password) => Object.assign(new URL("http://h/"), { search: `?k=${password}` }).href,
    "a form": (password) => String(new URLSearchParams({ user: "u", password })),
    JSON: (password) => JSON.stringify({ password }),
    "a word of a shell": (password) => `login '${password.replaceAll("'", "'\\''")}'`,
    HTML: (password) =>
      `<a title="${password.replaceAll(/[&<>"]/g, (one) => ENTITIES[one] ?? one)}">`,
    "Basic authentication": (password) =>
      `Basic ${Buffer.from(`u:${password}`).toString("base64")}`,
    base64url: (password) => Buffer.from(`u:${password}@h`).toString("base64url"),
  };

  const aPassword = fc.oneof(
    fc.string({ unit: "grapheme", minLength: 4, maxLength: 30 }),
    fc.string({ unit: "grapheme-ascii", minLength: 4, maxLength: 30 }),
  );

  const EXAMPLES = ["s3cr&t/pw", "p@ss'w(o)rd!~", "50%/half", "två ord"];

  it.each(Object.entries(FORMS))("is a secret in %s", (_, form) => {
    fc.assert(
      fc.property(aPassword, (password) => {
        const made = z
          .object({ password: z.string() })
          .transform((db) => ({ made: form(db.password), other: "unrelated" }));
        const config = compose("password: ${oc.env:PW}\n", withMarks(made), {
          env: { PW: password },
        });
        expect(config.toYaml({ resolve: true })).toBe(
          "password: '***'\nmade: '***'\nother: unrelated\n",
        );
      }),
      { numRuns: runs(50), examples: EXAMPLES.map((password) => [password]) },
    );
  });
});

describe("the problems that a validator finds", () => {
  it("are told all at once, each at its place, and the environment variable by its name", () => {
    const text = "server:\n  port: ${oc.env:APP_PORT}\n  host: ${name}\nname: ${oc.env:APP_NAME}\n";
    const error = refusal(() =>
      compose(text, server.extend({ name: z.string().max(2), lr: z.number() }), {
        env: { APP_PORT: "many", APP_NAME: "long" },
        overrides: ["+lr=high"],
      }),
    );
    const shown = renderError(error);
    expect(shown).toContain("Value of 'server.port' does not fit");
    expect(shown).toContain("(environment variable APP_PORT)");
    expect(shown).toContain("conf/config.yaml:2:9");
    expect(shown).toContain("(environment variable APP_NAME)");
    expect(shown).toContain("override '+lr=high'");
    expect(error.details.others).toHaveLength(2);
  });
});

describe("the defaults of a JSON Schema", () => {
  const schema = {
    type: "object",
    properties: {
      db: {
        type: "object",
        default: {},
        properties: { port: { type: "integer", default: 3306 }, host: { type: "string" } },
      },
      jobs: { type: "array", items: { $ref: "#/$defs/job" } },
    },
    $defs: {
      job: {
        type: "object",
        properties: { retries: { type: "integer", default: 2 } },
        required: ["name"],
      },
    },
  } as const;

  /** Nodes of a tree: the property refers to the whole. */
  const nested = (property: object, more: object = {}) => ({
    $ref: "#/$defs/node",
    $defs: {
      node: {
        type: "object",
        properties: { child: { $ref: "#/$defs/node", ...property }, ...more },
      },
    },
  });

  it.each([
    [nested({ default: {} }), "child.child"],
    [nested({ default: { child: {} } }), "child.child.child"],
    [nested({ default: {} }, { size: { default: 1 } }), "child.child"],
    [nested({}, { next: { $ref: "#/$defs/node", default: { child: {} } } }), "next.child.next"],
    [
      {
        properties: { a: { $ref: "#/$defs/a", default: {} } },
        $defs: {
          a: { properties: { b: { allOf: [{ $ref: "#/$defs/b" }], default: {} } } },
          b: { properties: { a: { $ref: "#/$defs/a", default: {} } } },
        },
      },
      "a.b.a.b",
    ],
  ])("are refused where they have no end: %j", (recursive, key) => {
    const error = refusal(() => compose("x: 1\n", recursive));
    expect({ code: error.code, key: error.details.key }).toEqual({ code: "schema.invalid", key });
    expect(renderError(error)).toContain(`'${key}' stands in a default of its own`);
  });

  it("of a schema that contains itself end where the values end, or with the default that ends it", () => {
    const sized = nested({}, { size: { default: 1 } });
    expect(compose("child: {child: {}}\n", sized).toObject()).toEqual({
      child: { child: { size: 1 }, size: 1 },
      size: 1,
    });
    // What the hint of the error says.
    const ended = nested({ default: { child: null } }, { size: { default: 1 } });
    const open = { ...ended, $defs: { node: { ...ended.$defs.node, type: ["object", "null"] } } };
    expect(compose("x: 1\n", open).toObject()).toEqual({
      x: 1,
      child: { child: null, size: 1 },
      size: 1,
    });
  });

  it("stand for keys that no config has, at any depth, with an origin", () => {
    const config = compose("jobs: [{name: a}, {name: b, retries: 5}]\n", schema);
    expect(config.toObject()).toEqual({
      jobs: [
        { name: "a", retries: 2 },
        { name: "b", retries: 5 },
      ],
      db: { port: 3306 },
    });
    expect(explained(config, "db.port")).toBe("db.port = 3306\n  set by schema default");
    expectTypeOf(config.get("db.port")).toEqualTypeOf<number>();
    expectTypeOf(config.get("db.host")).toEqualTypeOf<string | undefined>();
  });

  it("leave what is given, and what a branch of anyOf would add", () => {
    const branches = { anyOf: [{ properties: { x: { default: 1 } } }, { required: ["y"] }] };
    expect(compose("y: null\n", branches).toObject()).toEqual({ y: null });
    const given = { properties: { y: { default: 1 } } };
    expect(compose("y: null\n", given).toObject()).toEqual({ y: null });
  });
});

describe("one door", () => {
  it("takes the path of a file with a JSON Schema", () => {
    const files = {
      "schemas/app.json": '{"properties": {"x": {"type": "integer", "default": 3}}}',
    };
    expect(compose("", "schemas/app.json", { files }).get("x" as never)).toBe(3);
    const error = refusal(() => compose("", "schemas/none.json"));
    expect(error.code).toBe("schema.invalid");
    expect(error.message).toBe("The schema 'schemas/none.json' cannot be read: no such file");
  });

  it("takes a schema for all compositions of an engine, which one of them may replace", () => {
    const files = { "conf/config.yaml": "x: '1'\n" };
    const engine = createEngine({ files, schema: z.object({ x: z.coerce.number() }) });
    const config = engine.compose({ configDir: "conf", configName: "config" });
    expect(config.get("x")).toBe(1);
    expectTypeOf(config.get("x")).toEqualTypeOf<number>();
    const other = engine.compose({
      configDir: "conf",
      configName: "config",
      schema: z.object({ x: z.string() }),
    });
    expect(other.get("x")).toBe("1");
    expectTypeOf(other.get("x")).toEqualTypeOf<string>();
  });

  it("converts what an entry of a store mounts, before the schema of the whole config", () => {
    const db = z.object({ port: z.coerce.number().default(1), name: z.string().toUpperCase() });
    const engine = createEngine({
      files: { "conf/config.yaml": "defaults: [base_db, _self_]\ndb: {name: main}\n" },
      store: new Map([["base_db", { value: { name: "?" }, package: "db", schema: db }]]),
    });
    const whole = z.object({ db: z.object({ port: z.number(), name: z.literal("MAIN") }) });
    const config = engine.compose({ configDir: "conf", configName: "config", schema: whole });
    expect(config.toObject()).toEqual({ db: { name: "MAIN", port: 1 } });
    expect(explained(config, "db.port")).toContain("schema default of 'base_db'");
  });
});

describe("the schema of instantiate", () => {
  const targets = createTargets({ make: (options: object) => options });
  const schema = z.object({ size: z.coerce.number().default(3), day: z.coerce.date().optional() });

  it("checks and converts what is instantiated, before arguments are merged", () => {
    const made = instantiate(
      { model: { _target_: "make", size: "7", day: "2026-01-02" }, other: "${nothing}" },
      { key: "model", schema, targets, overrides: { extra: 1 } },
    );
    expect(made).toEqual({ size: 7, day: new Date("2026-01-02"), extra: 1 });
    expect(instantiate({ _target_: "make" }, { schema, targets })).toEqual({ size: 3 });
    const error = refusal(() => instantiate({ _target_: "make", size: "x" }, { schema, targets }));
    expect(error.code).toBe("schema.mismatch");
    expect(error.details.key).toBe("size");
  });

  it("is not needed where the config has been through one", () => {
    const whole = z.object({ model: schema.loose() });
    const config = compose("model: {_target_: make, day: 2026-01-02}\n", whole);
    expect(instantiate(config, { key: "model", targets })).toEqual({
      size: 3,
      day: new Date("2026-01-02"),
    });
  });
});
