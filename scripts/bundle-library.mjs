// Bundles the library into the directory given: a file for each way to import the package, with all that it loads at once,
// and files for what is imported on demand. Node opens the files of a program all at once, so hundreds of them fail
// where few files may be open, before any code of ours could say so; and they take longer.
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { rolldown } from "rolldown";
import { root } from "./setup.mjs";

const outdir = resolve(root, process.argv[2] ?? "dist");
/** In this order: what several of them share is the first one's. */
const ENTRIES = {
  index: "src/index.ts",
  "schema/index": "src/schema/index.ts",
  "report/index": "src/report/index.ts",
  "profile/index": "src/profile/index.ts",
};

const { inputs } = (
  await build({
    entryPoints: Object.values(ENTRIES),
    absWorkingDir: root,
    outdir,
    write: false,
    metafile: true,
    bundle: true,
    format: "esm",
    platform: "node",
    packages: "external",
    logLevel: "warning",
  })
).metafile;

/** Which entry each module is loaded with; none for those that are imported on demand. */
const entryOf = new Map();
for (const [name, entry] of Object.entries(ENTRIES))
  for (const module of loadedWith(entry)) if (!entryOf.has(module)) entryOf.set(module, name);

function loadedWith(entry) {
  const loaded = new Set([entry]);
  for (const module of loaded)
    for (const { path, kind, external } of inputs[module].imports)
      if (external !== true && kind === "import-statement") loaded.add(path);
  return loaded;
}

const { dependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const bundle = await rolldown({
  input: ENTRIES,
  cwd: root,
  platform: "node",
  external: (id) =>
    Object.keys(dependencies).some((name) => id === name || id.startsWith(`${name}/`)),
  logLevel: "warn",
  // What one entry imports on demand may belong to another.
  onLog: (level, log, next) => log.code === "INEFFECTIVE_DYNAMIC_IMPORT" || next(level, log),
});
await bundle.write({
  dir: outdir,
  format: "esm",
  sourcemap: true,
  entryFileNames: "[name].js",
  chunkFileNames: "modules/[name]-[hash].js",
  codeSplitting: {
    groups: [
      { debugName: "entries", name: (id) => entryOf.get(id.slice(root.length + 1)) ?? null },
    ],
  },
});
await bundle.close();
