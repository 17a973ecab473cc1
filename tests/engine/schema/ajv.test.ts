import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { CONFIG_AJV, createAjv } from "../../../src/engine/schema/ajv.ts";
import { readContract } from "../../../src/report/validation/contract-schema.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

it("refuses in a line where a process may not make code of texts", () => {
  const code = `
    import { createAjv } from "./src/engine/schema/ajv.ts";
    try { createAjv().compile({ type: "string" }); } catch (error) { console.log(error.code, error.message); }`;
  const node = [
    ...["--disallow-code-generation-from-strings", "--import", "./scripts/typescript-loader.mjs"],
    ...["--input-type=module", "-e", code],
  ];
  const { stdout, stderr } = spawnSync(process.execPath, node, { cwd: ROOT, encoding: "utf8" });
  expect({ stdout, stderr }).toEqual({
    stdout:
      "schema.invalid JSON Schemas cannot be checked: this process must not generate code from strings\n",
    stderr: "",
  });
});

const SCHEMAS = join(ROOT, "schemas");

it.each(readdirSync(SCHEMAS).filter((file) => file.endsWith(".json")))(
  "%s is a valid schema: what ships is not checked again by each process",
  (file) => {
    const schema: unknown = JSON.parse(readFileSync(join(SCHEMAS, file), "utf8"));
    const options = file === "config.schema.json" ? CONFIG_AJV : {};
    expect(() => createAjv(options).compile(schema as object)).not.toThrow();
  },
);

it("so are the schemas of the contract of region reports", () => {
  const ajv = createAjv().addKeyword("components");
  const { components } = readContract();
  for (const [name, schema] of Object.entries(components.schemas))
    expect(ajv.validateSchema(schema as object), name).toBe(true);
});
