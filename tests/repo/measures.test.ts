import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { expect, it } from "vitest";
import { circlesIn } from "../../scripts/measures.mjs";

const script = fileURLToPath(new URL("../../scripts/measures.mjs", import.meta.url));

// `node scripts/measures.mjs --list` names the files behind each number.
it("src keeps the bounds of its measures", async () => {
  const { stdout, stderr } = await execa(process.execPath, [script, "--check"], { reject: false });
  expect(stdout).toMatch(/^files +[1-9]\d+$/m);
  expect(stderr).toBe("");
});

it("finds circles of imports through several files", () => {
  const imports = { a: ["b"], b: ["c", "d"], c: ["a"], d: ["elsewhere"], e: ["a"] };
  expect(circlesIn(new Map(Object.entries(imports)))).toEqual([["a", "b", "c"]]);
});
