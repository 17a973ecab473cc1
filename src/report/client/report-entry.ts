/** Entry point of the report page's script. */

import { h } from "../../pages/client/dom.ts";
import type { PageData } from "../view/page-data.ts";
import { createControls } from "./controls.ts";
import { createDetails } from "./details.ts";
import { createDistribution } from "./distribution.ts";
import { createIcicle } from "./icicle.ts";
import { createKernelTable } from "./page-kernel-table.ts";
import { createRegionTable } from "./region-table.ts";
import { createRoofline } from "./roofline-chart.ts";
import { createStore, defaultOrder, followLink, linkTo, openScope, type State } from "./state.ts";
import { createTimeline } from "./timeline-chart.ts";

const page = JSON.parse(document.getElementById("data")?.textContent ?? "{}") as PageData;
const [first] = page.scopes;
const main = document.getElementById("report");

if (first !== undefined && main !== null) {
  const scope = openScope(page, first);
  const initial: State = { scope, selected: null, zoomed: null, order: defaultOrder(scope) };
  const store = createStore(followLink(location.hash, page, initial));
  document.getElementById("controls")?.append(...createControls(page, store));
  const details = createDetails(store);
  const timeline = createTimeline(page, store);
  main.append(
    h(
      "section",
      { id: "regions", "aria-labelledby": "regions-heading", tabindex: -1 },
      h("h2", { id: "regions-heading" }, "Regions"),
      createIcicle(store),
      h("div", { class: "beside" }, details, createRegionTable(store)),
    ),
    ...(timeline === null ? [] : [timeline]),
    createKernelTable(store),
    createRoofline(store),
    createDistribution(store),
  );
  store.watch((state, previous) => {
    if (previous !== null) history.replaceState(null, "", linkTo(state));
  });
  // Follows links of the answer, and fragments that a reader types.
  addEventListener("hashchange", () => {
    const previous = store.get().selected;
    store.set(followLink(location.hash, page, store.get()));
    if (store.get().selected !== previous) details.scrollIntoView({ block: "nearest" });
  });
}

// A timeline that is too large for the report page has a page of its own.
if (first === undefined && main !== null) {
  const timeline = createTimeline(page, null);
  if (timeline !== null) main.append(timeline);
}
