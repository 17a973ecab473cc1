/** Entry point of the comparison page's script. */
import type { ComparisonPageData, PageSection } from "../view/page-data.ts";
import { themeButton } from "./controls.ts";
import { h, section } from "./dom.ts";
import { createTable } from "./table.ts";

const page = JSON.parse(document.getElementById("data")?.textContent ?? "{}") as ComparisonPageData;

document.getElementById("controls")?.append(themeButton());
document.getElementById("comparison")?.append(...page.sections.map(drawSection));

function drawSection({ title, hint, table, footer, empty }: PageSection): HTMLElement {
  if (table === null) return section(title, h("p", {}, empty));
  return section(
    title,
    ...(hint === null ? [] : [h("p", { class: "hint" }, hint)]),
    createTable({ type: "table", ...table }, { label: title, footer, isResponsive: true }).element,
  );
}
