// Bundles the scripts of the HTML pages and copies their style into the directory given: they are embedded in every page. The
// playground is a package of its own, and its page goes into a directory beside that.
import { join } from "node:path";
import { build } from "esbuild";
import { scriptArguments } from "./script-arguments.mjs";
import { root } from "./setup.mjs";

const ofReports = join(root, "src", "report", "client");
const ofPlayground = join(root, "src", "playground", "client");
const [place = "dist/client"] = scriptArguments(import.meta.url, { most: 1 }).words;
const outdir = join(root, place);

await bundle(outdir, [
  { in: join(ofReports, "report-entry.ts"), out: "report" },
  { in: join(ofReports, "comparison-entry.ts"), out: "compare" },
  { in: join(ofReports, "sweep-entry.ts"), out: "sweep-report" },
  { in: join(root, "src", "app", "sweep", "client", "jobs-entry.ts"), out: "sweep" },
  { in: join(root, "src", "pages", "client", "page.css"), out: "page" },
]);
await bundle(join(outdir, "..", "playground", "client"), [
  { in: join(ofPlayground, "playground-entry.ts"), out: "playground" },
  { in: join(ofPlayground, "worker-entry.ts"), out: "worker" },
  { in: join(ofPlayground, "playground.css"), out: "page" },
]);

function bundle(outdir, entryPoints) {
  return build({
    entryPoints,
    outdir,
    bundle: true,
    minify: true,
    format: "iife",
    platform: "browser",
    target: "es2022",
    charset: "utf8",
    legalComments: "none",
    tsconfigRaw: {},
    define: { "import.meta.url": "undefined" },
    logLevel: "warning",
  });
}
