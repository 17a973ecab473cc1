/**
 * Validators of the schemas that each run of deep-profile checks something by, as code: `node --import
 * ./scripts/typescript-loader.mjs scripts/compile-schemas.ts FOLDER`, in the build. Each is found by the text of its schema
 * (`shippedValidator` in src/engine/schema/ajv.ts).
 */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Ajv2020 } from "ajv/dist/2020.js";
import standalone from "ajv/dist/standalone/index.js";
import addFormats from "ajv-formats";
import { build } from "esbuild";
import {
  AJV_OPTIONS,
  COMPILED_SCHEMAS,
  ownConfigSchema,
  SHIPPED_OPTIONS,
  type ShippedSchema,
} from "../src/engine/schema/ajv.ts";
import { runSchema } from "../src/profiler/run/read-run.ts";
import { contractSchema } from "../src/report/validation/contract-schema.ts";
import { scriptArguments } from "./script-arguments.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const [place = "dist/vendor"] = scriptArguments(import.meta.url, { most: 1 }).words;
const folder = resolve(root, place);

const configSchema = JSON.parse(readFileSync(join(root, "schemas/config.schema.json"), "utf8"));
const made = [codeOf(ownConfigSchema(configSchema)), codeOf(contractSchema()), codeOf(runSchema())];

function codeOf<Document>({ compile, options, text }: ShippedSchema<Document>) {
  const ajv = new Ajv2020({
    ...AJV_OPTIONS,
    ...SHIPPED_OPTIONS,
    ...options,
    code: { source: true },
  });
  addFormats.default(ajv);
  return { text, code: standalone.default(ajv, compile(ajv)) };
}

const makers = made.map(({ text }, i) => `${JSON.stringify(text)}: () => require("code:${i}"),`);
await build({
  stdin: { contents: `module.exports = { ${makers.join("\n")} };`, resolveDir: root },
  outfile: join(folder, COMPILED_SCHEMAS),
  bundle: true,
  minify: true,
  charset: "ascii",
  platform: "node",
  target: "node20.19",
  legalComments: "none",
  logLevel: "warning",
  plugins: [
    {
      name: "generated-code",
      setup({ onLoad, onResolve }) {
        onResolve({ filter: /^code:/ }, ({ path }) => ({ path, namespace: "code" }));
        onLoad({ filter: /^/, namespace: "code" }, ({ path }) => ({
          contents: made[Number(path.slice("code:".length))]?.code ?? "",
          resolveDir: root,
        }));
      },
    },
  ],
});
