// Bundles the scripts of the HTML pages and copies their style into the directory given: they are embedded in every page.
import { join } from "node:path";
import { build } from "esbuild";
import { root } from "./setup.mjs";

const ofReports = join(root, "src", "report", "client");
await build({
  entryPoints: [
    { in: join(ofReports, "main.ts"), out: "report" },
    { in: join(ofReports, "compare.ts"), out: "compare" },
    { in: join(ofReports, "sweep.ts"), out: "sweep-report" },
    { in: join(root, "src", "app", "sweep", "client", "main.ts"), out: "sweep" },
    { in: join(root, "src", "pages", "client", "page.css"), out: "page" },
  ],
  outdir: join(root, process.argv[2] ?? "dist/client"),
  bundle: true,
  minify: true,
  format: "iife",
  platform: "browser",
  target: "es2022",
  charset: "utf8",
  legalComments: "none",
  tsconfigRaw: {},
  logLevel: "warning",
});
