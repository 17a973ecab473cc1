import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { keepDocument } from "../../../src/profile/nsys/run/own-output.ts";
import { growth } from "../../growth.ts";
import { temporary } from "./exports.ts";

const file = join(temporary(), "stdout.json");
const kept = async (text: string) => {
  writeFileSync(file, text);
  const rest = await keepDocument(file);
  return { rest, document: readFileSync(file, "utf8") };
};

it.each([
  ['{\n "a": 1\n}\n', '{\n "a": 1\n}\n', "\n"],
  [
    'Collecting data...\n{\n "a": {\n  "b": 1\n }\n}\nGenerated:\n',
    '{\n "a": {\n  "b": 1\n }\n}\n',
    "Collecting data...\n\nGenerated:\n",
  ],
  ["{\n}", "{\n}\n", ""],
  ["{\nno JSON\n}\n", "{\nno JSON\n}\n", "{\nno JSON\n}\n"],
  ["nothing", "nothing", "nothing"],
])("of %j keeps the document", async (text, document, rest) => {
  expect(await kept(text)).toEqual({ document, rest });
});

it("takes no longer for a program that begins many documents and ends none", async () => {
  expect(await growth((lines) => kept("{\n".repeat(lines)), 5000)).toBeLessThan(40);
});
