import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { generatedFiles } from "../../scripts/generate.ts";

const root = new URL("../../", import.meta.url);

test("types and tables are those of their declarations: npm run build makes them again", async () => {
  const files = await generatedFiles();
  expect(files.length).toBeGreaterThan(2);
  for (const { file, text } of files)
    expect(readFileSync(fileURLToPath(new URL(file, root)), "utf8"), file).toBe(text);
});
