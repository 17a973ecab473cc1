import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Script } from "node:vm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { commandPath, runCommand } from "../e2e/command.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const BIN = dirname(commandPath("hydraconf"));
const COMMANDS = ["deep-profile", "hydraconf", "validate-regions"] as const;

const isCacheOf = (command: string) => (name: string) =>
  name.startsWith(`${command}.bundle.js.`) && name.endsWith(".cache");

test.each(COMMANDS)("the code cache of %s fits its bundle", (command) => {
  const [cache] = readdirSync(BIN).filter(isCacheOf(command));
  const script = new Script(readFileSync(join(BIN, `${command}.bundle.js`), "utf8"), {
    cachedData: readFileSync(join(BIN, cache ?? "no cache")),
  });
  expect(script.cachedDataRejected).toBe(false);
});

/** The commands again, to take their caches away. Beside the others: they look for their package. */
let copy: string;

beforeAll(() => {
  copy = mkdtempSync(join(ROOT, "dist", "bin-copy-"));
  cpSync(BIN, copy, { recursive: true });
});

afterAll(() => rmSync(copy, { recursive: true, force: true }));

test.each([
  ["is not there", (path: string) => rmSync(path)],
  ["is damaged", (path: string) => writeFileSync(path, Buffer.alloc(100_000))],
  ["is empty", (path: string) => writeFileSync(path, "")],
])("a command works where its code cache %s, and writes none", async (_, spoil) => {
  const [cache = ""] = readdirSync(BIN).filter(isCacheOf("hydraconf"));
  cpSync(join(BIN, cache), join(copy, cache));
  spoil(join(copy, cache));
  const before = readdirSync(copy);
  const args = ["--cfg", "job"];
  const usual = await runCommand("hydraconf", args, { cwd: ROOT });
  const spoilt = await runCommand("hydraconf", args, { cwd: ROOT, bin: copy });
  expect(usual.stdout).toMatch(/^model:/);
  expect(spoilt).toEqual(usual);
  expect(readdirSync(copy)).toEqual(before);
});
