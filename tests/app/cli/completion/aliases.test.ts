/** Completion of aliases, and of `key:=`. */
import { rmSync } from "node:fs";
import { afterAll, expect, it } from "vitest";
import { program } from "../program.ts";

const app = program(
  {
    "conf/config.yaml":
      'defaults: [db: mysql]\nhydra: {override: {aliases: {lr: opt.rate, fast: opt.rate=9, "bs,batch": opt.size}}}\nopt: {rate: 0.5, size: 4}\n',
    "conf/db/mysql.yaml": "host: h\n",
    "conf/db/pg.yaml": "host: p\n",
  },
  { versionBase: "1.4" },
);
afterAll(() => rmSync(app.cwd, { recursive: true }));

async function answers(...words: string[]): Promise<readonly string[]> {
  const { exitCode, stdout } = await app.run(["-sc", "query=fish", "--", ...words]);
  expect(exitCode).toBe(0);
  return stdout.split("\n").flatMap((line) => (line === "" ? [] : [line.split("\t")[0] ?? ""]));
}

it.each<[readonly string[], readonly string[]]>([
  [["l"], ["lr="]],
  [["+b"], ["+batch=", "+bs="]],
  [["f"], ["fast"]],
  [["~l"], ["~lr"]],
  [["lr="], ["lr=0.5"]],
  [["batch="], ["batch=4"]],
  // The alias before the cursor is an override as any other.
  [["lr=3", "opt.rate="], ["opt.rate=3"]],
  [["opt:"], ["opt:="]],
  [["opt.rate:"], []],
])("completes %j", async (words, expected) => {
  expect([...(await answers(...words))].sort()).toEqual(expected);
});
