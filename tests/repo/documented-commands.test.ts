import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import type { HydraMainOptions } from "../../src/app/cli/check-main.ts";
import { hydraMain } from "../../src/app/cli/hydra-main.ts";
import { parseSweepLine } from "../../src/app/cli/sweep-line.ts";
import { COMMAND as SCHEMA } from "../../src/app/cli/tree-schema/schema-command.ts";
import { parseCommandLine } from "../../src/app/command-line/parse.ts";
import type { StoreEntry } from "../../src/engine/compose/sources/memory-source.ts";
import { compose } from "../../src/index.ts";
import {
  AB,
  CALIBRATE,
  COMPARE,
  DOCTOR,
  IMPORT,
  QUERY,
  REPORT,
} from "../../src/profiler/cli/subcommand-lines.ts";
import { ARGUMENT_KEYS, commandOverrides } from "../../src/profiler/run/command-override.ts";
import { parseConditions } from "../../src/report/compare/gates.ts";
import { capturedConsole } from "../captured-console.ts";
import { commandsOf, pages, root } from "./documented-commands.ts";

const cwd = mkdtempSync(join(tmpdir(), "hydraconf-docs-"));
const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  readonly scripts: Readonly<Record<string, string>>;
};
const commands = pages.flatMap(commandsOf);

/** What a program makes of its command line, with nothing run. */
async function shown(options: HydraMainOptions, args: readonly string[]) {
  const { console, out } = capturedConsole();
  const isShown = args.some((arg) => ["--cfg", "--explain", "--help"].includes(arg));
  const exitCode = await hydraMain(
    { base: cwd, ...options },
    () => {
      throw new Error("nothing runs here");
    },
    { argv: isShown ? args : ["--dry-run", ...args], env: {}, cwd, now: new Date(0), console },
  );
  return { exitCode, stderr: out.stderr };
}

const FINE = { exitCode: 0, stderr: "" };

const deepProfile = (args: readonly string[]) =>
  shown(
    {
      name: "deep-profile",
      configPath: join(root, "conf"),
      configName: "config",
      schema: join(root, "schemas/config.schema.json"),
      restAsOverrides: commandOverrides,
      freeKeys: [ARGUMENT_KEYS],
    },
    args,
  );

/** The program that the pages about sweeps call `prog`. */
const store = new Map<string, StoreEntry>([
  [
    "config",
    { value: { defaults: [{ model: "a" }, "_self_"], lr: 0.1, seed: 0, layers: 2, epochs: 1 } },
  ],
  ["model/a", { value: { name: "a" } }],
  ["model/b", { value: { name: "b" } }],
]);
const prog = (args: readonly string[]) =>
  shown({ name: "prog", configPath: null, configName: "config", store }, args);

const SUBCOMMANDS = [AB, CALIBRATE, COMPARE, DOCTOR, IMPORT, QUERY, REPORT];

function checkSubcommand(name: string, args: readonly string[]): void {
  const line = SUBCOMMANDS.find((one) => one.name === `deep-profile ${name}`);
  if (line === undefined) throw new Error(`there is no subcommand ${name}`);
  parseConditions(parseCommandLine(line, args).values("fail-on"));
}

/** `npm start -- ARGS` and the scripts that end in it. */
function checkNpm([script = "", ...args]: readonly string[]): readonly string[] | undefined {
  if (["install", "test", "pack"].includes(script)) return undefined;
  const [name = "", ...rest] = script === "run" ? args : [script, ...args];
  const command = scripts[name];
  if (command === undefined) throw new Error(`package.json has no script ${name}`);
  const fixed = /^node scripts\/start\.mjs ?(.*)$/.exec(command)?.[1];
  if (fixed === undefined) return undefined;
  const given = rest[0] === "--" ? rest.slice(1) : rest;
  return [...fixed.split(" "), ...given].filter((word) => word !== "");
}

describe("commands that documentation shows", () => {
  test("are found", () => {
    expect(commands.length).toBeGreaterThan(90);
    expect(commands.map(({ words: [program] }) => program)).toEqual(
      expect.arrayContaining(["deep-profile", "hydraconf", "prog", "npm", "validate-regions"]),
    );
  });

  test.each(commands)("$place: $text", async ({ words: [program, ...args] }) => {
    const [first = ""] = args;
    if (program === "prog") {
      // These go on with a sweep that is there.
      if (args.includes("DIR")) return;
      expect(await prog(args.filter((arg) => arg !== "--detach"))).toEqual(FINE);
    } else if (program === "npm") {
      const ours = checkNpm(args);
      if (ours !== undefined) expect(await deepProfile(ours)).toEqual(FINE);
    } else if (program === "hydraconf" && first === "sweep") {
      expect(parseSweepLine(args.slice(1))).toBeDefined();
    } else if (program === "hydraconf" && first === "schema") {
      expect(parseCommandLine(SCHEMA, args.slice(1))).toBeDefined();
    } else if (
      program === "deep-profile" &&
      SUBCOMMANDS.some(({ name }) => name === `deep-profile ${first}`)
    ) {
      checkSubcommand(first, args.slice(1));
    } else if (program === "deep-profile") {
      expect(await deepProfile(args)).toEqual(FINE);
    }
  });

  test("have each of the package's scripts", () => {
    const text = pages.map((page) => readFileSync(join(root, page), "utf8")).join("\n");
    const isShown = (name: string) => new RegExp(`npm (run )?${name}(?![\\w:])`).test(text);
    expect(Object.keys(scripts).filter((name) => !isShown(name))).toEqual([]);
  });

  test("conditions of gates are conditions", () => {
    const [, section = ""] = readFileSync(join(root, "docs/ci.md"), "utf8").split(
      "\n## Conditions\n",
    );
    const table = section.matchAll(/^\| `(.+?)` \| /gm);
    const conditions = [...table].map(([, condition = ""]) => condition);
    expect(conditions.length).toBeGreaterThan(4);
    for (const condition of conditions) {
      const { gates, isAuto } = parseConditions([condition]);
      expect(gates.length + Number(isAuto), condition).toBe(1);
    }
  });
});

describe("what documentation names", () => {
  const config = compose({ configDir: join(root, "conf"), configName: "config" });
  const tops = Object.keys(config.toObject({ resolve: false }) as object);
  const spans = pages.flatMap((page) =>
    readFileSync(join(root, page), "utf8")
      .split("\n")
      .flatMap((line, index) =>
        [...line.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => [`${page}:${index + 1}`, code]),
      ),
  );

  test("are keys of the profiler's config where they look like them", () => {
    const keys = spans.flatMap(([place = "", code = ""]) => {
      const key = /^((?:[a-z_]+\.)+[a-z_]+)(?:=.*)?$/.exec(code)?.[1];
      return key !== undefined && tops.includes(key.split(".")[0] ?? "") ? [{ place, key }] : [];
    });
    expect(keys.length).toBeGreaterThan(20);
    const wrong = keys.filter(({ key }) => config.get(key) === undefined);
    expect(wrong).toEqual([]);
  });

  test("are files and headings that are there where it links to them", () => {
    const links = pages.flatMap((page) =>
      [...readFileSync(join(root, page), "utf8").matchAll(/\]\(([^)\s]+)\)/g)].map(
        ([, target = ""]) => ({ page, target }),
      ),
    );
    expect(links.length).toBeGreaterThan(40);
    const broken = links.filter(({ page, target }) => {
      if (/^https?:/.test(target)) return false;
      const [path = "", heading] = target.split("#");
      const file = path === "" ? join(root, page) : join(root, dirname(page), path);
      return !existsSync(file) || (heading !== undefined && !headingsOf(file).includes(heading));
    });
    expect(broken).toEqual([]);
  });
});

/** As GitHub makes names of headings. */
const headingsOf = (file: string): readonly string[] =>
  [...readFileSync(file, "utf8").matchAll(/^#+ (.*)$/gm)].map(([, title = ""]) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, "")
      .replaceAll(" ", "-"),
  );
