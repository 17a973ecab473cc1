import { getOrCreate } from "../../../system/get-or-create.ts";
import { unitOfMetric } from "../rep/metric-units.ts";
import { createMetricColumns, type MetricColumns, type NcuResult } from "../results.ts";
import { DEVICE_NAME } from "../shared-columns.ts";
import { convertUnit } from "../units.ts";
import { type CellPlaces, cellText } from "./cells.ts";
import { createIdentityReader } from "./identity.ts";
import type { TableLayout } from "./layout.ts";
import type { NumberReader } from "./metric-cells.ts";
import type { PageReader } from "./page-reader.ts";

/** The raw page: a row per result, a column per metric, and a row of units before the results. */
export function createRawReader(
  layout: TableLayout,
  numbers: NumberReader,
  onResult: (result: NcuResult) => void,
): PageReader {
  const { firstMetric, headers } = layout;
  const names = headers.slice(firstMetric);
  const readIdentity = createIdentityReader(layout);
  const deviceName = names.indexOf(DEVICE_NAME);
  /** Without units, only percentages are certain: all else may have any prefix. */
  let columns: MetricColumns = createMetricColumns(
    names,
    names.map((name) => (unitOfMetric(name) === "%" ? "%" : "")),
  );
  let hasUnits = names.every((name) => unitOfMetric(name) === "");
  let hasResults = false;
  let factors = new Float64Array(names.length).fill(1);
  const deviceNames = new Map<string, string>();

  const readUnits = (bytes: Buffer, places: CellPlaces) => {
    const texts = names.map((_, place) => cellText(bytes, places, firstMetric + place));
    if (texts.every((text) => text === "")) return;
    hasUnits = true;
    const units = texts.map(convertUnit);
    columns = createMetricColumns(
      names,
      units.map(({ unit }) => unit),
    );
    factors = Float64Array.from(units, ({ factor }) => factor);
  };

  return {
    row(bytes, places) {
      if (places.ends[layout.columns.id] === places.starts[layout.columns.id]) {
        readUnits(bytes, places);
        return;
      }
      hasResults = true;
      const values = new Float64Array(names.length);
      for (let place = 0; place < values.length; place++)
        values[place] = numbers.read(bytes, places, firstMetric + place) * (factors[place] ?? 1);
      onResult({
        ...readIdentity(bytes, places),
        deviceName:
          deviceName < 0
            ? null
            : shared(deviceNames, cellText(bytes, places, firstMetric + deviceName)),
        columns,
        values,
      });
    },
    end: () => {},
    lacksUnits: () => hasResults && !hasUnits,
  };
}

const shared = (known: Map<string, string>, text: string): string | null =>
  text === "" ? null : getOrCreate(known, text, () => text);
