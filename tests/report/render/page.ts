/** Pages for tests, and what a browser would read in them. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { PageData, ScopeData } from "../../../src/report/view/page-data.ts";

export function dataOf(html: string): PageData {
  const [, json] = /<script type="application\/json" id="data">(.*?)<\/script>/s.exec(html) ?? [];
  if (json === undefined) throw new Error("the page holds no data");
  return JSON.parse(json);
}

/** The values of a column of regions, texts as indices; undefined if no region has any. */
export const valuesOf = (scope: ScopeData | undefined, title: string) =>
  scope?.regions.columns.find((column) => column.title === title)?.values;

/** The page as a file; its address. */
export function savePage(html: string): string {
  const file = join(mkdtempSync(join(tmpdir(), "hydraconf-page-")), "report.html");
  writeFileSync(file, html);
  return pathToFileURL(file).href;
}
