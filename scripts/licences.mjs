// The licences of what bundles contain.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { root } from "./setup.mjs";
import { TEXT_LOADERS } from "./text-files.mjs";

/** @returns a text with the licence of every package that the sources, and the modules bundled beside them, need */
export async function licencesOf({ sources, vendored }) {
  const { metafile } = await build({
    stdin: {
      contents: [...sources.map((file) => `./${file}`), ...vendored]
        .map((module) => `import ${JSON.stringify(module)};`)
        .join("\n"),
      resolveDir: root,
    },
    absWorkingDir: root,
    outdir: "nowhere",
    write: false,
    metafile: true,
    bundle: true,
    format: "esm",
    platform: "node",
    external: ["node-gyp", "node-sqlite3-wasm", "prettier"],
    define: { "import.meta.url": '""' },
    treeShaking: false,
    loader: TEXT_LOADERS,
    logLevel: "error",
  });
  const folders = new Set(
    Object.keys(metafile.inputs).flatMap(
      (file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? [],
    ),
  );
  // Many packages of one author have the same text.
  const packagesOf = new Map();
  for (const folder of [...folders].sort()) {
    const { name, version, license } = JSON.parse(
      readFileSync(join(root, folder, "package.json"), "utf8"),
    );
    const file = readdirSync(join(root, folder)).find((one) => /^licen[cs]e/i.test(one));
    const text = file === undefined ? "" : readFileSync(join(root, folder, file), "utf8").trim();
    packagesOf.set(text, [...(packagesOf.get(text) ?? []), `${name} ${version} (${license})`]);
  }
  const texts = [...packagesOf].map(([text, packages]) => `${packages.join("\n")}\n\n${text}\n`);
  return `This package contains code of these packages.\n\n${texts.join(`\n${"-".repeat(80)}\n\n`)}`;
}

/** What `hydraconf` has of others' code. */
export const OF_HYDRACONF = {
  sources: ["src/index.ts", "src/bin/hydraconf.ts", "src/app/sweep/client/main.ts"],
  vendored: [
    ...["ajv/dist/2020.js", "ajv-formats", "fast-glob", "json-schema-to-typescript"],
    ...["@modelcontextprotocol/sdk/server/index.js", "@modelcontextprotocol/sdk/server/stdio.js"],
  ],
};

/** What the playground has. */
export const OF_PLAYGROUND = {
  sources: [
    "src/playground/server/serve.ts",
    "src/playground/client/main.ts",
    "src/playground/client/worker.ts",
  ],
  vendored: [],
};

/** What only the profiler loads on demand, by `requireDependency`. */
export const PATTERNS = ["@eslint-community/regexpp", "re2js"];
