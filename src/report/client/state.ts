/** The report that the page shows, with text resolved and the tree linked, and the state of the user interface. */
import type { Cell } from "../../pages/blocks.ts";
import type { TableOrder } from "../../pages/client/row-order.ts";
import type {
  KernelColumns,
  MeasureData,
  NumberColumn,
  PageData,
  RegionColumnData,
  ScopeData,
} from "../view/page-data.ts";

export interface Region {
  readonly row: number;
  readonly label: string;
  /** Labels from the outermost shown region. */
  readonly path: string;
  readonly level: number;
  readonly parent: Region | null;
  readonly children: readonly Region[];
  /** The time that widths show. */
  readonly value: number | null;
  /** Null if not counted, as with ncu, or outside every range. */
  readonly calls: number | null;
}

export interface Scope {
  readonly data: ScopeData;
  /** The time that widths show. */
  readonly measure: MeasureData;
  readonly regions: readonly Region[];
  readonly roots: readonly Region[];
  text(index: number): string;
}

interface MutableRegion extends Region {
  readonly children: Region[];
}

const NO_TIME: MeasureData = { name: "", title: "", column: -1, wholeMs: null, wholeLabel: null };

/** @param wanted the name of the measure; the one of the shares if the scope does not have it */
export function openScope(page: PageData, data: ScopeData, wanted?: string): Scope {
  const text = (index: number): string => page.strings[index] ?? "";
  const { label, parent, columns, calls } = data.regions;
  const { measures } = data;
  const measure = measures.find(({ name }) => name === wanted) ?? measures[0] ?? NO_TIME;
  const values = columns[measure.column]?.values ?? [];
  const counts = columns[calls]?.values ?? [];
  const regions: MutableRegion[] = [];
  for (const [row, index] of label.entries()) {
    const around = regions[parent[row] ?? -1] ?? null;
    const region: MutableRegion = {
      row,
      label: text(index),
      path: around === null ? text(index) : `${around.path} / ${text(index)}`,
      level: around === null ? 0 : around.level + 1,
      parent: around,
      children: [],
      value: values[row] ?? null,
      calls: counts[row] ?? null,
    };
    around?.children.push(region);
    regions.push(region);
  }
  const roots = regions.filter((region) => region.parent === null);
  return { data, measure, regions, roots, text };
}

/** The cell of a column in a row. */
export function cellAt(
  { text }: Scope,
  { values, isText, uncertainty, atLeast }: RegionColumnData,
  row: number,
): Cell {
  const value = values[row] ?? null;
  if (value === null) return null;
  if (isText) return text(value);
  if (atLeast?.includes(row))
    return { kind: "measured", value, uncertainty: null, isAtLeast: true };
  if (uncertainty === undefined) return value;
  return { kind: "measured", value, uncertainty: uncertainty[row] ?? null };
}

/** The text of a column for an item. */
export const wordOf =
  (scope: Scope, values: NumberColumn) =>
  ({ row }: { readonly row: number }): string | null => {
    const index = values[row] ?? null;
    return index === null ? null : scope.text(index);
  };

/** Kernels of a region, or of the whole scope. */
export const kernelsOf = ({ data }: Scope, region: Region | null): KernelColumns | undefined =>
  data.kernels[region === null ? 0 : region.row + 1];

/** By the time without inner regions. */
export const defaultOrder = ({ data }: Scope): TableOrder | null =>
  data.regions.order === null ? null : { title: data.regions.order, descending: true };

export interface State {
  readonly order: TableOrder | null;
  readonly scope: Scope;
  readonly selected: Region | null;
  /** The region with the full width of the region view. */
  readonly zoomed: Region | null;
}

export interface Store {
  readonly get: () => State;
  readonly set: (change: Partial<State>) => void;
  /** Calls the listener immediately, and after each change. */
  readonly watch: (listener: (state: State, previous: State | null) => void) => void;
}

export function createStore(initial: State): Store {
  let state = initial;
  const listeners: ((state: State, previous: State | null) => void)[] = [];
  return {
    get: () => state,
    set(change) {
      const previous = state;
      state = { ...state, ...change };
      for (const listener of listeners) listener(state, previous);
    },
    watch(listener) {
      listeners.push(listener);
      listener(state, null);
    },
  };
}

// The state in the address, so that a link shows what its sender saw.

/** `#region=...&sort=-Wall ms&scope=process:7&show=gpu`. */
export function linkTo({ scope, selected, order }: State): string {
  const choices: readonly (readonly [string, string | null])[] = [
    ["region", selected?.path ?? null],
    ["sort", order === null ? "tree" : `${order.descending ? "-" : ""}${order.title}`],
    ["scope", scope.data.scope],
    ["show", scope.measure.name],
  ];
  return `#${choices
    .flatMap(([name, value]) => (value === null ? [] : [`${name}=${encodeURIComponent(value)}`]))
    .join("&")}`;
}

/** The state that an address describes; unknown parts leave the current state unchanged. */
export function followLink(hash: string, page: PageData, state: State): State {
  const asked = new Map(
    hash
      .replace(/^#/, "")
      .split("&")
      .map((part) => {
        const [name = "", value = ""] = part.split("=", 2);
        return [name, decoded(value)] as const;
      }),
  );
  const data = page.scopes.find(({ scope }) => scope === asked.get("scope")) ?? state.scope.data;
  const measure = data.measures.find(({ name }) => name === asked.get("show"));
  const scope =
    data === state.scope.data && (measure ?? state.scope.measure) === state.scope.measure
      ? state.scope
      : openScope(page, data, measure?.name);
  const wanted = asked.get("region");
  const selected =
    wanted === undefined
      ? sameRegion(scope, state.selected)
      : (scope.regions.find(({ path }) => path === wanted) ?? null);
  const sort = asked.get("sort");
  const order =
    sort === undefined
      ? state.order
      : sort === "tree"
        ? null
        : { title: sort.replace(/^-/, ""), descending: sort.startsWith("-") };
  return { scope, selected, zoomed: sameRegion(scope, state.zoomed), order };
}

/** The corresponding region in another scope of the report. */
export const sameRegion = (scope: Scope, region: Region | null): Region | null =>
  region === null ? null : (scope.regions.find(({ path }) => path === region.path) ?? null);

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
