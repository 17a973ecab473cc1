/** The order of table rows after a click on a heading. */

/** The order of a table: the title of a column, or null for the tree. */
export interface TableOrder {
  readonly title: string;
  readonly descending: boolean;
}

/** The part of a column that decides the order. */
export interface SortedColumn<Row> {
  /** Numbers are right-aligned. */
  readonly align?: "right";
  /** The sort key; null is sorted last. */
  readonly key: (row: Row) => number | string | null;
}

export interface Order<Row> {
  readonly column: SortedColumn<Row>;
  readonly descending: boolean;
}

/**
 * The first click sorts numbers in descending and texts in ascending order; a third click restores the original order.
 */
export function nextOrder<Row>(
  order: Order<Row> | null,
  column: SortedColumn<Row>,
): Order<Row> | null {
  const numeric = column.align === "right";
  if (order?.column !== column) return { column, descending: numeric };
  return order.descending === numeric ? { column, descending: !numeric } : null;
}

/** Numbers within text are compared by value: job 10 follows job 9. */
const { compare: asPeopleCount } = new Intl.Collator("en", { numeric: true });

/** Values of parameters are texts, even if they are numbers. */
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
