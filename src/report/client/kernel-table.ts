import { h } from "./dom.ts";
import { formatCount, formatMeanMs, formatMs, formatShare, plural } from "./format.ts";
import { nameElement } from "./name.ts";
import { kernelsOf, type Region, type Scope } from "./scope.ts";
import type { Store } from "./state.ts";
import { createTable } from "./table.ts";

interface Kernel {
  readonly name: string;
  readonly device: string;
  readonly calls: number;
  readonly total: number | null;
}

const mean = ({ total, calls }: Kernel): number | null => total && total / calls;

/** Kernels of the selected region, or of the whole scope where none is selected. */
export function createKernelTable(store: Store): HTMLElement {
  const heading = h("h2", { id: "kernels-heading" });
  const holder = h("div");
  store.watch(({ scope, selected }, before) => {
    if (before !== null && before.scope === scope && before.selected === selected) return;
    const words = scope.data.kernelWords ?? "kernels";
    heading.textContent = `${words[0]?.toUpperCase()}${words.slice(1)} ${selected === null ? "in all regions" : `in ${selected.label}`}`;
    holder.replaceChildren(drawTable(scope, selected));
  });
  return h("section", { "aria-labelledby": "kernels-heading" }, heading, holder);
}

function drawTable(scope: Scope, region: Region | null): HTMLElement {
  const columns = kernelsOf(scope, region);
  const rows: readonly Kernel[] = (columns?.name ?? []).map((name, at) => ({
    name: scope.text(name),
    device: scope.text(columns?.device[at] ?? -1),
    calls: columns?.calls[at] ?? 0,
    total: columns?.total[at] ?? null,
  }));
  const other = columns?.other ?? null;
  if (rows.length === 0 && other === null)
    return h("p", {}, "No GPU kernels or CPU operations were recorded here.");
  const whole =
    rows.reduce((sum, { total }) => sum + (total ?? 0), 0) + (other === null ? 0 : other.total);
  const table = createTable<Kernel>({
    label: "Kernels",
    columns: [
      { heading: "Name", key: ({ name }) => name, cell: ({ name }) => nameElement("code", name) },
      { heading: "Device", key: ({ device }) => device, cell: ({ device }) => device },
      {
        heading: "Calls",
        align: "right",
        key: ({ calls }) => calls,
        cell: ({ calls }) => formatCount(calls),
      },
      {
        heading: "Total ms",
        align: "right",
        key: ({ total }) => total,
        cell: ({ total }) => formatMs(total),
      },
      {
        heading: "Mean ms",
        align: "right",
        key: mean,
        cell: (kernel) => formatMeanMs(mean(kernel)),
      },
      {
        heading: "Share %",
        hint: "Of all that is listed here",
        align: "right",
        key: ({ total }) => total,
        cell: ({ total }) => formatShare(total, whole),
      },
    ],
    text: ({ name }) => name,
    pageSize: 100,
  });
  table.setRows(
    rows,
    other === null
      ? null
      : `other: ${plural(other.rows, "shorter row")}, ${plural(other.calls, "call")}, ${formatMs(other.total)} ms (${formatShare(other.total, whole)} %), see report.json`,
  );
  return table.element;
}
