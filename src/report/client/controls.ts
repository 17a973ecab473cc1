/** Controls of the whole page: which report, light or dark. */
import type { PageData } from "../view/page-data.ts";
import { h, on } from "./dom.ts";
import { openScope, type Store } from "./state.ts";

export const createControls = (page: PageData, store: Store): readonly HTMLElement[] => [
  ...scopeChooser(page, store),
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
    if (data !== undefined)
      store.set({ scope: openScope(page, data), selected: null, zoomed: null });
  });
  return [h("label", { class: "chooser" }, "Report of ", select)];
}

export function themeButton(): HTMLElement {
  const root = document.documentElement;
  const dark = () =>
    root.dataset["theme"] === undefined
      ? matchMedia("(prefers-color-scheme: dark)").matches
      : root.dataset["theme"] === "dark";
  const button = h("button", { type: "button" });
  const label = () => {
    button.textContent = dark() ? "Light" : "Dark";
    button.setAttribute("aria-label", `Use ${dark() ? "light" : "dark"} colours`);
  };
  on(button, "click", () => {
    root.dataset["theme"] = dark() ? "light" : "dark";
    label();
  });
  label();
  return button;
}
