/** The region table of the page. */
import { type Field, tableOf } from "../../pages/blocks.ts";
import { h, on } from "../../pages/client/dom.ts";
import { createTable, type ShownTable } from "../../pages/client/table.ts";
import { percentOf } from "../../pages/numbers.ts";
import { BUSY_HEADING, BUSY_LEGEND, LIMIT_LEGEND } from "../view/gpu-utilization.ts";
import type { NumberColumn } from "../view/page-data.ts";
import { CPU_HEADING, CPU_LEGEND } from "../view/times.ts";
import { type Region, type Scope, type Store, wordOf } from "./state.ts";

/** All regions with their numbers, as a tree until the user sorts by another column. */
export function createRegionTable(store: Store): HTMLElement {
  const holder = h("div");
  const place = h("div");
  let table: ShownTable | null = null;

  const show = (scope: Scope, metric: number | null) => {
    const fields = [...fieldsOf(scope), ...metricField(scope, metric)];
    const hot = hotRows(scope);
    table = createTable(
      tableOf(fields, scope.regions, ({ row }) => (hot.has(row) ? "hot" : undefined)),
      {
        label: "Regions",
        order: store.get().order,
        onOrder: (order) => store.set({ order }),
        isChosen: (at) => store.get().selected === scope.regions[at],
        onChoose: (at) => store.set({ selected: scope.regions[at] ?? null }),
      },
    );
    place.replaceChildren(table.element);
  };

  store.watch(({ scope, selected, order }, before) => {
    if (before !== null && before.scope === scope && before.order !== order) table?.sortBy(order);
    if (before === null || before.scope !== scope) {
      show(scope, null);
      holder.replaceChildren(...metricChooser(scope, (metric) => show(scope, metric)), place);
    } else if (before.selected !== selected) table?.redecorate();
  });
  return holder;
}

/** The three regions with the longest exclusive times are highlighted if each is a tenth of the whole or more. */
const HOT = 0.1;
const MOST_HOT = 3;

function hotRows({ data, regions }: Scope): ReadonlySet<number> {
  const own = data.basis === "wall" ? data.regions.wallExclusive : data.regions.exclusive;
  const msOf = ({ row }: Region) => own[row] ?? 0;
  return new Set(
    [...regions]
      .sort((a, b) => msOf(b) - msOf(a))
      .slice(0, MOST_HOT)
      .filter((region) => msOf(region) > 0 && msOf(region) >= (data.wholeMs ?? 0) * HOT)
      .map(({ row }) => row),
  );
}

type RegionField = Field<Region>;

function fieldsOf(scope: Scope): readonly RegionField[] {
  const { regions, kernelWords } = scope.data;
  const { wholeMs, wholeLabel } = scope;
  const numbers = (
    title: string,
    values: NumberColumn,
    hint: string,
    format: RegionField["format"] = "ms",
  ): RegionField => ({ title, hint, format, cell: ({ row }) => values[row] ?? null });
  // ncu has no wall times, and an empty column would take space from names.
  const whereMeasured = (...[title, values, ...rest]: Parameters<typeof numbers>) =>
    values.some((value) => value !== null) ? [numbers(title, values, ...rest)] : [];
  const { gpuBusy, wall, repeatMean, repeatHalf, limit } = regions;
  const onCpu = regions.cpu.map((ms, row) => percentOf(ms, wall[row] ?? null));
  const busy = gpuBusy.map((ms, row) => percentOf(ms, wall[row] ?? null));
  return [
    {
      title: "Region",
      cell: ({ label, level, path }) => ({ kind: "label", text: label, level, path }),
    },
    { title: "Calls", format: "count", cell: ({ calls }) => calls },
    ...(kernelWords === null
      ? []
      : [
          numbers(
            "Total ms",
            regions.total,
            `Time of ${kernelWords} in the region and its inner regions`,
          ),
          numbers("Exclusive ms", regions.exclusive, "The part of Total that no inner region has"),
        ]),
    ...whereMeasured("Wall ms", wall, "Time the range was open, summed over calls").map(
      (column): RegionField => ({
        ...column,
        cell: ({ row }) => {
          const value = wall[row] ?? null;
          return (regions.unclosed[row] ?? 0) > 0 && value !== null
            ? { kind: "measured", value, uncertainty: null, isAtLeast: true }
            : value;
        },
      }),
    ),
    ...whereMeasured(
      "Wall excl. ms",
      regions.wallExclusive,
      "The part of Wall that no inner region has",
    ),
    ...(regions.cpu.length === 0
      ? []
      : [
          numbers("CPU ms", regions.cpu, CPU_LEGEND),
          numbers(CPU_HEADING, onCpu, CPU_LEGEND, "percent"),
        ]),
    ...(busy.length === 0 ? [] : [numbers(BUSY_HEADING, busy, BUSY_LEGEND, "percent")]),
    ...whereMeasured("Median ms", regions.median, "Median wall time of a call"),
    ...whereMeasured("p95 ms", regions.p95, "95th percentile of the wall time of calls"),
    ...(repeatMean.length === 0 ? [] : [repeatField(repeatMean, repeatHalf)]),
    ...(kernelWords === null
      ? []
      : [
          numbers(
            kernelWords.startsWith("CPU") ? "CPU ops" : "Kernels",
            regions.kernelCount,
            kernelWords,
            "count",
          ),
        ]),
    ...(limit.length === 0
      ? []
      : [
          numbers("SM %", regions.smShare, "Of the peak", "percent"),
          numbers("Memory %", regions.memoryShare, "Of the peak", "percent"),
          {
            title: "Limited by",
            isMark: true as const,
            hint: LIMIT_LEGEND,
            cell: wordOf(scope, limit),
          },
        ]),
    ...(wholeLabel === null
      ? []
      : [
          {
            title: "Share %",
            hint: `Of ${wholeLabel}`,
            format: "percent" as const,
            cell: ({ value }: Region) => percentOf(value, wholeMs),
          },
        ]),
  ];
}

const repeatField = (mean: NumberColumn, half: NumberColumn): RegionField => ({
  title: "Mean of runs ms",
  hint: "Mean over repeated runs, with its 95 % interval",
  format: "ms",
  cell: ({ row }) => {
    const value = mean[row] ?? null;
    return value === null ? null : { kind: "measured", value, uncertainty: half[row] ?? null };
  },
});

function metricField({ data }: Scope, metric: number | null): readonly RegionField[] {
  const column = metric === null ? undefined : data.metrics[metric];
  if (column === undefined) return [];
  return [
    {
      title: `${column.name}${column.unit === "" ? "" : ` [${column.unit}]`}`,
      format: "number",
      cell: ({ row }) => column.values[row] ?? null,
    },
  ];
}

/** Kept while the table is rebuilt, so that keyboard users do not lose their place. */
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
