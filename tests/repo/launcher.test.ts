import { isAscii } from "node:buffer";
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Script } from "node:vm";
import { beforeAll, expect, test } from "vitest";
import { commandPath, runCommand } from "../e2e/command.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const BIN = dirname(commandPath("hydraconf"));
const COMMANDS = ["deep-profile", "hydraconf", "validate-regions"] as const;

const isCacheOf = (bundle: string) => (name: string) =>
  name.startsWith(`${bundle}.js.`) && name.endsWith(".cache");

const BUNDLES = COMMANDS.flatMap((command) => [`${command}.bundle`, `${command}.late`]);

test.each(BUNDLES)("the code cache of %s fits it", (bundle) => {
  const [cache] = readdirSync(BIN).filter(isCacheOf(bundle));
  const script = new Script(readFileSync(join(BIN, `${bundle}.js`), "utf8"), {
    cachedData: readFileSync(join(BIN, cache ?? "no cache")),
  });
  expect(script.cachedDataRejected).toBe(false);
});

test.each(COMMANDS)("the first bundle of %s is ASCII: quick to read", (command) => {
  expect(isAscii(readFileSync(join(BIN, `${command}.bundle.js`)))).toBe(true);
});

/**
 * The commands again, in a package like ours: not beside them, where others may pack what is there.
 *
 * @param filter of what is copied
 */
function copyOfCommands(filter: (path: string) => boolean = () => true): string {
  const place = mkdtempSync(join(tmpdir(), "hydraconf-package-"));
  cpSync(join(ROOT, "package.json"), join(place, "package.json"));
  for (const name of ["conf", "schemas", "native", "node_modules"])
    symlinkSync(join(ROOT, name), join(place, name));
  cpSync(BIN, join(place, "dist/bin"), { recursive: true, filter });
  return join(place, "dist/bin");
}

const launcher = createRequire(import.meta.url)("../../scripts/launcher.cjs") as {
  readonly nodeProblem: (version: string) => string | null;
  readonly onFirstUse: <Exports extends object>(load: () => Exports) => Exports;
};

test("a module that is slow to load is loaded when something of it is asked for, and once", () => {
  let loads = 0;
  const path = launcher.onFirstUse(() => {
    loads++;
    return Object.freeze({ join, dirname });
  });
  expect(loads).toBe(0);
  const { join: joined } = path;
  expect(joined("a", "b")).toBe("a/b");
  // What bundlers do for `import * as path`.
  expect({ ...path }).toEqual({ join, dirname });
  expect("dirname" in path && !("other" in path)).toBe(true);
  expect(loads).toBe(1);
});

test("a Node that is too old is told in one line, by the version in package.json", () => {
  const { engines } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  expect(engines.node).toBe(">=20.19");
  expect(["v18.20.8", "v20.18.3"].map(launcher.nodeProblem)).toEqual([
    "hydraconf needs Node 20.19 or newer; this is v18.20.8",
    "hydraconf needs Node 20.19 or newer; this is v20.18.3",
  ]);
  for (const version of ["v20.19.0", "v22.0.0", "v26.10.0", "v27.0.0-nightly"])
    expect(launcher.nodeProblem(version)).toBeNull();
});

/** To take its caches away. */
let copy: string;
beforeAll(() => {
  copy = copyOfCommands();
});

test.each([
  ["is not there", (path: string) => rmSync(path)],
  ["is damaged", (path: string) => writeFileSync(path, Buffer.alloc(100_000))],
  ["is empty", (path: string) => writeFileSync(path, "")],
])("a command works where its code cache %s, and writes none", async (_, spoil) => {
  const [cache = ""] = readdirSync(BIN).filter(isCacheOf("hydraconf.bundle"));
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

/** What runs without the bundle of what is imported on demand does not read it. */
test.each([
  // Where a directory is not named, programs are looked for, here in this project.
  ["hydraconf", ["-cp", "conf", "--cfg", "job"]],
  ["hydraconf", ["--version"]],
  ["deep-profile", ["--cfg", "job"]],
  ["deep-profile", ["--cfg", "job", "--resolve"]],
  ["deep-profile", ["-sc", "query=bash", "--", "runners="]],
  ["deep-profile", ["-sc", "query=zsh", "--", "pipeline.ncu."]],
  ["deep-profile", ["--help"]],
] as const)("%s %j needs the first of its bundles alone", async (command, args) => {
  const alone = copyOfCommands((path) => !path.includes(".late.js"));
  const usual = await runCommand(command, [...args], { cwd: ROOT });
  expect(usual.stdout).not.toBe("");
  expect(await runCommand(command, [...args], { cwd: ROOT, bin: alone })).toEqual(usual);
});
