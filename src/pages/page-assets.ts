/** The scripts and the style of pages. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { embeddedPart, findPackage } from "../foundation/system/package-root.ts";
import type { PageAssets } from "./html-page.ts";

/** The scripts that `scripts/bundle-client.mjs` makes, by page. */
export type PageName = "report" | "compare" | "sweep-report" | "sweep" | "playground";

/**
 * The script of a page and the style of all pages, as they were built; undefined in a program whose bundler took the code out of
 * the package.
 *
 * @throws Error if the package was not built
 */
export function findPageAssets(page: PageName): PageAssets | undefined {
  const root = findPackage()?.root;
  if (root === undefined) return undefined;
  // The playground is a package of its own, with a style that has more.
  const folder = page === "playground" ? join("playground", "client") : "client";
  const directory = join(root, "dist", folder);
  const read = (name: string): string => {
    const embedded = embeddedPart(name);
    return typeof embedded === "string" ? embedded : readFileSync(join(directory, name), "utf8");
  };
  try {
    return {
      script: read(`${page}.js`),
      style: read("page.css"),
      ...(page === "playground" && { worker: read("worker.js") }),
    };
  } catch (error) {
    throw new Error(
      `the script of the HTML page is missing from ${directory}: run npm run build:ts`,
      { cause: error },
    );
  }
}

/**
 * As `findPageAssets`, for code that never leaves its package.
 *
 * @throws Error if the package was not built, or is not around
 */
export function readPageAssets(page: PageName): PageAssets {
  const found = findPageAssets(page);
  if (found === undefined) throw new Error("the package of the HTML page is not around its code");
  return found;
}
