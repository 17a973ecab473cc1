// Compiles with the declarations that `hydraconf schema --types` makes of the tree in types.test.ts.
import { type } from "arktype";
import {
  type Config,
  compose,
  createEngine,
  type DeepReadonly,
  hydraMain,
  instantiate,
} from "hydraconf";
import Type from "typebox";
import * as v from "valibot";
import { z } from "zod";

/** Whether two types are the same. */
type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <A, B>(_: Same<A, B>): void => {};

declare const text: string;
declare const texts: readonly string[];
const tree = { configDir: "conf", configName: "config" } as const;

// A declared tree.
const config = compose({
  ...tree,
  overrides: [
    "db=mysql",
    `db=${text}`,
    "db=mysql,pg",
    "db=glob(*)",
    "db=null",
    "db@backup=pg",
    "+model/arch=small",
    "db.port=3",
    "lr=1,2",
    "+new.key=1",
    "++lr=2",
    "~db.tags",
    "layers[0].size=3",
    "hydra.run.dir=x",
    "hydra/launcher=local",
    text,
    ...texts,
  ],
});
const value = config.get("db.port");
same<typeof value, number>(true);
const some = config.get("db.ssl");
same<typeof some, boolean | undefined>(true);
const size = config.get("layers[0].size");
same<typeof size, number | undefined>(true);
const first = config.get("layers[0].size", { required: true });
same<typeof first, number>(true);
const open = config.get("open");
same<typeof open, unknown>(true);
const name = config.get("name");
same<typeof name, unknown>(true);
const nullable = config.get("db.user");
same<typeof nullable, string | null>(true);
const part = config.get("db");
same<typeof part.tags, readonly string[] | undefined>(true);
const all = config.toObject();
same<typeof all.db.host, string>(true);
same<ReturnType<typeof config.toYaml>, string>(true);
const written = config.get("db.port", { resolve: false });
same<typeof written, unknown>(true);
compose({ ...tree, overrides: texts });
same<ReturnType<typeof composed>, Config<ReturnType<typeof data>>>(true);
function composed() {
  return createEngine().compose({ ...tree, overrides: ["db=pg"] });
}
function data() {
  const other = compose({ configDir: `${text}/conf`, configName: "config" });
  const _: number = other.get("lr");
  return null as never as import("./hydraconf.d.ts").ComposedConfig;
}
const anywhere = compose({ configDir: text, configName: "config" }).get("db.port");
same<typeof anywhere, number>(true);
const eval_ = compose({ configDir: "conf", configName: "eval" }).get("checkpoint");
same<typeof eval_, string>(true);
await hydraMain({ configPath: "../conf", configName: "config" }, (settings, job) => {
  same<Parameters<typeof settings.get>[0] extends string ? true : false, true>(true);
  const port = settings.get("db.port");
  same<typeof port, number>(true);
  const choice = job.get("hydra.runtime.choices.db");
  same<typeof choice, unknown>(true);
});

// No declaration: all is unknown until it is narrowed. Any config is one of these.
const other = compose({ configDir: "elsewhere", configName: "config", overrides: ["any=thing"] });
const unknown = other.get("some.key");
same<typeof unknown, unknown>(true);
same<ReturnType<typeof other.toObject>, unknown>(true);
const shown = (any: Config): string => any.toYaml();
shown(config);
shown(other);
config.diff(other);
const asserted = other as Config<{ readonly mine: { readonly port: number } }>;
same<number, typeof mine>(true);
const mine = asserted.get("mine.port");

// Schemas: the output of validators, of JSON Schemas written as literals, and of TypeBox.
const Zod = z.object({
  port: z.coerce.number(),
  since: z.date().optional(),
  hosts: z.array(z.object({ name: z.string().default("x") })),
  mode: z.union([
    z.object({ kind: z.literal("a"), a: z.number() }),
    z.object({ kind: z.literal("b") }),
  ]),
});
const zod = compose({ configDir: "elsewhere", schema: Zod });
const zodPort = zod.get("port");
same<typeof zodPort, number>(true);
const zodDate = zod.get("since");
same<typeof zodDate, Date | undefined>(true);
const zodName = zod.get("hosts[1].name");
same<typeof zodName, string | undefined>(true);
const zodMode = zod.get("mode.a");
same<typeof zodMode, number | undefined>(true);
const zodAll = zod.toObject();
same<typeof zodAll, DeepReadonly<z.output<typeof Zod>>>(true);

const valibot = compose({
  configDir: "elsewhere",
  schema: v.object({ port: v.optional(v.pipe(v.string(), v.transform(Number)), "1") }),
}).get("port");
same<typeof valibot, number>(true);

const arktype = compose({
  configDir: "elsewhere",
  schema: type({ port: "string.numeric.parse", "host?": "string" }),
});
const ark = [arktype.get("port"), arktype.get("host")] as const;
same<typeof ark, readonly [number, string | undefined]>(true);

const typebox = compose({
  configDir: "elsewhere",
  schema: Type.Object({
    port: Type.Integer(),
    mode: Type.Union([Type.Literal("fast"), Type.Literal("exact")]),
    host: Type.Optional(Type.String()),
  }),
});
const box = [typebox.get("port"), typebox.get("mode"), typebox.get("host")] as const;
same<typeof box, readonly [number, "fast" | "exact", string | undefined]>(true);

const json = compose({
  configDir: "elsewhere",
  schema: {
    type: "object",
    required: ["port", "pair"],
    properties: {
      port: { type: "integer" },
      host: { type: ["string", "null"] },
      retries: { type: "integer", default: 3 },
      level: { enum: ["info", "debug"] },
      jobs: { type: "array", items: { $ref: "#/$defs/job" } },
      pair: { type: "array", prefixItems: [{ type: "string" }, { const: 2 }] },
      any: {
        anyOf: [{ type: "boolean" }, { type: "object", additionalProperties: { type: "number" } }],
      },
    },
    $defs: {
      job: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
    },
  },
});
const jsons = [
  json.get("port"),
  json.get("host"),
  json.get("retries"),
  json.get("level"),
  json.get("jobs[0].name"),
  json.toObject().pair,
] as const;
same<
  typeof jsons,
  readonly [
    number,
    string | null | undefined,
    number,
    "info" | "debug" | undefined,
    string | undefined,
    readonly [string, 2],
  ]
>(true);
const file = compose({ configDir: "elsewhere", schema: "app.schema.json" }).get("any.key");
same<typeof file, unknown>(true);

const engine = createEngine({ schema: z.object({ port: z.number() }) });
const engines = [
  engine.compose({ configDir: "elsewhere" }).get("port"),
  engine.compose({ configDir: "elsewhere", schema: z.object({ host: z.string() }) }).get("host"),
] as const;
same<typeof engines, readonly [number, string]>(true);
await hydraMain({ configPath: "elsewhere", schema: Zod }, (settings) => {
  const port = settings.get("port");
  same<typeof port, number>(true);
});
instantiate({ _target_: "x" }, { schema: Zod });
createEngine({ store: new Map([["db", { value: {}, schema: Zod }]]) });
