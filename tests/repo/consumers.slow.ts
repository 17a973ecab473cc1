// The packed packages in projects of users, with what they build and test by: from the npm registry, in a folder of its own.
import { execFileSync, spawnSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const TOOLS = [
  ...["esbuild@0.28", "jest@30", "rollup@4", "@rollup/plugin-node-resolve@16", "vite@7"],
  ...["vitest@3", "webpack@5"],
];
/** The executables alone, since their packages would fetch them when they are installed. */
const RUNTIMES = ["deno@npm:@deno/linux-x64-glibc@2", "bun@npm:@oven/bun-linux-x64@1"];
const TYPESCRIPTS = ["5.6", "5.9", "6.0", "7.0"];
const PACKAGES = ["hydraconf", "deep-profile"];

/** A project with all tools, and one that has nothing but our packages. */
let project: string;
let bare: string;
/** Why there are no tools. */
let unavailable: string | undefined;

beforeAll(() => {
  const place = realpathSync(mkdtempSync(join(tmpdir(), "hydraconf-consumers-")));
  [project, bare] = [join(place, "project"), join(place, "bare")];
  const packed = join(place, "packed");
  execFileSync(process.execPath, [join(root, "scripts", "pack.mjs"), packed]);
  const tarball = (name: string) =>
    join(packed, readdirSync(packed).find((file) => file.startsWith(`${name}-0`)) ?? "none");
  write("package.json", '{ "private": true }');
  for (const name of PACKAGES) {
    const folder = join(bare, "node_modules", name);
    mkdirSync(folder, { recursive: true });
    execFileSync("tar", ["-xzf", tarball(name), "-C", folder, "--strip-components=1"]);
  }
  install("--offline", tarball("hydraconf"));
  const installed = readdirSync(join(project, "node_modules")).filter((name) => !/^\./.test(name));
  expect(installed).toEqual(["hydraconf"]);
  try {
    const typescripts = TYPESCRIPTS.map(
      (version) => `typescript-${version}@npm:typescript@${version}`,
    );
    install("--prefer-offline", ...TOOLS, ...RUNTIMES, ...typescripts);
  } catch (error) {
    if (process.env["HYDRACONF_REQUIRE_REGISTRY"] === "1") throw error;
    unavailable = `the npm registry does not give the tools of users' projects: ${error}`;
    console.warn(unavailable);
  }
}, 600_000);

beforeEach(({ skip }) => {
  if (unavailable !== undefined) skip(unavailable);
});

afterAll(() => rmSync(dirname(project), { recursive: true, force: true }));

function install(...words: readonly string[]): void {
  const options = ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"];
  execFileSync("npm", [...options, ...words], {
    cwd: project,
    stdio: ["ignore", "ignore", "pipe"],
  });
}

function write(name: string, text: string): void {
  mkdirSync(dirname(join(project, name)), { recursive: true });
  writeFileSync(join(project, name), text);
}

/** Runs a tool of the project, or Node. */
function run(...words: readonly string[]): string {
  const [program = "", ...args] = words;
  const tool = program === "node" ? process.execPath : join(project, "node_modules/.bin", program);
  const { NODE_ENV: _, VITEST: __, ...env } = process.env;
  const { status, stdout, stderr } = spawnSync(tool, args, { cwd: project, encoding: "utf8", env });
  expect(status, `${words.join(" ")}\n${stdout}${stderr}`).toBe(0);
  return stdout.trim();
}

/** What a program shows that composes a config, runs and sweeps. Its config directory lies beside it. */
const IMPORT = 'import { hydraMain } from "hydraconf";\n';
const PROGRAM = `
hydraMain({ configPath: "conf", configName: "config" }, (config) => {
  console.log(JSON.stringify(config.toObject()));
  return config.get("lr");
});
`;

/** A folder of the project with a config tree. */
function folder(name: string): string {
  write(`${name}/conf/config.yaml`, "defaults:\n- db: mysql\n- _self_\nlr: 1\n");
  write(`${name}/conf/db/mysql.yaml`, "port: 3306\n");
  return name;
}

/** Sources, and a folder for what is made of them. */
function sources(name: string, files: Readonly<Record<string, string>>): string {
  const home = folder(name);
  for (const [file, text] of Object.entries(files)) write(`${home}/${file}`, text);
  return home;
}

/** Runs a program once, as a sweep in its process, and as a sweep in processes of its own. */
function expectRunAndSweeps(file: string): void {
  const home = dirname(file);
  const shown = (lr: number) => `{"db":{"port":3306},"lr":${lr}}`;
  const at = (name: string) => `${home}/new/${name}`;
  expect(run("node", file, "lr=3", `hydra.run.dir=${at("run")}`)).toBe(shown(3));
  expect(readFileSync(join(project, at("run/.hydra/overrides.yaml")), "utf8")).toBe("- lr=3\n");
  const swept = run("node", file, "-m", "lr=1,2", `hydra.sweep.dir=${at("sweep")}`);
  expect(swept.split("\n").filter((line) => line.startsWith("{"))).toEqual([shown(1), shown(2)]);
  expect(overridesOf(at("sweep"))).toEqual(["- lr=1\n", "- lr=2\n"]);
  run(
    ...["node", file, "-m", "lr=4,5", "hydra/launcher=local"],
    `hydra.sweep.dir=${at("processes")}`,
  );
  expect(overridesOf(at("processes"))).toEqual(["- lr=4\n", "- lr=5\n"]);
  expect(resultsOf(at("processes"))).toEqual([4, 5]);
}

/** What the two jobs of a sweep have recorded. */
const overridesOf = (directory: string) =>
  ["0", "1"].map((job) =>
    readFileSync(join(project, directory, job, ".hydra/overrides.yaml"), "utf8"),
  );

function resultsOf(directory: string): unknown {
  const { jobs } = JSON.parse(readFileSync(join(project, directory, "sweep.json"), "utf8"));
  return jobs.map(({ result }: { result: unknown }) => result);
}

describe("types, without those of Node and with skipLibCheck off", () => {
  const USE = `import { compose, createTargets, hydraMain, isConfigError, type Launcher } from "hydraconf";
import { validateTree } from "hydraconf/schema";
import { dotenv, environment, toml } from "hydraconf/sources";
export const more = compose({ configName: "config", layers: [dotenv(), environment({ prefix: "APP_" })], formats: [toml()] });
const config = compose({ configDir: "conf", configName: "config" });
export const issues: number = validateTree(config.root, {}).length;
export const submit: Launcher["submit"] = async (batch, signal) => {
  if (signal.aborted) throw new Error(String(batch.length));
};
export const code: Promise<number> = hydraMain({ targets: createTargets({}) }, (job) => job.toYaml());
export const known: (error: unknown) => boolean = isConfigError;
`;
  const USE_OF_ENGINE = `import { compose, createEngine, createTargets, fetchFiles, instantiate, type EngineOptions } from "hydraconf/engine";
const options: EngineOptions = { files: new Map([["config.yaml", "a: 1"]]), env: {}, ajv: () => ({ compile: () => () => true }) };
export const text: string = createEngine(options).compose({ configDir: ".", configName: "config" }).toYaml();
export const value: number | undefined = compose({ ...options, configName: "config" }).get<number>("a");
export const files: Promise<ReadonlyMap<string, string>> = fetchFiles("/conf", ["config.yaml"]);
export const made: number = instantiate({ _target_: "one" }, { targets: createTargets({ one: () => 1 }) });
`;
  const USE_OF_PROFILE = `import { buildRegionModel } from "deep-profile";
import * as report from "deep-profile/report";
export const both: readonly unknown[] = [buildRegionModel, report];
`;
  const RESOLUTIONS = [
    ["nodenext", "nodenext"],
    ["esnext", "bundler"],
  ] as const;
  const cases = TYPESCRIPTS.flatMap((version) =>
    RESOLUTIONS.map(([module, resolution]) => ({ version, module, resolution })),
  );

  it.each(cases)(
    "TypeScript $version, resolution $resolution",
    ({ version, module, resolution }) => {
      writeFileSync(join(bare, "use.mts"), USE);
      writeFileSync(join(bare, "profile.mts"), USE_OF_PROFILE);
      writeFileSync(join(bare, "engine.mts"), USE_OF_ENGINE);
      // What imports the package as CommonJS does.
      writeFileSync(join(bare, "use.cts"), resolution === "nodenext" ? USE : "export {};");
      const tsc = join(project, "node_modules", `typescript-${version}`, "bin", "tsc");
      for (const lib of ["es2022", "es2022,dom"]) {
        const words = ["--noEmit", "--strict", "--skipLibCheck", "false", "--target", "es2022"];
        const kind = ["--module", module, "--moduleResolution", resolution, "--lib", lib];
        const files = ["use.mts", "use.cts", "profile.mts", "engine.mts"];
        const { stdout } = spawnSync(process.execPath, [tsc, ...words, ...kind, ...files], {
          cwd: bare,
          encoding: "utf8",
        });
        expect(stdout, lib).toBe("");
      }
    },
  );
});

it.each(["esm", "cjs"])("esbuild makes %s of it", (format) => {
  const home = sources(`esbuild-${format}`, { "main.ts": IMPORT + PROGRAM });
  const file = `${home}/out.${format === "esm" ? "mjs" : "cjs"}`;
  run(
    ...["esbuild", `${home}/main.ts`, "--bundle", "--platform=node", `--format=${format}`],
    ...["--log-level=error", `--outfile=${file}`],
  );
  expectRunAndSweeps(file);
});

it.each(["es", "cjs"])("rollup makes %s of it", (format) => {
  const home = sources(`rollup-${format}`, { "main.mjs": IMPORT + PROGRAM });
  const extension = format === "es" ? "mjs" : "cjs";
  write(
    `${home}/rollup.config.mjs`,
    `import { nodeResolve } from "@rollup/plugin-node-resolve";
     export default {
       input: "${home}/main.mjs", plugins: [nodeResolve()], external: /^node:/,
       output: { dir: "${home}", format: "${format}", entryFileNames: "out.${extension}", chunkFileNames: "[name].${extension}" },
     };`,
  );
  run("rollup", "--silent", "--config", `${home}/rollup.config.mjs`);
  expectRunAndSweeps(`${home}/out.${extension}`);
});

it("vite bundles it for a server", () => {
  const home = sources("vite", { "main.ts": IMPORT + PROGRAM });
  write(
    `${home}/vite.config.mjs`,
    `export default { ssr: { noExternal: true }, build: { ssr: "${home}/main.ts", outDir: "${home}/out" } };`,
  );
  run("vite", "build", "--config", `${home}/vite.config.mjs`, "--logLevel", "error");
  const out = folder(`${home}/out`);
  const [file = "none"] = readdirSync(join(project, out)).filter((name) => /^main\./.test(name));
  expectRunAndSweeps(`${out}/${file}`);
});

describe("webpack", () => {
  const REQUIRE = 'const { hydraMain } = require("hydraconf");\n';
  const MODULE =
    'experiments: { outputModule: true }, output: { module: true, chunkFormat: "module", library: { type: "module" },';
  const ONE_CHUNK = "plugins: [new webpack.optimize.LimitChunkCountPlugin({ maxChunks: 1 })],";
  it.each([
    ["ES modules for production", "main.mjs", "out.mjs", `mode: "production", ${MODULE}`],
    ["one chunk", "main.mjs", "out.cjs", `mode: "production", ${ONE_CHUNK} output: {`],
    ["CommonJS for production", "main.cjs", "out.cjs", 'mode: "production", output: {'],
    ["CommonJS for development", "main.cjs", "out.cjs", 'mode: "development", output: {'],
  ])("makes %s of it, without a warning", (kind, main, out, settings) => {
    const home = sources(`webpack-${kind.replaceAll(" ", "-")}`, {
      [main]: (main.endsWith("cjs") ? REQUIRE : IMPORT) + PROGRAM,
    });
    write(
      `${home}/build.cjs`,
      `const webpack = require("webpack");
       webpack({
         entry: "./${home}/${main}", target: "node",
         ${settings} path: __dirname, filename: "${out}" },
       }, (error, stats) => {
         if (error ?? (stats.hasErrors() || stats.hasWarnings())) {
           console.error(error ?? stats.toString({ all: false, errors: true, warnings: true }));
           process.exitCode = 1;
         }
       });`,
    );
    run("node", `${home}/build.cjs`);
    expectRunAndSweeps(`${home}/${out}`);
  });
});

describe("hydraconf/engine, wherever JavaScript runs", () => {
  const OF_ENGINE = `import { compose, isConfigError, toYaml } from "hydraconf/engine";
const files = { "conf/config.yaml": "defaults: [{db: pg}]\\na: 1\\nb: \${a}\\n", "conf/db/pg.yaml": "# @package _global_\\n" };
const config = compose({ files, configDir: "conf", configName: "config", overrides: ["a=2"] });
let refused = false;
try {
  compose({ files, configDir: "conf", configName: "config", overrides: ["c=2"] });
} catch (error) {
  refused = isConfigError(error) && String(error.stack).includes("Could not override 'c'");
}
const yaml = toYaml(config.root, { resolve: true });
console.log(JSON.stringify({ yaml, refused }));
`;
  const EXPECTED = JSON.stringify({ yaml: "a: 2\nb: 2\n", refused: true });

  it("Node imports and requires it", () => {
    write("portable/main.mjs", OF_ENGINE);
    expect(run("node", "portable/main.mjs")).toBe(EXPECTED);
    write(
      "portable/main.cjs",
      OF_ENGINE.replace(/import (.*) from (.*);/, "const $1 = require($2);"),
    );
    expect(run("node", "portable/main.cjs")).toBe(EXPECTED);
  });

  it("Deno runs it, without any permission", () => {
    write("portable/main.ts", OF_ENGINE);
    const words = ["run", "--no-prompt", "--no-remote", "--node-modules-dir=manual"];
    const deno = join(project, "node_modules/deno/deno");
    expect(
      execFileSync(deno, [...words, "portable/main.ts"], { cwd: project, encoding: "utf8" }),
    ).toBe(`${EXPECTED}\n`);
  });

  it("Bun runs it", () => {
    write("portable/main.ts", OF_ENGINE);
    const bun = join(project, "node_modules/bun/bin/bun");
    expect(execFileSync(bun, ["portable/main.ts"], { cwd: project, encoding: "utf8" })).toBe(
      `${EXPECTED}\n`,
    );
  });

  it("esbuild, Vite and webpack bundle it for browsers, without a warning", () => {
    write("portable/main.mjs", OF_ENGINE);
    run(
      ...["esbuild", "portable/main.mjs", "--bundle", "--platform=browser", "--format=esm"],
      ...["--log-level=warning", "--log-limit=0", "--outfile=portable/esbuild.mjs"],
    );
    write(
      "portable/vite.config.mjs",
      `export default { build: { lib: { entry: "portable/main.mjs", formats: ["es"], fileName: "vite" }, outDir: "portable/out", minify: false } };`,
    );
    run("vite", "build", "--config", "portable/vite.config.mjs", "--logLevel", "warn");
    write(
      "portable/build.cjs",
      `const webpack = require("webpack");
       webpack({
         entry: "./portable/main.mjs", target: "web", mode: "production", performance: false,
         output: { path: __dirname, filename: "webpack.cjs" },
       }, (error, stats) => {
         if (error ?? (stats.hasErrors() || stats.hasWarnings())) {
           console.error(error ?? stats.toString({ all: false, errors: true, warnings: true }));
           process.exitCode = 1;
         }
       });`,
    );
    run("node", "portable/build.cjs");
    const [vite = "none"] = readdirSync(join(project, "portable/out"));
    for (const file of ["esbuild.mjs", `out/${vite}`, "webpack.cjs"])
      expect(run("node", `portable/${file}`), file).toBe(EXPECTED);
  });
});

/** Tests of a user's: of the engine, and of a program, which runs in the test's process. */
const TESTS = (base: string) => `
const lines = { stdout: () => {}, stderr: () => {} };
const program = async (...argv) => {
  const shown = [];
  const task = (config) => { shown.push(config.get("lr")); return config.get("lr"); };
  const exitCode = await hydraMain(
    { configPath: "conf", configName: "config", base: ${base}, targets: createTargets({}, { modules: ["./"], base: ${base} }) },
    task, { argv, console: lines });
  return { exitCode, shown };
};
test("composes", () => {
  const config = compose({ configDir: DIR, configName: "config", overrides: ["db.port=1"] });
  expect(config.toObject()).toEqual({ db: { port: 1 }, lr: 1 });
  expect(validateTree(config.root, { properties: { lr: { type: "string" } } })).toHaveLength(1);
  expect(() => compose({ configDir: DIR, configName: "none" })).toThrow(/Cannot find primary config/);
  try { compose({ configDir: DIR, configName: "none" }); } catch (error) { expect(isConfigError(error)).toBe(true); }
});
test("takes data of other realms", () => {
  const data = { a: new Map([["b", [1, { c: new Date(0) instanceof Date }]]]), bytes: new Uint8Array(2) };
  expect(toYaml(structuredClone(data))).toBe(toYaml(data));
});
test("runs", async () => {
  expect(await program("lr=2", "hydra.run.dir=" + DIR + "/new/run")).toEqual({ exitCode: 0, shown: [2] });
});
test("sweeps", async () => {
  const done = await program("-m", "lr=1,2", "hydra.sweep.dir=" + DIR + "/new/sweep");
  expect(done).toEqual({ exitCode: 0, shown: [1, 2] });
});
test("reports what fails", async () => {
  const said = [];
  const exitCode = await hydraMain(
    { configPath: "conf", configName: "config", base: ${base} },
    () => { throw new TypeError("of the task"); },
    { argv: ["hydra.run.dir=" + DIR + "/new/failed"], console: { stdout: () => {}, stderr: (text) => said.push(text) } });
  expect(exitCode).toBe(1);
  expect(said.join("")).toMatch(/^TypeError: of the task$/m);
});
`;

it("Jest loads it by require", () => {
  const home = folder("jest");
  write(
    `${home}/one.test.js`,
    `const { compose, createTargets, hydraMain, isConfigError, toYaml } = require("hydraconf");
     const { validateTree } = require("hydraconf/schema");
     const DIR = __dirname + "/conf";
     ${TESTS("__filename")}`,
  );
  run("jest", "--rootDir", home);
  expect(overridesOf(`${home}/conf/new/sweep`)).toEqual(["- lr=1\n", "- lr=2\n"]);
});

it("Vitest loads it by import", () => {
  const home = folder("vitest");
  write(
    `${home}/one.test.ts`,
    `import { compose, createTargets, hydraMain, isConfigError, toYaml } from "hydraconf";
     import { validateTree } from "hydraconf/schema";
     import { expect, test } from "vitest";
     const DIR = import.meta.dirname + "/conf";
     ${TESTS("import.meta.url")}`,
  );
  run("vitest", "run", "--root", home);
  expect(overridesOf(`${home}/conf/new/sweep`)).toEqual(["- lr=1\n", "- lr=2\n"]);
});
