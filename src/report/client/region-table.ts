/** The region table of the page. */
import { type Field, tableOf } from "../../pages/blocks.ts";
import { h, on } from "../../pages/client/dom.ts";
import { createTable, type ShownTable } from "../../pages/client/table.ts";
import { cellAt, type Region, type Scope, type Store } from "./state.ts";

/** All regions with their numbers, as a tree until the user sorts by another column. */
export function createRegionTable(store: Store): HTMLElement {
  const holder = h("div");
  const place = h("div");
  let table: ShownTable | null = null;

  const show = (scope: Scope, metric: number | null) => {
    const fields = [...fieldsOf(scope), ...metricField(scope, metric)];
    const hot = new Set(scope.data.regions.hot);
    table = createTable(
      tableOf(fields, scope.regions, ({ row }) => (hot.has(row) ? "hot" : undefined)),
      {
        label: "Regions",
        order: store.get().order,
        onOrder: (order) => store.set({ order }),
        isChosen: (index) => store.get().selected === scope.regions[index],
        onChoose: (index) => store.set({ selected: scope.regions[index] ?? null }),
      },
    );
    place.replaceChildren(table.element);
  };

  store.watch(({ scope, selected, order }, previous) => {
    if (previous !== null && previous.scope === scope && previous.order !== order)
      table?.sortBy(order);
    if (previous === null || previous.scope !== scope) {
      show(scope, null);
      holder.replaceChildren(...metricChooser(scope, (metric) => show(scope, metric)), place);
    } else if (previous.selected !== selected) table?.redecorate();
  });
  return holder;
}

type RegionField = Field<Region>;

const fieldsOf = (scope: Scope): readonly RegionField[] => [
  {
    title: "Region",
    cell: ({ label, level, path }) => ({ kind: "label", text: label, level, path }),
  },
  ...scope.data.regions.columns.flatMap((column): readonly RegionField[] => {
    const { title, hint, format, isMark, isDetail } = column;
    if (isDetail) return [];
    return [
      {
        title,
        ...(hint !== undefined && { hint }),
        ...(format !== undefined && { format }),
        ...(isMark !== undefined && { isMark }),
        cell: ({ row }) => cellAt(scope, column, row),
      },
    ];
  }),
];

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
