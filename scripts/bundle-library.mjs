// Bundles the library into the directory given: a file for each way to import the package, with all of our code that it
// may need and our dependencies. Node opens the files of a program all at once, so hundreds of them fail
// where few files may be open, before any code of ours could say so; and they take longer.
import { writeFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { rolldown } from "rolldown";
import { esmExternalRequirePlugin } from "rolldown/plugins";
import { PATTERNS } from "./licences.mjs";
import { scriptArguments } from "./script-arguments.mjs";
import { root } from "./setup.mjs";
import { TEXT_LOADERS } from "./text-files.mjs";

/**
 * Dependencies of CommonJS require modules of Node's. In ES modules they get them by `import`, since no bundler of users understands a `require`
 * that is made by `createRequire`: esbuild knows no `import.meta.url` in CommonJS, and webpack exports no such function.
 */
const importedBuiltins = esmExternalRequirePlugin({
  external: builtinModules.flatMap((name) => [name, `node:${name}`]),
});

/**
 * picocolors asks whether standard output is a terminal when it is imported, for a default that we never use. Node makes the stream for
 * that, which takes milliseconds, and a library has no business with it.
 */
const colorsAsTold = {
  name: "colors-as-told",
  transform(code, id) {
    if (!/[\\/]picocolors[\\/]picocolors\.js$/.test(id)) return null;
    const question = '((p.stdout || {}).isTTY && env.TERM !== "dumb")';
    if (!code.includes(question)) throw new Error(`${id} has no ${question}`);
    return { code: code.replace(question, "false"), map: null };
  },
};

/** Rolldown takes the dot from a path to a file of the same folder, which then is the name of a package. */
const BESIDE = { "index.js": "./index.js", "./index.js": "./index.js" };

const [place = "dist"] = scriptArguments(import.meta.url, { most: 1 }).words;
const outdir = resolve(root, place);
const ENTRY = "src/index.ts";
/** What `hydraMain` imports. */
const PROGRAM = "src/app/cli/main.ts";
const ERRORS = join(root, "src", "engine", "values", "errors.ts");

await bundle({
  input: { index: ENTRY },
  // One file for what is loaded at once. The other modules import from it what both need: under names of one or two letters, which no
  // type has, and so no editor offers. A second file with the public names alone would hide those from `import *`, too, and was
  // measured: an import takes 2 % more of the processor's time (34.5 and 35.2 ms, medians of 150 pairs) and 7 % more on a busy machine.
  preserveEntrySignatures: "allow-extension",
  output: { dir: outdir, format: "esm", codeSplitting: { groups: [await partsOfLibrary()] } },
});
await bundle({
  input: { "engine/schema/index": "src/engine/schema/index.ts" },
  engine: "../../index.js",
  output: { dir: outdir, format: "esm" },
});
await bundle({
  input: { sources: "src/sources.ts" },
  engine: "./index.js",
  output: { dir: outdir, format: "esm", paths: BESIDE, minify: true },
});
// For browsers, workers, Deno and Bun as well: nothing of Node's, nothing external, and no URL of its own.
await bundle({
  input: { "portable-engine": "src/portable-engine.ts" },
  platform: "browser",
  define: { "import.meta.url": "undefined" },
  output: { dir: outdir, format: "esm", minify: true },
});
// The two share files; each error is one of the engine's class.
await bundle({
  input: { "profiler/index": "src/profiler/index.ts", "report/index": "src/report/index.ts" },
  engine: "hydraconf",
  output: { dir: outdir, format: "esm", chunkFileNames: "profiler/modules/[name]-[hash].js" },
});
// The package of the playground. Its page is bundled by bundle-client.mjs.
await bundle({
  input: { index: "src/playground/server/serve.ts" },
  engine: "hydraconf",
  output: { dir: join(outdir, "playground"), format: "esm", minify: true },
});
// For Jest, and whatever else takes no ES module by `require`: Node itself does (module-sync in scripts/pack.mjs).
// Names of functions would be an eighth of it, and with them the package larger than 6 MB. Those of classes are printed with errors.
const cjs = {
  dir: join(outdir, "cjs"),
  format: "cjs",
  codeSplitting: false,
  minify: {
    compress: true,
    mangle: { toplevel: true, keepNames: { class: true, function: false } },
    codegen: { removeWhitespace: true },
  },
};
await bundle({ input: { index: ENTRY }, output: cjs });
await bundle({
  input: { "engine/schema/index": "src/engine/schema/index.ts" },
  engine: "../../index.js",
  output: cjs,
});
await bundle({
  input: { sources: "src/sources.ts" },
  engine: "./index.js",
  output: { ...cjs, paths: BESIDE, minify: true },
});
writeFileSync(join(cjs.dir, "package.json"), '{ "type": "commonjs" }\n');
// What is loaded on demand, and at once: src/engine/values/package-info.ts.
await bundleDependencies("ajv", ["ajv/dist/2020.js", "ajv-formats"]);
await bundleDependencies("fast-glob", ["fast-glob"]);
await bundleDependencies("json-schema-to-typescript", ["json-schema-to-typescript"]);
await bundleDependencies("patterns", PATTERNS);
// Of its ES modules, whose other half falls away. It would check forms by ajv; we have none, and ajv is in another file.
const mcp = Object.entries({
  "server/index.js": "Server",
  "server/stdio.js": "StdioServerTransport",
  "types.js": "CallToolRequestSchema, ListToolsRequestSchema",
}).map(([file, names]) => ({ module: `@modelcontextprotocol/sdk/${file}`, names }));
await bundleFile(
  "mcp",
  [
    ...mcp.map(({ module, names }) => `import { ${names} } from "${module}";`),
    `module.exports = { ${mcp.map(({ module, names }) => `"${module}": () => ({ ${names} }),`).join(" ")} };`,
  ].join("\n"),
  { ajv: "node:util", "ajv-formats": "node:util" },
);

/** What the library loads at once, what it imports for a program, and what the program imports on demand. */
async function partsOfLibrary() {
  const { metafile } = await build({
    entryPoints: [ENTRY],
    absWorkingDir: root,
    outdir,
    write: false,
    metafile: true,
    bundle: true,
    format: "esm",
    platform: "node",
    loader: TEXT_LOADERS,
    logLevel: "warning",
  });
  const loadedWith = (entry) => {
    const loaded = new Set([entry]);
    for (const module of loaded)
      for (const { path, kind, external } of metafile.inputs[module].imports)
        if (external !== true && kind !== "dynamic-import") loaded.add(path);
    return loaded;
  };
  const start = loadedWith(ENTRY);
  const program = loadedWith(PROGRAM);
  const partOf = (module) =>
    start.has(module) ? "index" : program.has(module) ? "program" : "on-demand";
  return { debugName: "parts", name: (id) => partOf(id.slice(root.length + 1)) };
}

/** @param engine what the classes of errors are imported from, so that there is one of each; undefined for the engine itself */
async function bundle({ define = {}, engine, output, ...input }) {
  const made = await rolldown({
    cwd: root,
    platform: "node",
    ...input,
    moduleTypes: TEXT_LOADERS,
    transform: { define: { "import.meta.embedded": "undefined", ...define } },
    external: ["node-sqlite3-wasm", engine].filter((name) => name !== undefined),
    plugins: [
      colorsAsTold,
      ...(output.format === "esm" ? [importedBuiltins] : []),
      ...(engine === undefined ? [] : [errorsOf(engine)]),
    ],
    logLevel: "warn",
    onLog: (level, log, next) => log.code === "INEFFECTIVE_DYNAMIC_IMPORT" || next(level, log),
  });
  await made.write({
    // The names of functions and classes stay, so that stacks can be read; layout and other names would be a
    // fifth of the package.
    minify: {
      compress: true,
      mangle: { toplevel: true, keepNames: true },
      codegen: { removeWhitespace: true },
    },
    chunkFileNames: "modules/[name].js",
    ...output,
    entryFileNames: "[name].js",
    sourcemap: true,
  });
  await made.close();
}

/** One file that gives each of the modules when it is asked for. */
async function bundleDependencies(name, modules) {
  const makers = modules.map((module) => `"${module}": () => require("${module}"),`);
  await bundleFile(name, `module.exports = { ${makers.join(" ")} };`);
}

async function bundleFile(name, contents, alias = {}) {
  await build({
    stdin: { contents, resolveDir: root },
    outfile: join(outdir, "vendor", `${name}.cjs`),
    bundle: true,
    minify: true,
    platform: "node",
    target: "node20.19",
    // Of json-schema-to-typescript: the formatter, which it is told not to use, and colours of its debugging output.
    alias: { prettier: "node:util", "cli-color": "node:util", ...alias },
    define: { "process.env.VERBOSE": "undefined" },
    legalComments: "none",
    logLevel: "warning",
  });
}

function errorsOf(engine) {
  const shared = "\0errors";
  return {
    name: "errors-of-the-engine",
    async resolveId(id, importer) {
      if (importer === shared || !id.endsWith("errors.ts")) return null;
      const found = await this.resolve(id, importer, { skipSelf: true });
      return found?.id === ERRORS ? shared : null;
    },
    load: (id) =>
      id === shared
        ? `export * from ${JSON.stringify(ERRORS)};
           export { ConfigError, isConfigError } from ${JSON.stringify(engine)};`
        : null,
  };
}
