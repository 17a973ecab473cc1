// Bundles each command into one file in the directory given: one file to read at start-up instead of hundreds. Modules
// that are imported on demand are in it, too, but not executed before. The library itself (dist/**/*.js) stays unbundled.
import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { root } from "./setup.mjs";

const outdir = join(root, process.argv[2] ?? "dist/bin");
const source = join(root, "src", "bin");
const commands = readdirSync(source)
  .filter((name) => name.endsWith(".ts"))
  .map((name) => name.slice(0, -".ts".length));

/** What a command does while its code cache is made: what it should be quick at. */
const SHOWN_AND_COMPLETED = [
  ["--cfg", "job"],
  ["-sc", "query=bash"],
  ["-sc", "query=zsh", "--", "pipeline.ncu."],
];
const WARM_UP = { hydraconf: SHOWN_AND_COMPLETED, "deep-profile": SHOWN_AND_COMPLETED };

rmSync(outdir, { recursive: true, force: true });
await build({
  entryPoints: commands.map((name) => ({ in: join(source, `${name}.ts`), out: `${name}.bundle` })),
  outdir,
  bundle: true,
  format: "cjs",
  platform: "node",
  target: "node20.19",
  // node-gyp is a program that we start, not a module that we load; SQLite reads its WebAssembly
  // from beside itself.
  external: ["node-gyp", "node-sqlite3-wasm"],
  legalComments: "none",
  define: { "import.meta.url": "__bundleUrl" },
  // The bundle is an expression, a function that the launcher calls.
  banner: {
    js: '(function (require, __filename, __import) { const __bundleUrl = require("node:url").pathToFileURL(__filename).href;',
  },
  footer: { js: "})" },
  plugins: [
    {
      name: "import-by-launcher",
      setup: ({ onLoad }) =>
        onLoad({ filter: /[\\/]src[\\/]import-file\.ts$/ }, () => ({
          contents: "export const importFile = __import;",
        })),
    },
  ],
  logLevel: "warning",
});

// The package as a whole consists of ES modules; the launchers do not.
writeFileSync(join(outdir, "package.json"), '{ "type": "commonjs" }\n');
for (const name of commands) {
  const launcher = join(outdir, `${name}.js`);
  copyFileSync(join(root, "scripts", "launcher.cjs"), launcher);
  chmodSync(launcher, 0o755);
  makeCodeCache(join(outdir, `${name}.bundle.js`), WARM_UP[name] ?? [["--version"]]);
}

function makeCodeCache(bundle, lists) {
  const maker = join(root, "scripts", "code-cache.cjs");
  const { status, stderr } = spawnSync(process.execPath, [maker, bundle, JSON.stringify(lists)], {
    cwd: root,
    env: { ...process.env, COMP_LINE: "program pipeline.ncu.enable=" },
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`${bundle} failed:\n${stderr}`);
}
