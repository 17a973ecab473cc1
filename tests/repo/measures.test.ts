import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { expect, it, onTestFinished } from "vitest";
import { circlesIn, measuresAt, unusedExports } from "../../scripts/measures.mjs";

const script = fileURLToPath(new URL("../../scripts/measures.mjs", import.meta.url));

// `node scripts/measures.mjs --list` names the files behind each number.
// measures.slow.ts sets them beside those of another revision.
it("src keeps the bounds of its measures", async () => {
  const { stdout, stderr } = await execa(process.execPath, [script, "--check"], { reject: false });
  expect(stdout).toMatch(/^files +[1-9]\d+$/m);
  expect(stderr).toBe("");
});

it("a revision that git does not have is not measured", () => {
  expect(measuresAt(fileURLToPath(new URL("../..", import.meta.url)), "no-such-branch")).toEqual({
    problem: "git has no such revision here",
  });
});

it("finds circles of imports through several files", () => {
  const imports = { a: ["b"], b: ["c", "d"], c: ["a"], d: ["elsewhere"], e: ["a"] };
  expect(circlesIn(new Map(Object.entries(imports)))).toEqual([["a", "b", "c"]]);
});

it("finds exports that no other file imports; a type may be part of another export", () => {
  const root = mkdtempSync(join(tmpdir(), "measures-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const files = {
    "src/index.ts": 'export { face } from "./engine/a.ts";\nexport const unimported = 1;\n',
    "src/engine/a.ts": `
      export interface Part { readonly x: number }
      export interface Idle { readonly x: number }
      export function face(part: Part): void {}
      export function tested(): void { const inside: Idle = { x: 1 }; }
      export const onDemand = 1, [left, right] = [1, 2];
      export type Named = string;
      function own(): void {}
    `,
    "src/engine/b.ts": "export const all = 1;\n",
    "src/engine/c.ts": "export const late = 1;\n",
    "src/app/d.ts": `
      import * as b from "../engine/b.ts";
      import type { Named as Other } from "../engine/a.ts";
      export const used = async (): Promise<void> => void (await import("../engine/c.ts"));
    `,
    "tests/a.test.ts": `
      import { onDemand, left, tested } from "../src/engine/a.ts";
      import { used } from "../src/app/d.ts";
    `,
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  expect(unusedExports(root)).toEqual(["src/engine/a.ts: Idle", "src/engine/a.ts: right"]);
});
