import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { expect, it } from "vitest";

const SCRIPTS = join(import.meta.dirname, "../../scripts");
const LOADER = join(SCRIPTS, "typescript-loader.mjs");

/** What they are given is for the program that they start. */
const PASSING = ["start.mjs", "test.mjs", "test-slow.mjs"];

const sourceOf = (name: string): string => readFileSync(join(SCRIPTS, name), "utf8");

const all = readdirSync(SCRIPTS).filter((name) => /\.m?[jt]s$/.test(name) && !/\.d\./.test(name));
const commands = all.filter(
  (name) =>
    name !== "script-arguments.mjs" &&
    !PASSING.includes(name) &&
    /\bscriptArguments\(|process\.argv/.test(sourceOf(name)),
);

it("are read by all that take some", () => {
  expect(commands.length).toBeGreaterThan(15);
  // The native part is built in a package, too, which has no other script.
  expect(commands.filter((name) => !sourceOf(name).includes("scriptArguments("))).toEqual([
    "native.mjs",
  ]);
});

it.each(commands)("of %s are described by --help, and others are refused", async (name) => {
  const cwd = mkdtempSync(join(tmpdir(), "hydraconf-script-"));
  const loader = name.endsWith(".ts") ? ["--import", LOADER] : [];
  const run = (word: string) =>
    execa(process.execPath, [...loader, join(SCRIPTS, name), word], { cwd, reject: false });
  const [help, refused] = await Promise.all([run("--help"), run("--nope")]);
  expect(help).toMatchObject({ exitCode: 0, stderr: "" });
  expect(help.stdout.length).toBeGreaterThan(40);
  expect(help.stdout).not.toMatch(/^\s*\/\/|^\s*\*/m);
  expect(refused).toMatchObject({ exitCode: 2, stdout: "" });
  expect(refused.stderr).toContain("Unknown option '--nope'");
  expect(readdirSync(cwd)).toEqual([]);
});
