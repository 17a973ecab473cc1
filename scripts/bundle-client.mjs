// Bundles the scripts of the HTML pages and copies their style into the directory given: they are embedded in every page.
import { join } from "node:path";
import { build } from "esbuild";
import { root } from "./setup.mjs";

const source = join(root, "src", "report", "client");
await build({
  entryPoints: [
    { in: join(source, "main.ts"), out: "report" },
    { in: join(source, "compare.ts"), out: "compare" },
    { in: join(source, "sweep.ts"), out: "sweep" },
    { in: join(root, "src", "pages", "client", "page.css"), out: "report" },
  ],
  outdir: join(root, process.argv[2] ?? "dist/report/client"),
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
