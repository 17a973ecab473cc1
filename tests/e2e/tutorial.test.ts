import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, expect, test } from "vitest";
import { packageInfo } from "../../src/engine/values/package-info.ts";

// docs/tutorial.md shows commands with their outputs: here they are run as a user would, one after the other, in a copy
// of the example that has the package installed. HYDRACONF_UPDATE_DOCS=1 writes what they print into the page.
const { root } = packageInfo();
const PAGE = join(root, "docs/tutorial.md");
const BLOCK = /(?<=^```console\n)[\s\S]*?(?=^```$)/gm;

const cwd = join(mkdtempSync(join(tmpdir(), "hydraconf-tutorial-")), "train");
const page = readFileSync(PAGE, "utf8");
const shown = [...page.matchAll(BLOCK)].flatMap(([block]) => commandsIn(block));
const actual = new Map<string, string>();

interface ShownCommand {
  readonly command: string;
  readonly output: string;
}

function commandsIn(block: string): readonly ShownCommand[] {
  return block.split(/^(?=\$ )/m).map((part) => {
    const end = part.indexOf("\n");
    return { command: part.slice(2, end), output: part.slice(end + 1) };
  });
}

/** Times and the place of the copy are another each time. */
const stable = (text: string): string =>
  text
    .replaceAll(cwd, "/home/me/train")
    .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}/g, "2026-01-02 03:04:05,678");

async function run(command: string): Promise<string> {
  const { all } = await execa("bash", ["-c", command], {
    cwd,
    all: true,
    reject: false,
    env: { LC_ALL: "C.UTF-8", NO_COLOR: "1" },
  });
  return all === "" ? "" : `${stable(all)}\n`;
}

beforeAll(async () => {
  cpSync(join(root, "docs/examples/train"), cwd, {
    recursive: true,
    filter: (path) => !/\/(outputs|multirun)$/.test(path),
  });
  mkdirSync(join(cwd, "node_modules"));
  symlinkSync(root, join(cwd, "node_modules/hydraconf"));
  for (const { command } of shown) actual.set(command, await run(command));
  if (process.env["HYDRACONF_UPDATE_DOCS"] === "1") writeFileSync(PAGE, withOutputs());
});

afterAll(() => rmSync(cwd, { recursive: true }));

function withOutputs(): string {
  return page.replaceAll(BLOCK, (block) =>
    commandsIn(block)
      .map(({ command }) => `$ ${command}\n${actual.get(command) ?? ""}`)
      .join(""),
  );
}

test("the page shows commands, each once", () => {
  expect(shown.length).toBeGreaterThan(15);
  expect(new Set(shown.map(({ command }) => command)).size).toBe(shown.length);
});

test.each(shown)("$command", ({ command, output }) => {
  expect(actual.get(command)).toBe(output);
});
