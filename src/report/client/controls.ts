/** Controls of the whole page: the report and the measure. */

import { h, on } from "../../pages/client/dom.ts";
import { themeButton } from "../../pages/client/theme.ts";
import type { PageData } from "../view/page-data.ts";
import { openScope, type Store, sameRegion } from "./state.ts";

export const createControls = (page: PageData, store: Store): readonly HTMLElement[] => [
  ...scopeChooser(page, store),
  measureChooser(page, store),
  themeButton(),
];

function scopeChooser(page: PageData, store: Store): readonly HTMLElement[] {
  if (page.scopes.length < 2) return [];
  const select = h(
    "select",
    {},
    ...page.scopes.map(({ scope }, index) => h("option", { value: index }, scope)),
  );
  on(select, "change", () => {
    const data = page.scopes[Number(select.value)];
    if (data === undefined) return;
    const scope = openScope(page, data, store.get().scope.measure.name);
    store.set({ scope, selected: null, zoomed: null });
  });
  store.watch(({ scope }) => {
    select.value = String(page.scopes.indexOf(scope.data));
  });
  return [h("label", { class: "chooser" }, "Report of ", select)];
}

/** Selects the time that the chart shows. */
function measureChooser(page: PageData, store: Store): HTMLElement {
  const select = h("select", {});
  const label = h("label", { class: "chooser" }, "Show ", select);
  on(select, "change", () => {
    const { scope, selected, zoomed } = store.get();
    const next = openScope(page, scope.data, select.value);
    store.set({
      scope: next,
      selected: sameRegion(next, selected),
      zoomed: sameRegion(next, zoomed),
    });
  });
  store.watch(({ scope }, previous) => {
    if (previous?.scope === scope) return;
    const { measures } = scope.data;
    select.replaceChildren(
      ...measures.map(({ name, title }) => h("option", { value: name }, title)),
    );
    select.value = scope.measure.name;
    label.hidden = measures.length < 2;
  });
  return label;
}
