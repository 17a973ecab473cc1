/** The order of table rows after a click on a heading. */

/** The part of a column that decides the order. */
export interface SortedColumn<Row> {
  /** Numbers are right-aligned. */
  readonly align?: "right";
  /** What to sort by; null sorts last. */
  readonly key: (row: Row) => number | string | null;
}

export interface Order<Row> {
  readonly column: SortedColumn<Row>;
  readonly descending: boolean;
}

/** Numbers start with the largest, text with A; a third click restores the original order. */
export function nextOrder<Row>(
  order: Order<Row> | null,
  column: SortedColumn<Row>,
): Order<Row> | null {
  const numeric = column.align === "right";
  if (order?.column !== column) return { column, descending: numeric };
  return order.descending === numeric ? { column, descending: !numeric } : null;
}

/** Job 10 comes after job 9. */
const { compare: asPeopleCount } = new Intl.Collator("en", { numeric: true });

/** Values of a parameter are text, also where they are numbers. */
const compareText = (a: string, b: string): number =>
  isNumber(a) && isNumber(b) ? Number(a) - Number(b) : asPeopleCount(a, b);

const isNumber = (text: string): boolean => text.trim() !== "" && Number.isFinite(Number(text));

export function sortRows<Row>(
  rows: readonly Row[],
  { column, descending }: Order<Row>,
): readonly Row[] {
  const keyed = rows.map((row) => ({ row, value: column.key(row) }));
  const sign = descending ? -1 : 1;
  keyed.sort((a, b) => {
    if (a.value === null || b.value === null)
      return a.value === b.value ? 0 : a.value === null ? 1 : -1;
    if (typeof a.value === "string" && typeof b.value === "string")
      return sign * compareText(a.value, b.value);
    return a.value < b.value ? -sign : a.value > b.value ? sign : 0;
  });
  return keyed.map(({ row }) => row);
}
