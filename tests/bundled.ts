import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, renameSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";
import { TEXT_LOADERS } from "../scripts/text-files.mjs";

/** Runs a program once or more often, with these variables in its environment. */
type WarmUp = (program: string, env: Readonly<Record<string, string>>) => void;

/**
 * A program of the tests as one file `NAME.cjs`, so that its processes start quickly. Made once for all test files.
 *
 * @param warmUp the functions that these runs call are kept compiled, which halves the time that a process takes
 */
export function bundled(entry: URL, name: string, warmUp?: WarmUp): string {
  const key = createHash("sha256").update(entry.href).digest("hex").slice(0, 8);
  const folder = join(tmpdir(), `bundled-${name}-${key}`);
  if (!existsSync(folder)) {
    const unfinished = mkdtempSync(`${folder}.`);
    build(entry, name, unfinished);
    warmUp?.(join(unfinished, `${name}.cjs`), { BUNDLED_WRITE_CACHE: "1" });
    try {
      renameSync(unfinished, folder);
    } catch (error) {
      // Another worker of Vitest was quicker.
      if (!existsSync(folder)) throw error;
    }
  }
  return join(folder, `${name}.cjs`);
}

function build(entry: URL, name: string, folder: string): void {
  buildSync({
    entryPoints: [fileURLToPath(entry)],
    outfile: join(folder, `${name}.bundle.js`),
    bundle: true,
    platform: "node",
    target: "node20",
    format: "cjs",
    logLevel: "error",
    loader: TEXT_LOADERS,
    // As code of this clone: what is loaded on demand (ajv) is found around it.
    define: { "import.meta.url": JSON.stringify(new URL(`../src/${name}`, import.meta.url)) },
    // A function, which the launcher below calls.
    banner: { js: "(function (exports, require, module, __filename, __dirname) {" },
    footer: { js: "})" },
  });
  writeFileSync(join(folder, `${name}.cjs`), LAUNCHER);
}

/** As `scripts/launcher.cjs`, for one bundle that may import files. */
const LAUNCHER = `"use strict";
const { readFileSync, writeFileSync } = require("node:fs");
const { Script, constants } = require("node:vm");
const bundle = __filename.replace(/\\.cjs$/, ".bundle.js");
const cache = bundle + ".cache";
const cached = () => {
  try {
    return readFileSync(cache);
  } catch {
    return undefined;
  }
};
const script = new Script(readFileSync(bundle, "latin1"), {
  filename: bundle,
  cachedData: cached(),
  importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
});
if (process.env.BUNDLED_WRITE_CACHE)
  process.on("exit", () => writeFileSync(cache, script.createCachedData()));
script.runInThisContext()(exports, require, module, __filename, __dirname);
`;
