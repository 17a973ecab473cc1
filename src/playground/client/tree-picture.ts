/** The defaults tree as a picture. */
import { h, on, svg } from "../../pages/client/dom.ts";
import type { DefaultsRow } from "../model/defaults-rows.ts";
import type { OpenFile } from "./parts.ts";

/** In pixels. */
const ROW = 28;
const INDENT = 22;
const LEFT = 12;
/** The width of a character, which is the same for all. */
const CHARACTER = 7.3;

const STATES: Readonly<Record<DefaultsRow["state"], string>> = {
  used: "",
  self: "",
  none: "nothing chosen",
  deleted: "deleted",
  absent: "optional, not there",
  missing: "to be chosen",
};

/** A row for each config, joined to the one whose defaults list names it. */
export function treePicture(rows: readonly DefaultsRow[], openFile: OpenFile): HTMLElement {
  const height = rows.length * ROW;
  const width = Math.max(0, ...rows.map((row) => xOf(row) + 16 + textOf(row).length * CHARACTER));
  const picture = svg("svg", {
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    role: "group",
    "aria-label": "Defaults tree",
  });
  const parents: number[] = [];
  for (const [index, row] of rows.entries()) {
    parents[row.depth] = index;
    const parent = row.depth === 0 ? undefined : parents[row.depth - 1];
    if (parent !== undefined)
      picture.append(
        svg("path", {
          class: "edge",
          d: `M ${xOf(rows[parent] ?? row)} ${yOf(parent) + 5} V ${yOf(index)} H ${xOf(row) - 5}`,
        }),
      );
  }
  for (const [index, row] of rows.entries()) picture.append(rowElement(row, index, openFile));
  return h("div", { class: "scroll picture" }, picture);
}

const xOf = ({ depth }: DefaultsRow): number => LEFT + depth * INDENT;
const yOf = (index: number): number => index * ROW + ROW / 2;

const textOf = ({ label, package: pkg, state }: DefaultsRow): string =>
  [label, state === "used" && pkg !== "" ? `at ${pkg}` : "", STATES[state]]
    .filter((part) => part !== "")
    .join("  ");

function rowElement(row: DefaultsRow, index: number, openFile: OpenFile): SVGElement {
  const { label, path, state } = row;
  const canOpen = path !== undefined && state !== "self";
  const group = svg("g", {
    class: `config ${state}`,
    ...(canOpen && { tabindex: 0, role: "button", "aria-label": `${textOf(row)}: open ${path}` }),
  });
  const [x, y] = [xOf(row), yOf(index)];
  const rest = textOf(row).slice(label.length).trim();
  const text = svg("text", { x: x + 11, y: y + 4 }, label);
  if (rest !== "") text.append(svg("tspan", { class: "rest", dx: 2 * CHARACTER }, rest));
  group.append(
    svg("rect", {
      class: "hit",
      x: x - 8,
      y: y - ROW / 2 + 2,
      rx: 4,
      width: 24 + textOf(row).length * CHARACTER,
      height: ROW - 4,
    }),
    svg("circle", { cx: x, cy: y, r: state === "self" ? 3 : 5 }),
    text,
  );
  if (!canOpen) return group;
  on(group, "click", () => openFile(path));
  on(group, "keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    openFile(path);
  });
  return group;
}
