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
  // By their terms, which most packages share word by word, and each with what stands above these: its copyright notice.
  const noticesOf = new Map();
  for (const folder of [...folders].sort()) {
    const { name, version, license } = JSON.parse(
      readFileSync(join(root, folder, "package.json"), "utf8"),
    );
    const file = readdirSync(join(root, folder)).find((one) => /^licen[cs]e/i.test(one));
    const text = file === undefined ? "" : readFileSync(join(root, folder, file), "utf8").trim();
    const { notice, terms } = partsOf(text);
    const words = terms.replaceAll(/\s+/g, " ");
    const notices = noticesOf.get(words) ?? { terms, packages: new Map() };
    noticesOf.set(words, notices);
    const { packages } = notices;
    packages.set(notice, [...(packages.get(notice) ?? []), `${name} ${version} (${license})`]);
  }
  const texts = [...noticesOf.values()].map(({ packages, terms }) =>
    [...[...packages].map(([notice, names]) => [...names, notice].join("\n")), terms].join("\n\n"),
  );
  return `This package contains code of these packages.\n\n${texts.join(`\n\n${"-".repeat(80)}\n\n`)}\n`;
}

/** The terms of the licences that packages share, and what stands above them. */
function partsOf(text) {
  const start = /^(?:Permission (?:is hereby granted|to use, copy))/m.exec(text)?.index ?? 0;
  return { notice: text.slice(0, start).trim(), terms: text.slice(start) };
}

/** What `hydraconf` has of others' code. */
export const OF_HYDRACONF = {
  sources: ["src/index.ts", "src/bin/hydraconf.ts", "src/app/sweep/client/jobs-entry.ts"],
  vendored: [
    ...["ajv/dist/2020.js", "ajv-formats", "fast-glob", "json-schema-to-typescript"],
    ...["@modelcontextprotocol/sdk/server/index.js", "@modelcontextprotocol/sdk/server/stdio.js"],
  ],
};

/** What the playground has. */
export const OF_PLAYGROUND = {
  sources: [
    "src/playground/server/serve.ts",
    "src/playground/client/playground-entry.ts",
    "src/playground/client/worker-entry.ts",
  ],
  vendored: [],
};

/** What only the profiler loads on demand, by `requireDependency`. */
export const PATTERNS = ["@eslint-community/regexpp", "re2js"];
