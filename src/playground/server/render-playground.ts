/** The page of a tree. */
import { randomBytes } from "node:crypto";
import { printableLabel } from "../../foundation/text/printable.ts";
import { escapeHtml, type PageAssets, renderPage } from "../../pages/html.ts";
import type { PageData, TreeDocument } from "../tree-document.ts";

/**
 * The whole page in one file.
 * @param isServed whether a server answers it: else it shows what it has, and saves nothing
 */
export function renderPlayground(
  tree: TreeDocument,
  { assets, isServed }: { readonly assets: PageAssets; readonly isServed: boolean },
): string {
  const title = printableLabel(tree.title, 120);
  const styleNonce = randomBytes(16).toString("base64");
  const data: PageData = { tree, styleNonce, isServed };
  const body = `<header class="top"><h1>${escapeHtml(title)}</h1><div id="controls" class="controls"></div></header>
<noscript><p class="notice">This page composes configs in the browser, and needs JavaScript.</p></noscript>
<main id="playground"></main>`;
  return renderPage(
    { title: `${title} - hydraconf`, body, data, styleNonce, ...(isServed && { isLive: true }) },
    assets,
  );
}
