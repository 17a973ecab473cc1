import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { listFiles } from "./files.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** What biome, with our rules, says of files. */
function lint(files: Readonly<Record<string, string>>): string {
  const place = mkdtempSync(join(tmpdir(), "hydraconf-lint-"));
  try {
    const { vcs: _, ...settings } = JSON.parse(readFileSync(join(root, "biome.json"), "utf8"));
    const all = { ...files, "biome.json": JSON.stringify(settings) };
    for (const [name, text] of Object.entries(all)) {
      mkdirSync(dirname(join(place, name)), { recursive: true });
      writeFileSync(join(place, name), text);
    }
    cpSync(join(root, "scripts/instanceof.grit"), join(place, "scripts/instanceof.grit"));
    const biome = join(root, "node_modules/@biomejs/biome/bin/biome");
    const words = [biome, "lint", "--reporter=github", "--max-diagnostics=none"];
    return spawnSync(process.execPath, words, { cwd: place, encoding: "utf8" }).stdout;
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

const isA = (name: string) => `export const is = (value: unknown) => value instanceof ${name};\n`;

it("refuses instanceof for classes that are not ours", () => {
  const said = lint({
    "src/error.ts": isA("Error"),
    "src/bytes.ts": `export const other = (value: unknown) => !(value instanceof Uint8Array);\n`,
    "src/stats.ts": isA("fs.Stats"),
    "src/ours.ts": isA("ConfigError"),
    "src/report/client/element.ts": isA("Element"),
  });
  const files = said.split("\n").filter((line) => line.includes("builtin-types.ts has what"));
  expect(files.map((line) => /file=[^,]*\/([\w.]+),/.exec(line)?.[1]).sort()).toEqual([
    "bytes.ts",
    "error.ts",
    "stats.ts",
  ]);
});

it("a require is made in one place, since bundlers of users take createRequire apart", () => {
  const made = listFiles(join(root, "src"), ".ts").filter((file) =>
    /\bcreateRequire\b(?!`)/.test(readFileSync(file, "utf8")),
  );
  expect(made.map((file) => file.slice(root.length))).toEqual([
    "src/foundation/system/require-in.ts",
  ]);
});

it("public types name none of Node's, which a program may lack", () => {
  const signals = listFiles(join(root, "src"), ".ts").filter((file) =>
    /\bNodeJS\.Signals\b(?!`)/.test(readFileSync(file, "utf8")),
  );
  expect(signals).toEqual([]);
});

it("a file imports a module once, but for a namespace beside names", () => {
  const files = ["src", "tests", "bench"].flatMap((folder) => listFiles(join(root, folder), ".ts"));
  const doubled = files.flatMap((file) =>
    repeatedImports(readFileSync(file, "utf8")).map((module) => `${file}: ${module}`),
  );
  expect(doubled).toEqual([]);
  expect(
    repeatedImports(`import type { A } from "./a.ts";\nimport {\n  b,\n} from "./a.ts";\n`),
  ).toEqual(["./a.ts"]);
});

/** The modules that more than one statement on top of a file takes names of. */
function repeatedImports(text: string): readonly string[] {
  const [top = ""] = text.split(/^(?!import\b|[}\s/]|$)/m, 1);
  const modules = [...top.matchAll(/^import (?!\*)[^;"]* from "(.+)";$/gm)].map(([, name]) => name);
  return modules.filter(
    (module, index): module is string => module !== undefined && modules.indexOf(module) < index,
  );
}
