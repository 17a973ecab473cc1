import { readFileSync } from "node:fs";
import { join } from "node:path";
import { packageInfo } from "../../values/package-info.ts";

export interface PageAssets {
  readonly script: string;
  readonly style: string;
}

/**
 * A page's script and the style of all pages, as the build made them of `src/report/client`.
 *
 * @throws Error where the package was not built
 */
export function readPageAssets(page: "report" | "compare" | "sweep"): PageAssets {
  const directory = join(packageInfo().root, "dist", "report", "client");
  const read = (name: string) => readFileSync(join(directory, name), "utf8");
  try {
    return { script: read(`${page}.js`), style: read("report.css") };
  } catch (error) {
    throw new Error(
      `the script of the HTML report is missing from ${directory}: run npm run build:ts`,
      {
        cause: error,
      },
    );
  }
}
