import { getOrCreate } from "../../../system/get-or-create.ts";
import type { NcuResult, RuleMessage } from "../results.ts";
import { sectionTitle } from "../section-titles.ts";
import { createSharedColumns } from "../shared-columns.ts";
import { createUnitConverter } from "../units.ts";
import { type CellPlaces, cellText } from "./cells.ts";
import { createIdentityReader, type ResultIdentity } from "./identity.ts";
import type { TableLayout } from "./layout.ts";
import type { NumberReader } from "./metric-cells.ts";
import type { PageReader } from "./page-reader.ts";

interface OpenResult {
  readonly identity: ResultIdentity;
  readonly names: string[];
  readonly units: string[];
  readonly values: number[];
  readonly seen: Set<string>;
  readonly rules: RuleMessage[];
}

/**
 * The details page: a row per metric of a section, and rows of rules; those of one result follow each
 * other. Fills `sections` with what stands where.
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
  let open: OpenResult | null = null;
  /** Cells that are alike in all rows of a result. */
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

  /** Rows of one result begin alike; behind the kernel's name, ncu 2022 has other streams for rules. */
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
        const speedup = numbers.read(bytes, places, columns.speedup);
        const title = sectionTitle(section);
        const rule = ruleOf(bytes, places, layout, { section: title, speedup });
        if (rule === null) return;
        result.rules.push(rule);
        // One in which only rules speak keeps its place among the others.
        if (!sections.has(title)) sections.set(title, []);
        return;
      }
      // A column that another program may have dropped.
      if (columns.sectionName >= 0) addMember(sections, members, section, name);
      if (result.seen.has(name)) return;
      result.seen.add(name);
      const { unit, factor } = convertUnit(cellText(bytes, places, columns.metricUnit));
      result.names.push(name);
      result.units.push(unit);
      result.values.push(numbers.read(bytes, places, columns.metricValue) * factor);
    },
    end: close,
    // Each row has its own.
    lacksUnits: () => columns.metricUnit < 0,
  };
}

/** Byte by byte: they are few, and seldom differ. */
function beginsWith(bytes: Buffer, { starts, ends }: CellPlaces, cells: readonly Buffer[]) {
  for (let column = 0; column < cells.length; column++) {
    const cell = cells[column];
    const from = starts[column] ?? 0;
    if (cell === undefined || (ends[column] ?? 0) - from !== cell.length) return false;
    for (let at = 0; at < cell.length; at++) if (bytes[from + at] !== cell[at]) return false;
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
    (known) => known === cellText(bytes, places, columns.speedupType),
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
  const known = getOrCreate(members, section, () => new Set(sections.get(section)));
  if (known.has(name)) return;
  known.add(name);
  sections.set(section, [...(sections.get(section) ?? []), name]);
}
