import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { expect, it } from "vitest";

const script = fileURLToPath(new URL("../../scripts/measures.mjs", import.meta.url));

it("measures of src stand beside those of another revision", async () => {
  const args = [script, "--check", "--beside", "HEAD"];
  const { stdout, stderr } = await execa(process.execPath, args, { reject: false });
  expect(stdout).toMatch(/^ +here +HEAD\nfiles +[1-9]\d+ +[1-9]\d+$/m);
  expect(stderr).toBe("");
});
