// The packed package in projects of users, with what they build and test by: from the npm registry, in a folder of its own.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const TOOLS = ["esbuild@0.28", "jest@30", "typescript@5.9", "vite@7", "vitest@3", "webpack@5"];

let place: string;

beforeAll(() => {
  place = mkdtempSync(join(tmpdir(), "hydraconf-consumers-"));
  const packed = join(place, "packed");
  execFileSync(process.execPath, [join(root, "scripts", "pack.mjs"), packed]);
  const tarball = readdirSync(packed).find((name) => /^hydraconf-.*\.tgz$/.test(name)) ?? "none";
  write("package.json", '{ "private": true }');
  const words = ["install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"];
  execFileSync("npm", [...words, join(packed, tarball)], { cwd: place });
  const installed = readdirSync(join(place, "node_modules")).filter((name) => !/^\./.test(name));
  expect(installed).toEqual(["hydraconf"]);
  execFileSync("npm", [...words, ...TOOLS], { cwd: place });
  write("conf/config.yaml", "defaults:\n- db: mysql\nlr: 1\n");
  write("conf/db/mysql.yaml", "port: 3306\n");
  write("main.ts", `import { compose } from "hydraconf";\n${USE}console.log(shown);\n`);
}, 600_000);

afterAll(() => rmSync(place, { recursive: true, force: true }));

const USE = `const config = compose({ configDir: "conf", configName: "config", overrides: ["db.port=1"] });
const shown = JSON.stringify(config.toObject());\n`;
const SHOWN = '{"db":{"port":1},"lr":1}';

function write(name: string, text: string): void {
  mkdirSync(join(place, name, ".."), { recursive: true });
  writeFileSync(join(place, name), text);
}

function run(...words: readonly string[]): string {
  const [program = "", ...args] = words;
  const tool = program === "node" ? process.execPath : join(place, "node_modules/.bin", program);
  const { status, stdout, stderr } = spawnSync(tool, args, { cwd: place, encoding: "utf8" });
  expect(status, `${words.join(" ")}\n${stdout}${stderr}`).toBe(0);
  return stdout.trim();
}

it.each([
  ["nodenext", "nodenext"],
  ["esnext", "bundler"],
])("tsc with module %s and moduleResolution %s", (module, resolution) => {
  const words = [
    "--noEmit",
    "--strict",
    "--target",
    "es2022",
    "--module",
    module,
    "--moduleResolution",
    resolution,
  ];
  run("tsc", ...words, "main.ts");
});

it.each(["esm", "cjs"])("esbuild makes %s of it", (format) => {
  const file = format === "esm" ? "esbuild.mjs" : "esbuild.cjs";
  run(
    ...["esbuild", "main.ts", "--bundle", "--platform=node", `--format=${format}`],
    `--outfile=${file}`,
  );
  expect(run("node", file)).toBe(SHOWN);
});

it("vite bundles it for a server", () => {
  write(
    "vite.config.mjs",
    'export default { build: { ssr: "main.ts", outDir: "vite" }, ssr: { noExternal: true } };',
  );
  run("vite", "build", "--logLevel", "error");
  const [file = "none"] = readdirSync(join(place, "vite")).filter((name) => /^main\./.test(name));
  expect(run("node", `vite/${file}`)).toBe(SHOWN);
});

it("webpack bundles it for Node", () => {
  write("main.mjs", `import { compose } from "hydraconf";\n${USE}console.log(shown);\n`);
  write(
    "use-webpack.cjs",
    `require("webpack")({ entry: "./main.mjs", target: "node", mode: "production",
       output: { path: __dirname + "/webpack", filename: "main.js" } }, (error, stats) => {
       if (error ?? stats.hasErrors()) { console.error(error ?? stats.toString()); process.exitCode = 1; }
     });`,
  );
  run("node", "use-webpack.cjs");
  expect(run("node", "webpack/main.js")).toBe(SHOWN);
});

it("Jest loads it by require", () => {
  write(
    "jest/one.test.js",
    `const { compose, isConfigError } = require("hydraconf");
     const { validateTree } = require("hydraconf/schema");
     test("composes", () => {\n${USE}expect(shown).toBe('${SHOWN}'); });
     test("checks", () => {
       const { root } = compose({ configDir: "conf", configName: "config" });
       expect(validateTree(root, { properties: { lr: { type: "string" } } })).toHaveLength(1);
       try { compose({ configDir: "conf", configName: "none" }); } catch (error) { expect(isConfigError(error)).toBe(true); }
     });`,
  );
  run("jest", "--rootDir", ".", "jest");
});

it("Vitest loads it by import", () => {
  write(
    "vitest/one.test.ts",
    `import { compose } from "hydraconf";
     import { expect, test } from "vitest";
     test("composes", () => {\n${USE}expect(shown).toBe('${SHOWN}'); });`,
  );
  run("vitest", "run", "vitest/one.test.ts");
});
