import { BUSY_HEADING, BUSY_LEGEND, LIMIT_LEGEND } from "../view/gpu-utilization.ts";
import { formatCount, formatMs, formatNumber, formatShare, NOT_MEASURED } from "../view/numbers.ts";
import type { RegionColumns } from "../view/page-data.ts";
import { h, nameElement, on } from "./dom.ts";
import type { Region, Scope, Store } from "./state.ts";
import { type Column, createTable, type Table } from "./table.ts";

/** All regions with their numbers, as a tree until sorted by something else. */
export function createRegionTable(store: Store): HTMLElement {
  const holder = h("div");
  const place = h("div");
  let table: Table<Region> | null = null;

  const show = (scope: Scope, metric: number | null) => {
    table = createTable<Region>({
      label: "Regions",
      columns: [...columnsOf(scope, store), ...metricColumn(scope, metric)],
      text: ({ path }) => path,
      pageSize: 200,
      decorate: (line, region) =>
        line.classList.toggle("selected", store.get().selected === region),
      onActivate: (region) => store.set({ selected: region }),
    });
    table.setRows(scope.regions);
    place.replaceChildren(table.element);
  };

  store.watch(({ scope, selected }, before) => {
    if (before === null || before.scope !== scope) {
      show(scope, null);
      holder.replaceChildren(...metricChooser(scope, (metric) => show(scope, metric)), place);
    } else if (before.selected !== selected) table?.redecorate();
  });
  return holder;
}

function columnsOf(scope: Scope, store: Store): readonly Column<Region>[] {
  const { regions, wholeMs, wholeLabel, kernelWords } = scope.data;
  const number = (
    heading: string,
    values: readonly (number | null)[],
    hint: string,
  ): Column<Region> => ({
    heading,
    hint,
    align: "right",
    key: ({ row }) => values[row] ?? null,
    cell: ({ row }) => formatMs(values[row] ?? null),
  });
  // ncu has no wall times, and an empty column would take space from names.
  const whereMeasured = (...[heading, values, hint]: Parameters<typeof number>) =>
    values.some((value) => value !== null) ? [number(heading, values, hint)] : [];
  const kernels: readonly Column<Region>[] = [
    number("Total ms", regions.total, `Time of ${kernelWords} in the region and its inner regions`),
    number("Exclusive ms", regions.exclusive, "The part of Total that no inner region has"),
  ];
  return [
    {
      heading: "Region",
      key: ({ path }) => path,
      cell: (region, flat) => nameCell(region, flat, store),
    },
    {
      heading: "Calls",
      align: "right",
      key: ({ calls }) => calls,
      cell: ({ calls }) => (calls === null ? NOT_MEASURED : formatCount(calls)),
    },
    ...(kernelWords === null ? [] : kernels),
    ...whereMeasured("Wall ms", regions.wall, "Time the range was open, summed over calls"),
    ...whereMeasured(
      "Wall excl. ms",
      regions.wallExclusive,
      "The part of Wall that no inner region has",
    ),
    ...busyColumn(regions),
    ...whereMeasured("Median ms", regions.median, "Median wall time of a call"),
    ...whereMeasured("p95 ms", regions.p95, "95th percentile of the wall time of calls"),
    ...(regions.repeatMean.length === 0
      ? []
      : [
          {
            heading: "Mean of runs ms",
            hint: "Mean over repeated runs, with its 95 % interval",
            align: "right" as const,
            key: ({ row }: Region) => regions.repeatMean[row] ?? null,
            cell: ({ row }: Region) => repeatText(regions, row),
          },
        ]),
    ...(kernelWords === null
      ? []
      : [
          {
            heading: kernelWords.startsWith("CPU") ? "CPU ops" : "Kernels",
            hint: kernelWords,
            align: "right" as const,
            key: ({ row }: Region) => regions.kernelCount[row] ?? null,
            cell: ({ row }: Region) => formatCount(regions.kernelCount[row] ?? 0),
          },
        ]),
    ...limitColumns(scope),
    ...(wholeLabel === null
      ? []
      : [
          {
            heading: "Share %",
            hint: `Of ${wholeLabel}`,
            align: "right" as const,
            key: ({ value }: Region) => value,
            cell: ({ value }: Region) => formatShare(value, wholeMs),
          },
        ]),
  ];
}

function busyColumn({ gpuBusy, wall }: RegionColumns): readonly Column<Region>[] {
  if (gpuBusy.length === 0) return [];
  const share = ({ row }: Region): number | null => {
    const [busy, whole] = [gpuBusy[row] ?? null, wall[row] ?? null];
    return busy === null || whole === null || whole === 0 ? null : busy / whole;
  };
  return [
    {
      heading: BUSY_HEADING,
      hint: BUSY_LEGEND,
      align: "right",
      key: share,
      cell: (region) => formatShare(share(region), 1),
    },
  ];
}

function limitColumns(scope: Scope): readonly Column<Region>[] {
  const { smShare, memoryShare, limit } = scope.data.regions;
  if (limit.length === 0) return [];
  const share = (heading: string, values: readonly (number | null)[]): Column<Region> => ({
    heading,
    hint: "Of the peak",
    align: "right",
    key: ({ row }) => values[row] ?? null,
    cell: ({ row }) => formatShare(values[row] ?? null, 100),
  });
  const word = (row: number): string | null => {
    const index = limit[row] ?? null;
    return index === null ? null : scope.text(index);
  };
  return [
    share("SM %", smShare),
    share("Memory %", memoryShare),
    {
      heading: "Limited by",
      hint: LIMIT_LEGEND,
      key: ({ row }) => word(row),
      cell: ({ row }) => word(row) ?? NOT_MEASURED,
    },
  ];
}

function repeatText({ repeatMean, repeatHalf }: RegionColumns, row: number): string {
  const mean = repeatMean[row] ?? null;
  return mean === null ? NOT_MEASURED : `${formatMs(mean)} ±${formatMs(repeatHalf[row] ?? null)}`;
}

/** In the tree, the rows above show where a region is; elsewhere its path is needed. */
function nameCell(region: Region, flat: boolean, store: Store): HTMLElement {
  const name = flat
    ? nameElement("button", region.path, { path: region.path })
    : nameElement("button", region.label, { path: region.path, level: region.level });
  return on(name, "click", () => store.set({ selected: region }));
}

function metricColumn({ data }: Scope, metric: number | null): readonly Column<Region>[] {
  const column = metric === null ? undefined : data.metrics[metric];
  if (column === undefined) return [];
  return [
    {
      heading: `${column.name}${column.unit === "" ? "" : ` [${column.unit}]`}`,
      align: "right",
      key: ({ row }) => column.values[row] ?? null,
      cell: ({ row }) => formatNumber(column.values[row] ?? null),
    },
  ];
}

/** Kept while the table below changes, so that keyboard users keep their place. */
function metricChooser(
  { data: { metrics } }: Scope,
  choose: (metric: number | null) => void,
): readonly HTMLElement[] {
  if (metrics.length === 0) return [];
  const select = h(
    "select",
    {},
    h("option", { value: "" }, "none"),
    ...metrics.map(({ name }, index) => h("option", { value: index }, name)),
  );
  on(select, "change", () => choose(select.value === "" ? null : Number(select.value)));
  return [h("label", { class: "chooser" }, "Metric as a column ", select)];
}
