/** The script and the style of pages. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { packageInfo } from "../../engine/values/package-info.ts";
import type { PageAssets } from "../../pages/html-page.ts";

/**
 * The script of a page, built from `src/report/client`, and the style of all pages.
 *
 * @throws Error if the package was not built
 */
export function readPageAssets(page: "report" | "compare" | "sweep"): PageAssets {
  const directory = join(packageInfo().root, "dist", "report", "client");
  const read = (name: string) => readFileSync(join(directory, name), "utf8");
  try {
    return { script: read(`${page}.js`), style: read("report.css") };
  } catch (error) {
    throw new Error(
      `the script of the HTML report is missing from ${directory}: run npm run build:ts`,
      { cause: error },
    );
  }
}
