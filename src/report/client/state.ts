/** The report that the page shows, with its text looked up and its tree linked, and the reader's choices. */
import type { KernelColumns, NumberColumn, PageData, ScopeData } from "../view/page-data.ts";

export interface Region {
  readonly row: number;
  readonly label: string;
  /** Labels from the outermost shown region. */
  readonly path: string;
  readonly level: number;
  readonly parent: Region | null;
  readonly children: readonly Region[];
  /** Time on the clock that shares refer to. */
  readonly value: number | null;
  /** Null if not counted, as with ncu, or outside every range. */
  readonly calls: number | null;
}

export interface Scope {
  readonly data: ScopeData;
  readonly regions: readonly Region[];
  readonly roots: readonly Region[];
  text(index: number): string;
}

interface MutableRegion extends Region {
  readonly children: Region[];
}

export function openScope(page: PageData, data: ScopeData): Scope {
  const text = (index: number): string => page.strings[index] ?? "";
  const { label, parent, total, wall, calls } = data.regions;
  const values = data.basis === "total" ? total : wall;
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
      calls: calls[row] === 0 && wall[row] === null ? null : (calls[row] ?? null),
    };
    around?.children.push(region);
    regions.push(region);
  }
  return { data, regions, roots: regions.filter((region) => region.parent === null), text };
}

/** The text of a column at the row of an item. */
export const wordOf =
  (scope: Scope, values: NumberColumn) =>
  ({ row }: { readonly row: number }): string | null => {
    const index = values[row] ?? null;
    return index === null ? null : scope.text(index);
  };

/** Kernels of a region, or of the whole scope. */
export const kernelsOf = ({ data }: Scope, region: Region | null): KernelColumns | undefined =>
  data.kernels[region === null ? 0 : region.row + 1];

export interface State {
  readonly scope: Scope;
  readonly selected: Region | null;
  /** What takes the full width of the region view. */
  readonly zoomed: Region | null;
}

export interface Store {
  readonly get: () => State;
  readonly set: (change: Partial<State>) => void;
  /** Called at once, and again after each change. */
  readonly watch: (listener: (state: State, before: State | null) => void) => void;
}

export function createStore(initial: State): Store {
  let state = initial;
  const listeners: ((state: State, before: State | null) => void)[] = [];
  return {
    get: () => state,
    set(change) {
      const before = state;
      state = { ...state, ...change };
      for (const listener of listeners) listener(state, before);
    },
    watch(listener) {
      listeners.push(listener);
      listener(state, null);
    },
  };
}
