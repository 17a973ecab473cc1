import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";

const built = new Map<string, string>();

/** A program of the tests as one file `NAME.cjs`, so that its processes start quickly. Made once. */
export function bundled(entry: URL, name: string): string {
  const before = built.get(entry.href);
  if (before !== undefined) return before;
  const file = join(mkdtempSync(join(tmpdir(), "hydraconf-bundled-")), `${name}.cjs`);
  buildSync({
    entryPoints: [fileURLToPath(entry)],
    outfile: file,
    bundle: true,
    platform: "node",
    target: "node20",
    format: "cjs",
    logLevel: "error",
    // As code of this clone: what is loaded on demand (ajv) is found around it.
    define: { "import.meta.url": JSON.stringify(new URL(`../src/${name}`, import.meta.url)) },
  });
  built.set(entry.href, file);
  return file;
}
