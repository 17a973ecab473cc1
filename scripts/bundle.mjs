// Bundles each command into two files in the directory given: one with all that a command line loads whatever it says,
// and one with the modules that are imported on demand. So the first is small: reading it is most of what starting costs.
// The library is bundled by bundle-library.mjs.
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join, relative, resolve } from "node:path";
import { build, transform } from "esbuild";
import { minifySync } from "rolldown/utils";
import { scriptArguments } from "./script-arguments.mjs";
import { root } from "./setup.mjs";
import { TEXT_LOADERS } from "./text-files.mjs";

const [place = "dist/bin"] = scriptArguments(import.meta.url, { most: 1 }).words;
const outdir = resolve(root, place);
const source = join(root, "src", "bin");
const commands = readdirSync(source)
  .filter((name) => name.endsWith(".ts"))
  .map((name) => name.slice(0, -".ts".length));

/** Imported on demand, but in the first bundle nevertheless: what must be quick needs them. */
const QUICK = ["src/app/cli/completion/shell-completion.ts"];

/** What yargs loads for help, which we write, and for commands in files of their own: twice the time that parsing takes. */
const YARGS_HELP = /^(assert|cliui|escalade\/sync|get-caller-file|string-width)$/;

/** What libraries ask of standard output as they are loaded, though we tell them each time: its stream takes long to load. */
const LOOKS = [
  {
    file: /[\\/]picocolors[\\/]picocolors\.js$/,
    look: "(p.stdout || {}).isTTY",
    answer: "false",
  },
  {
    file: /[\\/]yargs[\\/]lib[\\/]platform-shims[\\/]esm\.mjs$/,
    look: "process.stdout.columns",
    answer: "undefined",
  },
];

/** What a command does while its code cache is made: what it should be quick at. */
const SHOWN_AND_COMPLETED = [
  ["--cfg", "job"],
  ["-sc", "query=bash"],
  ["-sc", "query=zsh", "--", "pipeline.ncu."],
];
const WARM_UP = {
  hydraconf: [...SHOWN_AND_COMPLETED, ["schema", "--help"], ["sweep", "--help"]],
  "deep-profile": [...SHOWN_AND_COMPLETED, ["compare", "--help"]],
};

rmSync(outdir, { recursive: true, force: true });
// The package as a whole consists of ES modules; the launchers do not.
writeBundle("package.json", '{ "type": "commonjs" }\n');
for (const name of commands) {
  await bundleCommand(name);
  const launcher = join(outdir, `${name}.js`);
  copyFileSync(join(root, "scripts", "launcher.cjs"), launcher);
  chmodSync(launcher, 0o755);
  makeCodeCache(launcher, WARM_UP[name] ?? [["--version"]]);
}

async function bundleCommand(name) {
  const entry = `src/bin/${name}.ts`;
  const { inputs } = (await bundle(`import "./${entry}";`, () => undefined)).metafile;
  const early = loadedWith(inputs, [entry, ...QUICK.filter((module) => module in inputs)]);
  const late = Object.keys(inputs).filter((module) => !early.has(module));
  const ours = [...early].filter((module) => module.startsWith("src/"));
  const onDemand = importsOf(inputs, [...early], "dynamic-import").filter((one) => !early.has(one));
  const first = await bundle(
    [`import "./${entry}";`, ...(await sharing(ours))].join("\n"),
    (module) => (late.includes(module) ? `late:${module}` : undefined),
  );
  writeBundle(`${name}.bundle.js`, await withShortNames(first.outputFiles[0].text));
  const second = await bundle(
    [
      "const modules = {",
      ...onDemand.map((module) => `"late:${module}": () => require("./${module}"),`),
      "};",
      "__share((name) => modules[name]());",
    ].join("\n"),
    (module) => (early.has(module) ? `shared:${module}` : undefined),
    // Smaller by a fifth; functions and classes keep their names, so that stacks can be read.
    { minifyIdentifiers: true, keepNames: true },
  );
  writeBundle(`${name}.late.js`, second.outputFiles[0].contents);
}

/**
 * Smaller by a sixth; functions and classes keep their names, so that stacks can be read. Where esbuild shortens names, calls give the
 * functions theirs as a bundle is loaded: smaller still, but slower to start.
 */
async function withShortNames(code) {
  const short = minifySync("bundle.js", code, {
    compress: false,
    mangle: { toplevel: true, keepNames: true },
    codegen: { removeWhitespace: true },
  });
  if (short.errors.length > 0) throw new Error(short.errors[0].message);
  return (await transform(short.code, { charset: "ascii", minifyWhitespace: true })).code;
}

/** @param elsewhere the name under which the launcher finds a module that another bundle has */
function bundle(contents, elsewhere, names = {}) {
  return build({
    ...names,
    stdin: { contents, resolveDir: root, sourcefile: "bundle.js" },
    absWorkingDir: root,
    outdir,
    write: false,
    metafile: true,
    bundle: true,
    format: "cjs",
    platform: "node",
    target: "node20.19",
    // All modules are found by the launcher's `require`.
    supported: { "dynamic-import": false },
    loader: TEXT_LOADERS,
    // node-gyp is a program that we start, not a module that we load; SQLite reads its WebAssembly
    // from beside itself.
    external: ["node-gyp", "node-sqlite3-wasm"],
    charset: "ascii",
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: "none",
    define: { "import.meta.url": "__bundleUrl", "import.meta.embedded": "__import.embedded" },
    // The bundle is an expression, a function that the launcher calls.
    banner: {
      js: '(function (require, __filename, __import, __share) { const __bundleUrl = require("node:url").pathToFileURL(__filename).href;',
    },
    footer: { js: "})" },
    plugins: [
      {
        name: "yargs-parses-only",
        setup({ onResolve, onLoad }) {
          onResolve({ filter: YARGS_HELP }, ({ path, importer }) =>
            /[\\/]yargs[\\/]/.test(importer) ? { path, namespace: "unused" } : undefined,
          );
          onLoad({ filter: /^/, namespace: "unused" }, () => ({
            contents:
              "export default undefined; export const strictEqual = () => {}, notStrictEqual = strictEqual;",
          }));
        },
      },
      {
        name: "import-by-launcher",
        setup: ({ onLoad }) =>
          onLoad({ filter: /[\\/]src[\\/]foundation[\\/]system[\\/]import-file\.ts$/ }, () => ({
            contents: "export const importFile = __import;",
          })),
      },
      {
        // Its expressions for emoji take longer to make than the help of a subcommand; most texts are ASCII and need none.
        name: "string-width-on-first-use",
        setup({ onResolve, onLoad }) {
          onResolve({ filter: /^string-width$/ }, ({ path, namespace }) =>
            namespace === "on-first-use" ? undefined : { path, namespace: "on-first-use" },
          );
          onLoad({ filter: /^/, namespace: "on-first-use" }, ({ path }) => ({
            contents: `let loaded; export default (...args) => (loaded ??= require("${path}").default)(...args);`,
            resolveDir: root,
          }));
        },
      },
      {
        name: "no-look-at-standard-output",
        setup: ({ onLoad }) => {
          for (const { file, look, answer } of LOOKS)
            onLoad({ filter: file }, ({ path }) => {
              const text = readFileSync(path, "utf8");
              const contents = text.replaceAll(look, answer);
              if (contents === text) throw new Error(`${path} has no ${look}`);
              return { contents };
            });
        },
      },
      {
        name: "modules-of-the-other-bundle",
        setup: ({ onResolve }) =>
          onResolve({ filter: /^\.\.?\// }, ({ path, resolveDir }) => {
            const name = elsewhere(relative(root, join(resolveDir, path)));
            return name === undefined ? undefined : { path: name, external: true };
          }),
      },
    ],
    logLevel: "warning",
  });
}

/** The modules that are loaded with those given, themselves included. */
function loadedWith(inputs, modules) {
  const loaded = new Set();
  for (let next = modules; next.length > 0; ) {
    for (const module of next) loaded.add(module);
    next = importsOf(inputs, next, "import-statement", "require-call").filter(
      (module) => !loaded.has(module),
    );
  }
  return loaded;
}

function importsOf(inputs, modules, ...kinds) {
  const imports = modules.flatMap((module) => inputs[module].imports);
  const wanted = imports.filter(({ external, kind }) => external !== true && kinds.includes(kind));
  return [...new Set(wanted.map(({ path }) => path))];
}

/** Code that hands the modules given to the second bundle: as objects that are made when they are asked for. */
async function sharing(modules) {
  const { metafile } = await build({
    entryPoints: modules,
    absWorkingDir: root,
    outdir,
    write: false,
    metafile: true,
    bundle: true,
    splitting: true,
    packages: "external",
    format: "esm",
    platform: "node",
    loader: TEXT_LOADERS,
    logLevel: "warning",
  });
  const exported = Object.values(metafile.outputs)
    .filter(({ entryPoint, exports }) => modules.includes(entryPoint) && exports.length > 0)
    .map(({ entryPoint, exports }, i) => ({ module: entryPoint, exports, local: `shared${i}_` }));
  const imports = exported.map(({ module, exports, local }) => {
    const names = exports.map((name) => `${name} as ${local}${name}`);
    return `import { ${names.join(", ")} } from "./${module}";`;
  });
  const makers = exported.map(({ module, exports, local }) => {
    const getters = exports.map((name) => `get ${name}() { return ${local}${name}; }`);
    return `case "shared:${module}": return { __esModule: true, ${getters.join(", ")} };`;
  });
  return [
    ...imports,
    "const made = new Map();",
    `const make = (name) => { switch (name) { ${makers.join("\n")} } };`,
    "__share((name) => { if (!made.has(name)) made.set(name, make(name)); return made.get(name); });",
  ];
}

function writeBundle(name, contents) {
  mkdirSync(outdir, { recursive: true });
  writeFileSync(join(outdir, name), contents);
}

function makeCodeCache(launcher, lists) {
  const maker = join(root, "scripts", "code-cache.cjs");
  const { status, stderr } = spawnSync(process.execPath, [maker, launcher, JSON.stringify(lists)], {
    cwd: root,
    env: { ...process.env, COMP_LINE: "program pipeline.ncu.enable=" },
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`${launcher} failed:\n${stderr}`);
}
