/** The report that the page shows, with text resolved and the tree linked, and the state of the user interface. */
import type { TableOrder } from "../../pages/client/row-order.ts";
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

/** The time that widths and shares show: time in ranges, time in which GPUs were busy, or kernel time. */
export type Measure = "wall" | "gpu" | "kernels";

export const MEASURE_WORDS: Readonly<Record<Measure, string>> = {
  wall: "Wall time",
  gpu: "GPU busy while open",
  kernels: "Kernel time",
};

export interface Scope {
  readonly data: ScopeData;
  readonly measure: Measure;
  /** The 100 % of shares in ms, and in words; null if nothing was timed. */
  readonly wholeMs: number | null;
  readonly wholeLabel: string | null;
  readonly regions: readonly Region[];
  readonly roots: readonly Region[];
  text(index: number): string;
}

interface MutableRegion extends Region {
  readonly children: Region[];
}

/** The available measures; the first is the default for shares. */
export function measuresOf({ basis, regions, kernelWords }: ScopeData): readonly Measure[] {
  const known = (values: NumberColumn) => values.some((value) => (value ?? 0) > 0);
  const all: readonly (readonly [Measure, boolean])[] = [
    ["wall", known(regions.wall)],
    ["gpu", known(regions.gpuBusy)],
    ["kernels", kernelWords !== null && known(regions.total)],
  ];
  const some = all.filter(([, isKnown]) => isKnown).map(([measure]) => measure);
  const first: Measure = basis === "wall" ? "wall" : "kernels";
  return [first, ...some.filter((measure) => measure !== first)];
}

export function openScope(page: PageData, data: ScopeData, wanted?: Measure): Scope {
  const text = (index: number): string => page.strings[index] ?? "";
  const { label, parent, total, wall, gpuBusy, calls } = data.regions;
  const measures = measuresOf(data);
  const measure = measures.find((one) => one === wanted) ?? measures[0] ?? "wall";
  const values = { wall, gpu: gpuBusy, kernels: total }[measure];
  const isBase = measure === measures[0];
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
  const roots = regions.filter((region) => region.parent === null);
  const kernelMs = roots.reduce((sum, { value }) => sum + (value ?? 0), 0);
  // GPU busy time is a part of the time in ranges.
  const whole =
    isBase || measure === "gpu"
      ? { wholeMs: data.wholeMs, wholeLabel: data.wholeLabel }
      : { wholeMs: kernelMs, wholeLabel: `total time of ${data.kernelWords ?? "kernels"}` };
  return { data, measure, ...whole, regions, roots, text };
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

/** By exclusive time. */
export const defaultOrder = ({ data }: Scope): TableOrder => ({
  title: data.basis === "wall" ? "Wall excl. ms" : "Exclusive ms",
  descending: true,
});

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

// The state in the address, so that a link shows what its sender saw.

/** `#region=...&sort=-Wall ms&scope=process:7&show=gpu`. */
export function linkTo({ scope, selected, order }: State): string {
  const choices: readonly (readonly [string, string | null])[] = [
    ["region", selected?.path ?? null],
    ["sort", order === null ? "tree" : `${order.descending ? "-" : ""}${order.title}`],
    ["scope", scope.data.scope],
    ["show", scope.measure],
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
  const measure = (["wall", "gpu", "kernels"] as const).find((one) => one === asked.get("show"));
  const scope =
    data === state.scope.data && (measure ?? state.scope.measure) === state.scope.measure
      ? state.scope
      : openScope(page, data, measure);
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
