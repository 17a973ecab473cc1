/** The colour scheme of a page. */
import { h, on } from "./dom.ts";

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
