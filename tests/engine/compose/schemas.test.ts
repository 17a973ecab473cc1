import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import type { Config } from "../../../src/engine/compose/index.ts";
import type { StoreEntry } from "../../../src/engine/compose/sources/memory-source.ts";
import { createConfigAjv } from "../../../src/engine/schema/ajv.ts";
import { createConfigReader } from "../../../src/engine/schema/config-reader.ts";
import type { ConfigSchema } from "../../../src/engine/values/config-schema.ts";
import { lineColumn } from "../../../src/engine/values/origin.ts";
import { renderError } from "../../../src/engine/values/render-error.ts";
import { createEngine } from "../../../src/engine.ts";
import { filesSource, pointedAt, refusal } from "./in-memory.ts";

const PORT = { type: "integer", minimum: 1, maximum: 65535, description: "where it listens" };

const DB: ConfigSchema = {
  type: "object",
  additionalProperties: false,
  required: ["host", "port"],
  properties: { host: { type: "string" }, port: PORT, timeout: { type: "number" } },
};

/** A validator of its own kind, as zod, valibot and arktype are. */
const positive: ConfigSchema = {
  "~standard": {
    version: 1,
    vendor: "test",
    validate: (value: unknown) =>
      Number((value as { port?: unknown }).port) > 0
        ? { value }
        : { issues: [{ message: "Expected a positive port", path: [{ key: "port" }] }] },
  },
};

const engineWith = (schema: ConfigSchema, extra: Readonly<Record<string, string>> = {}) =>
  createEngine({
    env: {},
    store: new Map<string, never>([
      ["config", { text: "defaults: [db: mysql, _self_]\nlr: 1\n" }],
      ["db/mysql", { value: { host: "localhost", port: 3306 }, schema }],
      ["base_db", { value: { host: "???", port: 1 }, schema, package: "db" }],
      ...Object.entries(extra).map(([path, text]) => [path, { text }]),
    ] as never),
  });

const compose = (
  overrides: readonly string[],
  schema: ConfigSchema = DB,
  extra: Readonly<Record<string, string>> = {},
  configName = "config",
) => engineWith(schema, extra).compose({ configName, overrides });

describe("a schema in the config store", () => {
  it("lets through what fits, overrides included", () => {
    expect(compose(["db.port=5432", "+db.timeout=1.5"]).get("db")).toEqual({
      host: "localhost",
      port: 5432,
      timeout: 1.5,
    });
  });

  it("refuses a wrong type and a value out of range, at the override", () => {
    for (const override of ["db.port=70000", "db.port=many"]) {
      const error = refusal(() => compose([override]));
      expect(error.code).toBe("schema.mismatch");
      expect(error.details.key).toBe("db.port");
      expect(pointedAt(error)).toBe(override);
      expect(error.details.hint).toBe("where it listens");
    }
    expect(refusal(() => compose(["db.port=70000"])).message).toBe(
      "Value of 'db.port' does not fit: expected at most 65535 (schema of 'db/mysql')",
    );
  });

  it("says how a text is written that looks like a number, on the command line and in a file", () => {
    const hint = (run: () => unknown) => refusal(run).details.hint;
    expect(hint(() => compose(["db.host=10"]))).toBe(
      "to make it a string, write 'db.host=\"10\"' in a shell",
    );
    const extra = { app: "defaults:\n- base_db\n- _self_\ndb:\n  host: true\n" };
    expect(hint(() => compose([], DB, extra, "app"))).toBe('to make it a string, write "true"');
    expect(compose(['db.host="10"']).get("db.host")).toBe("10");
    // As it was typed, with the signs that the key needs.
    const open: ConfigSchema = { properties: { name: { type: "string" } } };
    expect(hint(() => compose(["+db.name=1e5"], open))).toBe(
      "to make it a string, write '+db.name=\"1e5\"' in a shell",
    );
    expect(hint(() => compose(["+db={name: 1e5}"], open))).toBe('to make it a string, write "1e5"');
    for (const none of ["db.host=[10]", "db.host=null"])
      expect(
        hint(() => compose([none])),
        none,
      ).toBeUndefined();
  });

  it("refuses an unknown key and names the nearest", () => {
    const error = refusal(() => compose(["+db.prot=1"]));
    expect(error.message).toContain("Key 'db.prot' is not in the schema");
    expect(error.details).toMatchObject({
      key: "db.prot",
      nearest: "port",
      available: ["host", "port", "timeout"],
    });
  });

  it("names all problems, and the key that is missing", () => {
    const error = refusal(() => compose(["~db.host", "db.port=0"]));
    expect(error.details.others?.map(({ details }) => details.key)).toEqual(["db.host"]);
    expect(renderError(error)).toMatch(
      /Value of 'db\.port'[\s\S]*Key 'db\.host' is missing[\s\S]*~db\.host/,
    );
    const gone = refusal(() => compose(["~db.host"]));
    expect(gone.message).toBe("Key 'db.host' is missing (schema of 'db/mysql')");
    expect(pointedAt(gone)).toBe("~db.host");
  });

  it("names the whole where the whole is wrong, and items of lists by their number", () => {
    expect(refusal(() => compose([], { maxProperties: 1 })).message).toMatch(
      /^Value of 'db' does not fit: /,
    );
    const none: ConfigSchema = {
      "~standard": {
        version: 1,
        vendor: "test",
        validate: () => ({ issues: [{ message: "No" }] }),
      },
    };
    const stored = (value: unknown, schema: ConfigSchema) => () =>
      createEngine({ env: {}, store: new Map([["config", { value, schema }]]) }).compose({
        configName: "config",
      });
    expect(refusal(stored({ x: 1 }, none)).details.key).toBe("(the whole config)");
    const engine = createEngine({
      env: {},
      store: new Map<string, StoreEntry>([
        ["config", { text: "defaults: [sizes: few]" }],
        ["sizes/few", { value: [1, "x"], schema: { items: { type: "integer" } } }],
      ]),
    });
    expect(refusal(() => engine.compose({ configName: "config" })).details.key).toBe("sizes[1]");
  });

  it("holds for a file at the path of the entry, and for a key that is called hydra", () => {
    const file = "port: 99999\n";
    const engine = createEngine({
      env: {},
      sources: new Map([
        ["mem", () => filesSource({ "db/mysql": file, config: "defaults: [db: mysql]" })],
      ]),
      store: new Map([["db/mysql", { value: { host: "h", port: 1 }, schema: DB }]]),
    });
    const error = refusal(() => engine.compose({ configDir: "mem://conf", configName: "config" }));
    expect(error.details.key).toBe("db.port");
    expect(pointedAt(error)).toBe("99999");
    expect(refusal(() => compose(["+db.hydra=1"])).details.key).toBe("db.hydra");
  });

  it("does not judge a map or list before all in it is known", () => {
    const few: ConfigSchema = {
      properties: { list: { maxItems: 1 }, map: { maxProperties: 1 }, port: { type: "integer" } },
    };
    const at = (...overrides: string[]) => compose(overrides, few);
    for (const open of ["???", "${lr}"]) {
      expect(() => at(`+db.list=[1,'${open}']`)).not.toThrow();
      expect(() => at(`+db.map={a: 1, b: '${open}'}`)).not.toThrow();
      expect(() => at(`+db.map={a: [1, '${open}'], b: 2}`)).not.toThrow();
    }
    expect(refusal(() => at("+db.list=[1,2]")).details.key).toBe("db.list");
    expect(refusal(() => at("+db.map={a: 1, b: 2}")).details.key).toBe("db.map");
    const open = at("+db.list=[1,'???']", "db.port=${lr}");
    expect(open.toObject({ resolve: false })).toMatchObject({
      db: { list: [1, "???"], port: "${lr}" },
    });
    const { code, key } = refusal(() => open.toObject({ resolve: true })).details;
    expect([code, key]).toEqual(["schema.mismatch", "db.list[1]"]);
  });

  it("checks what a file that extends the entry says, at its line", () => {
    const extra = { app: "defaults:\n- base_db\n- _self_\ndb:\n  host: h\n  port: 99999\n" };
    const error = refusal(() => compose([], DB, extra, "app"));
    expect(error.details.key).toBe("db.port");
    const { origin } = error.details;
    expect(origin?.kind === "file" && lineColumn(origin).line).toBe(6);
    const good = { app: "defaults:\n- base_db\n- _self_\ndb:\n  host: h\n" };
    expect(compose([], DB, good, "app").get("db.port")).toBe(1);
  });

  it("follows the entry to the package where it is mounted", () => {
    const extra = { app: "defaults:\n- db@cache.main: mysql\n" };
    const error = refusal(() => compose(["cache.main.port=0"], DB, extra, "app"));
    expect(error.details.key).toBe("cache.main.port");
  });

  it("holds for the whole config where it is mounted at the root, without the hydra node", () => {
    const schema = { properties: { lr: { type: "number" } }, additionalProperties: false };
    const engine = createEngine({
      store: new Map([["config", { value: { lr: 0.1 }, schema }]]),
    });
    expect(engine.compose({ configName: "config" }).toObject()).toEqual({ lr: 0.1 });
    const run = () => engine.compose({ configName: "config", overrides: ["+x=1"] });
    expect(refusal(run).details.key).toBe("x");
  });

  it("leaves missing values and interpolations until they are accessed", () => {
    const config = compose(["db.port=${lr}", "db.host=???"]);
    expect(config.get("db.port")).toBe(1);
    expect(refusal(() => config.get("db.host")).code).toBe("value.missing");
    const wrong = compose(["lr=0", "db.port=${lr}"]);
    expect(refusal(() => wrong.get("db.port")).code).toBe("schema.mismatch");
    expect(refusal(() => wrong.get("db", { resolve: true })).details.key).toBe("db.port");
    const lazy = wrong.get("db") as { readonly port: number };
    expect(refusal(() => lazy.port).details.key).toBe("db.port");
    expect(refusal(() => wrong.toObject({ resolve: true })).code).toBe("schema.mismatch");
    expect(wrong.get("lr")).toBe(0);
  });

  it("checks items of lists as they are accessed, however the index is written", () => {
    const ports: ConfigSchema = { properties: { ports: { items: { type: "integer" } } } };
    const { get } = compose(["+db.ports=[1,'${lr}','${db.name}']", "+db.name=x"], ports);
    for (const key of ["db.ports[1]", "db.ports.01", "db.ports[+1]"]) expect(get(key)).toBe(1);
    for (const key of ["db.ports[2]", "db.ports.02", "db.ports[0_2]"])
      expect(refusal(() => get(key)).details).toMatchObject({
        code: "schema.mismatch",
        key: "db.ports[2]",
      });
  });

  it("is as well any validator of the standard-schema interface", () => {
    expect(compose([], positive).get("db.port")).toBe(3306);
    const error = refusal(() => compose(["db.port=-1"], positive));
    expect(error.message).toContain("Value of 'db.port' does not fit: Expected a positive port");
    expect(pointedAt(error)).toBe("db.port=-1");
  });

  it("refuses a validator that answers later, and a schema that is none", () => {
    const later: ConfigSchema = {
      "~standard": { version: 1, vendor: "slow", validate: async () => ({ value: 1 }) },
    };
    expect(refusal(() => compose([], later)).code).toBe("schema.invalid");
    expect(refusal(() => compose([], { type: "nonsense" })).code).toBe("schema.invalid");
  });

  it("is compiled once, however many compositions there are", () => {
    const reader = createConfigReader({ ajvOf: createConfigAjv, readFile: () => true });
    const { root } = compose([]);
    const schema = { ...(DB as object) };
    const first = reader.problems(schema, root);
    expect(reader.problems(schema, root)).toEqual(first);
  });
});

describe("the schema of a whole config", () => {
  const schema = z.object({
    lr: z.number().max(1),
    half: z.number().max(0.5, "too much"),
    db: z.looseObject({ password: z.string().meta({ writeOnly: true }) }),
  });
  const compose = (...overrides: readonly string[]) =>
    createEngine({
      env: {},
      store: new Map([
        ["config", { text: "lr: 1\nhalf: ${lr}\ndb: {password: my-secret-word, port: 1}\n" }],
      ]),
    }).compose({ configName: "config", overrides, schema });

  it("gives the resolved config its type", () => {
    const config = compose("half=0.5");
    expectTypeOf(config).toEqualTypeOf<Config<z.output<typeof schema>>>();
    expect(config.toObject({ resolve: true }).half).toBe(0.5);
  });

  it("refuses a value at its place, and one behind an interpolation", () => {
    const error = refusal(() => compose("lr=2"));
    expect(error.message).toMatch(/^Value of 'lr' does not fit: .*<=1$/);
    expect(pointedAt(error)).toBe("lr=2");
    expect(refusal(() => compose()).message).toContain("too much");
  });

  it("refuses a mandatory value that is still missing, whatever its type", () => {
    const text = {
      "~standard": { version: 1, vendor: "v", validate: (value: unknown) => ({ value }) },
    };
    const engine = createEngine({
      store: new Map([["config", { text: "a:\n  b: ???\n  c: 1\n" }]]),
    });
    const config = engine.compose({ configName: "config", schema: text });
    expect(config.get("a.c")).toBe(1);
    const error = refusal(() => config.toObject({ resolve: true }));
    expect([error.message, error.details.key]).toEqual(["Key 'a.b' has no value", "a.b"]);
    expect(config.toObject({ resolve: false })).toEqual({ a: { b: "???", c: 1 } });
  });

  it("hides what it marks secret", () => {
    const config = compose("half=0.5");
    expect(config.toYaml()).toContain("password: '***'");
    expect(config.get("db.password")).toBe("my-secret-word");
  });

  it("may be a JSON Schema", () => {
    const engine = createEngine({ store: new Map([["config", { text: "x: a\n" }]]) });
    const typed = { properties: { x: { type: "integer" } } };
    const error = refusal(() => engine.compose({ configName: "config", schema: typed }));
    expect(error.message).toBe("Value of 'x' does not fit: expected an integer");
  });
});
