// Bundles the commands into the directory given: one file to read at start-up instead of hundreds, heavy parts in chunks of
// their own that load on demand. The library itself (dist/**/*.js) stays unbundled.
import { chmodSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { root } from "./setup.mjs";

const outdir = join(root, process.argv[2] ?? "dist/bin");
const source = join(root, "src", "bin");
const commands = readdirSync(source).filter((name) => name.endsWith(".ts"));

await build({
  entryPoints: commands.map((name) => join(source, name)),
  outdir,
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node20.19",
  chunkNames: "chunks/[name]-[hash]",
  // node-gyp is a program that we start, not a module that we load.
  external: ["node-gyp"],
  legalComments: "none",
  // Dependencies in CommonJS call require(); ESM has none unless it is made.
  banner: {
    js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
  },
  logLevel: "warning",
});

for (const name of commands) chmodSync(join(outdir, name.replace(/\.ts$/, ".js")), 0o755);
