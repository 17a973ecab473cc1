/** Entry point of the report page's script. */
import type { PageData } from "../view/page-data.ts";
import { createControls } from "./controls.ts";
import { createDetails } from "./details.ts";
import { createDistribution } from "./distribution.ts";
import { h } from "./dom.ts";
import { createIcicle } from "./icicle.ts";
import { createKernelTable } from "./kernel-table.ts";
import { createRegionTable } from "./region-table.ts";
import { createRoofline } from "./roofline.ts";
import { createStore, openScope } from "./state.ts";

const page = JSON.parse(document.getElementById("data")?.textContent ?? "{}") as PageData;
const [first] = page.scopes;
const main = document.getElementById("report");

if (first !== undefined && main !== null) {
  const store = createStore({ scope: openScope(page, first), selected: null, zoomed: null });
  document.getElementById("controls")?.append(...createControls(page, store));
  main.append(
    h(
      "section",
      { id: "regions", "aria-labelledby": "regions-heading", tabindex: -1 },
      h("h2", { id: "regions-heading" }, "Regions"),
      createIcicle(store),
      createRegionTable(store),
    ),
    createDetails(store),
    createKernelTable(store),
    createRoofline(store),
    createDistribution(store),
  );
}
