import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { configDifference } from "../../../src/profiler/cli/compare-runs.ts";

function differences(a: string, b: string) {
  const folder = mkdtempSync(join(tmpdir(), "hydraconf-difference-"));
  const [fileA, fileB] = [join(folder, "a.yaml"), join(folder, "b.yaml")];
  writeFileSync(fileA, a);
  writeFileSync(fileB, b);
  return configDifference(fileA, fileB);
}

test("values, new keys and keys that are gone", () => {
  expect(differences("a: 1\nb: {c: x}\nd: 1\n", "a: 1.0\nb: {c: x, e: 2}\n")).toEqual([
    { key: "a", a: "1", b: "1.0" },
    { key: "b.e", a: null, b: "2" },
    { key: "d", a: "1", b: null },
  ]);
});

test("of command lines of the same length, the arguments that differ", () => {
  const command = (prog: string, lr: string) =>
    `workload: {command: [${prog}, ${"--flag, value, ".repeat(20)}--lr, '${lr}']}\n`;
  expect(differences(command("/before/prog", "0.1"), command("/after/prog", "0.2"))).toEqual([
    { key: "workload.command[0]", a: '"/before/prog"', b: '"/after/prog"' },
    { key: "workload.command[42]", a: '"0.1"', b: '"0.2"' },
  ]);
  expect(differences("x: [{a: 1, b: 2}, [3]]\n", "x: [{a: 1, c: 2}, [4]]\n")).toEqual([
    { key: "x[0].b", a: "2", b: null },
    { key: "x[0].c", a: null, b: "2" },
    { key: "x[1][0]", a: "3", b: "4" },
  ]);
});

test("of others, both, as far as they differ", () => {
  expect(differences("x: [a, b]\n", "x: [a]\n")).toEqual([
    { key: "x", a: '["a", "b"]', b: '["a"]' },
  ]);
  expect(differences("x: [a]\n", "x: {a: 1}\n")).toEqual([{ key: "x", a: '["a"]', b: "{a: 1}" }]);
});
