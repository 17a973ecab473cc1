/** Reads the two pages that ncu prints as CSV, `raw` and `details`, row by row. */

import { getOrCreate } from "../../../../foundation/system/get-or-create.ts";
import {
  createMetricColumns,
  createSharedColumns,
  DEVICE_NAME,
  type MetricColumns,
  type NcuResult,
  type RuleMessage,
  sectionTitle,
} from "../../../model/counters.ts";
import { convertUnit, createUnitConverter, unitOfMetric } from "../rep/units.ts";
import { type CellPlaces, cellText } from "./cells.ts";
import { createIdentityReader, type ResultIdentity } from "./identity.ts";
import type { TableLayout } from "./ncu-columns.ts";
import type { NumberCell, NumberReader } from "./number-format.ts";

/** Turns the rows of one table into results. */
export interface PageReader {
  /** Bytes and places are valid only during the call. */
  readonly row: (bytes: Buffer, places: CellPlaces) => void;
  /** The table has ended. */
  readonly end: () => void;
  /** Whether results were read from a table without any units. */
  readonly lacksUnits: () => boolean;
}

interface OpenResult {
  readonly identity: ResultIdentity;
  readonly names: string[];
  readonly units: string[];
  readonly values: number[];
  readonly seen: Set<string>;
  readonly rules: RuleMessage[];
}

/**
 * Reads the details page: a row per metric of a section, and rows of rules; the rows of a result are adjacent. Fills
 * `sections` with the metrics of each.
 */
export function createDetailsReader(
  layout: TableLayout,
  numbers: NumberReader,
  sections: Map<string, string[]>,
  onResult: (result: NcuResult) => void,
): PageReader {
  const { columns } = layout;
  const readIdentity = createIdentityReader(layout);
  const columnsOf = createSharedColumns();
  const convertUnit = createUnitConverter();
  const members = new Map<string, Set<string>>();
  const cellOf = (isNumber: boolean): NumberCell => ({
    isNumber,
    place: (bytes, places) =>
      `${cellText(bytes, places, columns.metricName)} of result ${cellText(bytes, places, columns.id)}`,
  });
  const [measured, unnamed] = [cellOf(true), cellOf(false)];
  let open: OpenResult | null = null;
  /** Cells that are equal in all rows of a result. */
  let common: readonly Buffer[] = [];

  const close = () => {
    if (open === null) return;
    const { identity, names, units, values, rules } = open;
    onResult({
      ...identity,
      deviceName: null,
      columns: columnsOf(names, units),
      values: Float64Array.from(values),
      ...(rules.length > 0 && { rules }),
    });
    open = null;
  };

  /** Rows of one result begin alike; after the kernel's name, ncu 2022 has other streams for rules. */
  const resultOf = (bytes: Buffer, places: CellPlaces): OpenResult => {
    if (open !== null && beginsWith(bytes, places, common)) return open;
    close();
    common = Array.from({ length: columns.kernelName + 1 }, (_, column) =>
      Buffer.from(bytes.subarray(places.starts[column], places.ends[column])),
    );
    open = {
      identity: readIdentity(bytes, places),
      names: [],
      units: [],
      values: [],
      seen: new Set(),
      rules: [],
    };
    return open;
  };

  return {
    row(bytes, places) {
      if (places.ends[columns.id] === places.starts[columns.id]) return;
      const result = resultOf(bytes, places);
      const section = cellText(bytes, places, columns.sectionName);
      const name = cellText(bytes, places, columns.metricName);
      if (name === "") {
        const speedup = numbers.read(bytes, places, columns.speedup, unnamed);
        const title = sectionTitle(section);
        const rule = ruleOf(bytes, places, layout, { section: title, speedup });
        if (rule === null) return;
        result.rules.push(rule);
        // A section that has only rules keeps its position among the others.
        if (!sections.has(title)) sections.set(title, []);
        return;
      }
      // Another program may have dropped the column.
      if (columns.sectionName >= 0) addMember(sections, members, section, name);
      if (result.seen.has(name)) return;
      result.seen.add(name);
      const { unit, factor } = convertUnit(cellText(bytes, places, columns.metricUnit));
      result.names.push(name);
      result.units.push(unit);
      const cell = unit === "" ? unnamed : measured;
      const value = numbers.read(bytes, places, columns.metricValue, cell) * factor;
      const isTrue = mayBe(value, unit);
      if (!isTrue) numbers.refuse(bytes, places, columns.metricValue, cell);
      result.values.push(isTrue ? value : Number.NaN);
    },
    end: close,
    // Each row has its own unit.
    lacksUnits: () => columns.metricUnit < 0,
  };
}

/** A later time in nanoseconds is a negative one, read without its sign: 18446744073709551615 is -1. */
const LONGEST_NS = 2 ** 63;

/** Whether a value can be true: times are not negative. */
const mayBe = (value: number, unit: string): boolean =>
  unit !== "ns" || Number.isNaN(value) || (value >= 0 && value < LONGEST_NS);

/** Compares byte by byte: the cells are few and seldom differ. */
function beginsWith(bytes: Buffer, { starts, ends }: CellPlaces, cells: readonly Buffer[]) {
  for (let column = 0; column < cells.length; column++) {
    const cell = cells[column];
    const from = starts[column] ?? 0;
    if (cell === undefined || (ends[column] ?? 0) - from !== cell.length) return false;
    for (let index = 0; index < cell.length; index++)
      if (bytes[from + index] !== cell[index]) return false;
  }
  return true;
}

function ruleOf(
  bytes: Buffer,
  places: CellPlaces,
  { columns }: TableLayout,
  { section, speedup }: Pick<RuleMessage, "section"> & { readonly speedup: number },
): RuleMessage | null {
  const rule = cellText(bytes, places, columns.ruleName);
  const text = cellText(bytes, places, columns.ruleDescription);
  if (rule === "" && text === "") return null;
  const speedupType = SPEEDUP_TYPES.find(
    (speedupType) => speedupType === cellText(bytes, places, columns.speedupType),
  );
  return {
    section,
    rule,
    type: cellText(bytes, places, columns.ruleType),
    text,
    speedup: Number.isFinite(speedup) ? speedup : null,
    ...(speedupType !== undefined && { speedupType }),
  };
}

const SPEEDUP_TYPES = ["local", "global"] as const;

function addMember(
  sections: Map<string, string[]>,
  members: Map<string, Set<string>>,
  section: string,
  name: string,
): void {
  const names = getOrCreate(members, section, () => new Set(sections.get(section)));
  if (names.has(name)) return;
  names.add(name);
  sections.set(section, [...(sections.get(section) ?? []), name]);
}

/** Reads the raw page: a row per result, a column per metric, and a row of units before the results. */
export function createRawReader(
  layout: TableLayout,
  numbers: NumberReader,
  onResult: (result: NcuResult) => void,
): PageReader {
  const { firstMetric, headers } = layout;
  const names = headers.slice(firstMetric);
  const readIdentity = createIdentityReader(layout);
  const deviceName = names.indexOf(DEVICE_NAME);
  /** Without units, only percentages are certain: all others may have any prefix. */
  let columns: MetricColumns = createMetricColumns(
    names,
    names.map((name) => (unitOfMetric(name) === "%" ? "%" : "")),
  );
  const cells = (units: readonly string[]): readonly NumberCell[] =>
    names.map((name, place) => ({
      isNumber: (units[place] ?? "") !== "",
      place: (bytes, places) => `${name} of result ${cellText(bytes, places, layout.columns.id)}`,
    }));
  let numberCells = cells(columns.units);
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
    numberCells = cells(columns.units);
  };

  return {
    row(bytes, places) {
      if (places.ends[layout.columns.id] === places.starts[layout.columns.id]) {
        readUnits(bytes, places);
        return;
      }
      hasResults = true;
      const values = new Float64Array(names.length);
      for (let place = 0; place < values.length; place++) {
        const [column, cell] = [firstMetric + place, numberCells[place] ?? NO_CELL];
        const value = numbers.read(bytes, places, column, cell) * (factors[place] ?? 1);
        const isTrue = mayBe(value, columns.units[place] ?? "");
        if (!isTrue) numbers.refuse(bytes, places, column, cell);
        values[place] = isTrue ? value : Number.NaN;
      }
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

const NO_CELL: NumberCell = { isNumber: false, place: () => "" };

const shared = (texts: Map<string, string>, text: string): string | null =>
  text === "" ? null : getOrCreate(texts, text, () => text);
