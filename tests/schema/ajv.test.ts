import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

it("refuses in a line where a process may not make code of texts", () => {
  const code = `
    import { createAjv } from "./src/schema/ajv.ts";
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
