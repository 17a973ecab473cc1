/** The kernel table of the page. */
import { capitalized, plural } from "../../foundation/text/plural.ts";
import { type Field, tableOf } from "../../pages/blocks.ts";
import { h } from "../../pages/client/dom.ts";
import { createTable } from "../../pages/client/table.ts";
import { formatMs, formatShare, percentOf } from "../../pages/numbers.ts";
import type { KernelColumns } from "../view/page-data.ts";
import { kernelsOf, type Region, type Scope, type Store, wordOf } from "./state.ts";

interface Kernel {
  readonly name: string;
  readonly device: string;
  readonly calls: number;
  readonly total: number | null;
  /** The row in the columns of the page data. */
  readonly row: number;
}

/** Kernels of the selected region, or of the whole scope if none is selected. */
export function createKernelTable(store: Store): HTMLElement {
  const heading = h("h2", { id: "kernels-heading" });
  const holder = h("div");
  store.watch(({ scope, selected }, previous) => {
    if (previous !== null && previous.scope === scope && previous.selected === selected) return;
    const words = scope.data.kernelWords ?? "kernels";
    heading.textContent = `${capitalized(words)} ${selected === null ? "in all regions" : `in ${selected.label}`}${scope.data.kernelSource ?? ""}`;
    holder.replaceChildren(drawTable(scope, selected));
  });
  return h("section", { "aria-labelledby": "kernels-heading" }, heading, holder);
}

function drawTable(scope: Scope, region: Region | null): HTMLElement {
  const columns = kernelsOf(scope, region);
  const rows: readonly Kernel[] = (columns?.name ?? []).map((name, index) => ({
    name: scope.text(name),
    device: scope.text(columns?.device[index] ?? -1),
    calls: columns?.calls[index] ?? 0,
    total: columns?.total[index] ?? null,
    row: index,
  }));
  const other = columns?.other ?? null;
  if (rows.length === 0 && other === null)
    return h("p", {}, "No GPU kernels or CPU operations were recorded here.");
  const whole =
    rows.reduce((sum, { total }) => sum + (total ?? 0), 0) + (other === null ? 0 : other.total);
  const fields: readonly Field<Kernel>[] = [
    { title: "Name", cell: ({ name }) => name },
    { title: "Device", cell: ({ device }) => device },
    { title: "Calls", format: "count", cell: ({ calls }) => calls },
    { title: "Total ms", format: "ms", cell: ({ total }) => total },
    { title: "Mean ms", format: "mean_ms", cell: ({ total, calls }) => total && total / calls },
    {
      title: "Share %",
      hint: "Share of everything listed here",
      format: "percent",
      cell: ({ total }) => percentOf(total, whole),
    },
    ...hardwareFields(columns?.hardware ?? null, scope),
  ];
  return createTable(tableOf(fields, rows), {
    label: "Kernels",
    pageSize: 100,
    footer:
      other === null
        ? null
        : `other: ${plural(other.rows, "shorter row")}, ${plural(other.calls, "call")}, ${formatMs(other.total)} ms (${formatShare(other.total, whole)} %), see report.json`,
  }).element;
}

/** The columns of hardware counters that some kernel has. */
const hardwareFields = (
  hardware: KernelColumns["hardware"],
  scope: Scope,
): readonly Field<Kernel>[] =>
  (scope.data.hardware ?? []).flatMap(({ isText, ...column }, index) => {
    const values = hardware?.[index] ?? [];
    if (values.every((value) => value === null)) return [];
    return [{ ...column, cell: isText ? wordOf(scope, values) : ({ row }) => values[row] ?? null }];
  });
