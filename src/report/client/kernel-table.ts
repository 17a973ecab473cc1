import { capitalized, plural } from "../../text/plural.ts";
import { LIMIT_LEGEND } from "../view/gpu-utilization.ts";
import { formatCount, formatMeanMs, formatMs, formatShare, NOT_MEASURED } from "../view/numbers.ts";
import type { HardwareColumns } from "../view/page-data.ts";
import { h, nameElement } from "./dom.ts";
import { kernelsOf, type Region, type Scope, type Store } from "./state.ts";
import { type Column, createTable } from "./table.ts";

interface Kernel {
  readonly name: string;
  readonly device: string;
  readonly calls: number;
  readonly total: number | null;
  /** Its row in the columns. */
  readonly row: number;
}

const mean = ({ total, calls }: Kernel): number | null => total && total / calls;

/** Kernels of the selected region, or of the whole scope if none is selected. */
export function createKernelTable(store: Store): HTMLElement {
  const heading = h("h2", { id: "kernels-heading" });
  const holder = h("div");
  store.watch(({ scope, selected }, before) => {
    if (before !== null && before.scope === scope && before.selected === selected) return;
    const words = scope.data.kernelWords ?? "kernels";
    heading.textContent = `${capitalized(words)} ${selected === null ? "in all regions" : `in ${selected.label}`}`;
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
    row: at,
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
        hint: "Share of everything listed here",
        align: "right",
        key: ({ total }) => total,
        cell: ({ total }) => formatShare(total, whole),
      },
      ...hardwareColumns(columns?.hardware ?? null, scope),
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

/** Columns of hardware counters that some kernel has. */
function hardwareColumns(
  hardware: HardwareColumns | null,
  scope: Scope,
): readonly Column<Kernel>[] {
  if (hardware === null) return [];
  const share = (
    heading: string,
    values: readonly (number | null)[],
    hint: string,
  ): readonly Column<Kernel>[] =>
    ifMeasured(values, {
      heading,
      hint,
      align: "right",
      key: ({ row }) => values[row] ?? null,
      cell: ({ row }) => formatShare(values[row] ?? null, 100),
    });
  const word = (values: readonly (number | null)[], row: number): string | null => {
    const index = values[row] ?? null;
    return index === null ? null : scope.text(index);
  };
  const { limit, occupancyMost, occupancyLimit } = hardware;
  return [
    ...share("SM %", hardware.smShare, "Share of the multiprocessors' peak"),
    ...share("Memory %", hardware.memoryShare, "Share of the memory's peak"),
    ...ifMeasured(limit, {
      heading: "Limited by",
      hint: LIMIT_LEGEND,
      key: ({ row }) => word(limit, row),
      cell: ({ row }) => word(limit, row) ?? NOT_MEASURED,
    }),
    ...share("Tensor %", hardware.tensor, "Share of the tensor cores' peak; 0: not used"),
    ...share("Occupancy %", hardware.occupancy, "Active warps, as a share of the possible ones"),
    ...ifMeasured(occupancyLimit, {
      heading: "Occupancy limit",
      hint: "Highest occupancy that the launch allows, and what limits it",
      key: ({ row }) => occupancyMost[row] ?? null,
      cell: ({ row }) => word(occupancyLimit, row) ?? NOT_MEASURED,
    }),
  ];
}

const ifMeasured = (
  values: readonly (number | null)[],
  column: Column<Kernel>,
): readonly Column<Kernel>[] => (values.some((value) => value !== null) ? [column] : []);
