/**
 * What is made from declarations and checked in: `node --import ./scripts/typescript-loader.mjs scripts/generate.ts`, also
 * in the build. `tests/repo/generated.test.ts` checks that it is up to date.
 *
 * - TypeScript types of the profiler's config and of the documents that it writes, from their JSON Schemas, by
 *   `hydraconf schema --types`
 * - tables of settings in docs/, between markers
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { runSchema } from "../src/app/cli/tree-schema/schema-command.ts";
import { openComposer } from "../src/app/job/composer.ts";
import type { SettingsTable } from "../src/app/job/settings.ts";
import { LOCAL_SETTINGS } from "../src/app/launch/local/local-settings.ts";
import { SLURM_SETTINGS } from "../src/app/plugins/slurm/slurm-settings.ts";
import { STANDARD_PLUGINS } from "../src/app/plugins/standard-plugins.ts";
import {
  HALVING_SETTINGS,
  PRUNING_SETTINGS,
  RANDOM_SETTINGS,
  SEARCH_SETTINGS,
  TPE_OWN_SETTINGS,
} from "../src/app/sweep/sweepers/search-settings.ts";
import { toPlain } from "../src/engine/compose/index.ts";
import type { ConfigNode } from "../src/engine/values/node.ts";
import { pyStr } from "../src/engine/values/python-text.ts";
import { resolveTree } from "../src/engine/values/resolution/resolve-tree.ts";
import { writeFileAtomicSync } from "../src/foundation/system/atomic-write.ts";
import { RULES, versionsOf } from "../src/language/migrate/rules.ts";
import { RECORDED_METRICS } from "../src/profiler/machine/recorded-metrics.ts";
import { scriptArguments } from "./script-arguments.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));

const CONFIG_SCHEMA = "schemas/config.schema.json";

/** Types that are made of a schema, and what each file says first. */
const TYPES = [
  {
    file: "src/profiler/tools/profiler-config-types.ts",
    from: CONFIG_SCHEMA,
    about: "The composed configuration",
  },
  {
    file: "src/report/model/report-types.ts",
    from: "schemas/region-report.openapi.yaml#/components/schemas/RegionReportBundle",
    about: "A region report",
  },
  {
    file: "src/report/compare/comparison-types.ts",
    from: "schemas/comparison.schema.json",
    about: "A comparison of two reports",
  },
  {
    file: "src/report/compare/calibration-types.ts",
    from: "schemas/calibration.schema.json",
    about: "How much runs of one program differ",
  },
  {
    file: "src/report/sweep/sweep-types.ts",
    from: "schemas/sweep-report.schema.json",
    about: "A report of a sweep",
  },
  {
    file: "src/app/sweep/page/curve-types.ts",
    from: "schemas/sweep-curves.schema.json",
    about: "The learning curves of a job",
  },
  {
    file: "src/profiler/tools/run-types.ts",
    from: "schemas/run.schema.json",
    about: "What a run knows beside its raw files",
  },
  {
    file: "src/profiler/cli/query-types.ts",
    from: "schemas/query.schema.json",
    about: "An answer to a question about a run",
  },
] as const;

export interface GeneratedFile {
  /** Relative to the repository. */
  readonly file: string;
  readonly text: string;
}

export const generatedFiles = async (): Promise<readonly GeneratedFile[]> => [
  ...(await Promise.all(TYPES.map(typesOf))),
  withTables("docs/configuration.md", configTables()),
  withTables("docs/sweeps.md", {
    "settings of local": settingsTable(LOCAL_SETTINGS, "hydra.launcher."),
    "settings of slurm": settingsTable(SLURM_SETTINGS, "hydra.launcher."),
    "settings of searches": settingsTable(SEARCH_SETTINGS, "hydra.sweeper."),
    "settings of random": settingsTable(
      without(without(RANDOM_SETTINGS, SEARCH_SETTINGS), PRUNING_SETTINGS),
      "hydra.sweeper.",
    ),
    "settings of tpe": settingsTable(TPE_OWN_SETTINGS, "hydra.sweeper."),
    "settings of pruners": settingsTable(PRUNING_SETTINGS, "hydra.sweeper."),
    "settings of successive_halving": settingsTable(
      without(HALVING_SETTINGS, SEARCH_SETTINGS),
      "hydra.sweeper.",
    ),
  }),
  withTables("docs/metrics.md", metricTables()),
  withTables("docs/migrate.md", { "rules of migrations": rulesTable() }),
];

/** The types of a JSON Schema, as `hydraconf schema --types` prints them, in the format of this repository. */
async function typesOf({ file, from, about }: (typeof TYPES)[number]): Promise<GeneratedFile> {
  const printed: string[] = [];
  await runSchema(
    ["--types", "--readonly", "--from", from],
    invocation((text) => printed.push(text)),
  );
  const biome = join(root, "node_modules/@biomejs/biome/bin/biome");
  const text = execFileSync(process.execPath, [biome, "format", "--stdin-file-path=types.ts"], {
    cwd: root,
    // Before the banner of the types, what every file says first.
    input: `/** ${about}, of which ${from.replace(/#.*/, "")} is the schema. */\n${printed.join("")}`,
    encoding: "utf8",
  });
  return { file, text };
}

const invocation = (stdout: (text: string) => void) => ({
  argv: [],
  env: {},
  cwd: root,
  now: new Date(2026, 0, 1),
  console: {
    stdout,
    stderr(text: string) {
      throw new Error(text);
    },
  },
});

/** Replaces what stands between `<!-- NAME -->` and `<!-- end -->`. */
function withTables(file: string, tables: Readonly<Record<string, string>>): GeneratedFile {
  let text = readFileSync(join(root, file), "utf8");
  for (const [name, table] of Object.entries(tables)) {
    const [begin, end] = [`<!-- ${name} -->\n`, "<!-- end -->"];
    const from = text.indexOf(begin);
    const to = text.indexOf(end, from);
    if (from < 0 || to < 0) throw new Error(`${file} has no place for the ${name}`);
    text = `${text.slice(0, from)}${begin}\n${table}\n${text.slice(to)}`;
  }
  return { file, text };
}

const without = (table: SettingsTable, others: SettingsTable): SettingsTable =>
  Object.fromEntries(Object.entries(table).filter(([key]) => !(key in others)));

/** The settings of a launcher or a sweeper. */
const settingsTable = (table: SettingsTable, prefix: string): string =>
  rows(
    [`\`${prefix}\``, "default", ""],
    Object.entries(table).map(([key, { field, help }]) => [
      `\`${key}\``,
      defaultOf(field.node),
      help,
    ]),
  );

const defaultOf = (node: ConfigNode): string => {
  const isPlain =
    node.kind === "scalar" && (node.value === null || typeof node.value === "boolean");
  const text = isPlain ? String(node.value) : pyStr(node);
  return text === "???" ? "" : text.includes("{") && text !== "{}" ? `\`${text}\`` : text;
};

/** The rules of `hydraconf migrate`. */
const rulesTable = (): string =>
  rows(
    ["rule", "from", "what changed", "found by", "`--fix`", "what to do", "see"],
    RULES.map((rule) => {
      const { from, to } = versionsOf(rule);
      return [
        `\`${rule.id}\``,
        `${from} to ${to}`,
        rule.title,
        rule.by,
        rule.hasFix ? "yes" : "",
        rule.remedy,
        rule.sources.map((source) => `[${source.split("/").at(-1)}](${source})`).join(", "),
      ].map((cell) => cell.replaceAll("|", "\\|"));
    }),
  );

/** A chip of each generation, or two where their passes differ. */
const SHOWN_CHIPS = ["TU102", "GA100", "GA102", "AD102", "GH100", "GB100", "GB202"];

/** What NVIDIA's library said about the metrics that this project names. */
function metricTables(): Readonly<Record<string, string>> {
  const { chips, metrics, presets } = RECORDED_METRICS;
  const passesOf = (passes: readonly (number | null)[]): readonly string[] =>
    SHOWN_CHIPS.map((chip) => String(passes[chips.indexOf(chip)] ?? "–"));
  return {
    "passes of presets": rows(
      ["preset", ...SHOWN_CHIPS],
      Object.entries(presets).map(([name, { passes }]) => [`\`${name}\``, ...passesOf(passes)]),
    ),
    "passes of metrics": rows(
      ["metric", "unit", ...SHOWN_CHIPS],
      Object.entries(metrics).map(([name, { unit, passes }]) => [
        `\`${name}\``,
        unit,
        ...passesOf(passes),
      ]),
    ),
  };
}

const rows = (head: readonly string[], body: readonly (readonly string[])[]): string =>
  [head, head.map(() => "---"), ...body].map((cells) => `| ${cells.join(" | ")} |\n`).join("");

/** A schema of a value, as far as the tables show it. */
interface ValueSchema {
  readonly $ref?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly (string | null)[];
  readonly examples?: readonly string[];
  readonly properties?: Readonly<Record<string, ValueSchema>>;
}

/** The keys of the profiler's tools, from the schema, with the defaults of the tree. */
function configTables(): Readonly<Record<string, string>> {
  const { $defs }: { readonly $defs: Readonly<Record<string, ValueSchema>> } = JSON.parse(
    readFileSync(join(root, CONFIG_SCHEMA), "utf8"),
  );
  const { pipeline } = defaultConfig();
  const table = (definition: string, defaults: Plain): string =>
    rows(["key", "default", "values", ""], rowsOf($defs[definition]?.properties ?? {}, defaults));
  return {
    "keys of pipeline.recorder": table("recorder", child(pipeline, "recorder")),
    "keys of pipeline.nsys": table("nsys", child(pipeline, "nsys")),
    "keys of pipeline.counters": table("counters", child(pipeline, "counters")),
    "keys of pipeline.ncu": table("ncu", child(pipeline, "ncu")),
    "keys of pipeline.ncu.ncu_cli": table("ncuCli", child(child(pipeline, "ncu"), "ncu_cli")),
  };
}

type Plain = Readonly<Record<string, unknown>>;

const child = (plain: Plain, key: string): Plain => plain[key] as Plain;

/** The composed tree without overrides. */
function defaultConfig(): { readonly pipeline: Plain } {
  const composer = openComposer(
    {
      plugins: STANDARD_PLUGINS,
      jobName: "deep-profile",
      configPath: join(root, "conf"),
      configName: "config",
    },
    invocation(() => {}),
  );
  const { config } = composer.compose(["hydra.runtime.output_dir=/run"]);
  return toPlain(resolveTree(config, composer.context)) as { readonly pipeline: Plain };
}

/** A row for each key, and for the keys below one that has no description itself. */
const rowsOf = (
  properties: Readonly<Record<string, ValueSchema>>,
  defaults: Plain,
  prefix = "",
): readonly (readonly string[])[] =>
  Object.entries(properties).flatMap(([key, schema]) =>
    schema.properties !== undefined
      ? rowsOf(schema.properties, child(defaults, key), `${prefix}${key}.`)
      : schema.description === undefined
        ? []
        : [
            [
              `\`${prefix}${key}\``,
              shownDefault(defaults[key]),
              valuesOf(schema),
              schema.description.replaceAll(/[|*<]/g, "\\$&").replaceAll(/--[a-z-]+/g, "`$&`"),
            ],
          ],
  );

function shownDefault(value: unknown): string {
  if (value === null) return "null";
  if (!Array.isArray(value)) return `\`${String(value)}\``;
  const more = value.length > 1 ? ", ..." : "";
  return value.length === 0 ? "`[]`" : `\`[${value[0]}${more}]\``;
}

function valuesOf(schema: ValueSchema): string {
  const values = schema.enum ?? schema.examples;
  if (values !== undefined)
    return values.map((value) => (value === null ? "null" : `\`${value}\``)).join(", ");
  if (schema.$ref !== undefined)
    return schema.$ref.endsWith("/patterns") ? "a list" : "a text or a list";
  const types = typeof schema.type === "string" ? [schema.type] : (schema.type ?? []);
  return types.map((type) => NAMES_OF_TYPES[type] ?? type).join(" or ");
}

const NAMES_OF_TYPES: Readonly<Record<string, string>> = {
  array: "a list",
  boolean: "`true`, `false`",
  integer: "a whole number",
  number: "a number",
  string: "a text",
};

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  scriptArguments(import.meta.url);
  for (const { file, text } of await generatedFiles()) {
    const path = join(root, file);
    if (readIfThere(path) !== text) writeFileAtomicSync(path, text);
  }
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
