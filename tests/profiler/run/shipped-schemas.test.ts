/** The validators that the build makes of schemas (scripts/compile-schemas.ts) beside those of ajv in this process. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ErrorObject, ValidateFunction } from "ajv";
import { describe, expect, it } from "vitest";
import {
  COMPILED_SCHEMAS,
  createAjv,
  createConfigAjv,
  ownConfigSchema,
  SHIPPED_OPTIONS,
  type ShippedSchema,
  shippedValidator,
} from "../../../src/engine/schema/ajv.ts";
import { builtModule, packageInfo } from "../../../src/engine/values/package-info.ts";
import { runSchema } from "../../../src/profiler/run/read-run.ts";
import { contractSchema } from "../../../src/report/validation/contract-schema.ts";
import { composeTree } from "../../conf/compose-tree.ts";

type JsonObject = Readonly<Record<string, unknown>>;

const { root } = packageInfo();
const read = (path: string): unknown => JSON.parse(readFileSync(join(root, path), "utf8"));
const recorded = "tests/fixtures/versions/0.1.0/run";

const built = builtModule(COMPILED_SCHEMAS) as Readonly<Record<string, () => ValidateFunction>>;
/** Each value of a document replaced by each of these, or removed, or with a member that no schema knows. */
const OTHERS = [null, -1, 1.5, "", "x", [], {}, [{}], true];

function* changesOf(document: unknown): Generator<unknown> {
  for (const other of OTHERS) yield other;
  if (typeof document !== "object" || document === null) return;
  if (Array.isArray(document)) {
    // The items of a list have one schema.
    for (const first of changesOf(document[0])) yield [first, ...document.slice(1)];
    return;
  }
  const members = Object.entries(document);
  yield { ...document, unknown_member: 1 };
  for (const [name, value] of members) {
    yield Object.fromEntries(members.filter(([other]) => other !== name));
    for (const changed of changesOf(value)) yield { ...document, [name]: changed };
  }
}

const found = (check: ValidateFunction, document: unknown) =>
  check(document) ? [] : (check.errors ?? []).map(withoutSchema);

/** What users are told comes from these. */
const withoutSchema = ({ instancePath, keyword, message, params, parentSchema }: ErrorObject) => ({
  instancePath,
  keyword,
  message,
  params,
  members: Object.keys(parentSchema?.["properties"] ?? {}),
  branches: (parentSchema?.["oneOf"] as readonly unknown[] | undefined)?.length,
});

const configSchema = ownConfigSchema(read("schemas/config.schema.json") as JsonObject);

const agrees = <Document>(name: string, schema: ShippedSchema<Document>, document: unknown) =>
  describe(`the schema of ${name}`, () => {
    const compiled = built[schema.text]?.() ?? expect.fail("it is not compiled as it now is");

    it("is compiled in the build, and used", () => {
      expect(shippedValidator(schema)).toBe(compiled);
    });

    it("finds what ajv finds, in the same order", () => {
      const { compile, options } = schema;
      const expected = compile(createAjv({ ...SHIPPED_OPTIONS, ...options }));
      expect(found(compiled, document)).toEqual([]);
      let wrong = 0;
      for (const changed of changesOf(document)) {
        const issues = found(expected, changed);
        if (issues.length > 0) wrong++;
        // Cheaper than `toEqual`, which shows what differs.
        if (JSON.stringify(found(compiled, changed)) !== JSON.stringify(issues))
          expect(found(compiled, changed)).toEqual(issues);
      }
      expect(wrong).toBeGreaterThan(200);
    });
  });

agrees("a config", configSchema, composeTree([]));
agrees("region reports", contractSchema(), read(`${recorded}/recorder/regions/report.json`));
agrees("run.json", runSchema(), read(`${recorded}/run.json`));

it("a schema that was edited since the build is compiled by ajv", () => {
  const { text } = configSchema;
  const edited = JSON.parse(text);
  edited.required.push("added");
  const [ours, others] = [JSON.parse(text), edited].map((schema) =>
    createConfigAjv(schema).compile(schema),
  );
  const missing = (check: ValidateFunction | undefined) =>
    check === undefined ? [] : found(check, {}).map(({ params }) => params["missingProperty"]);
  expect(missing(ours)).not.toContain("added");
  expect(missing(others)).toContain("added");
});
