/** The filter of jobs: `lr<0.01 status=failed cuda`, where all parts must hold. */

/** What can be compared, by row. */
export interface FilteredColumn {
  readonly title: string;
  readonly getValue: (row: number) => number | string | null;
}

const PART = /^(.+?)(<=|>=|!=|=|<|>)(.*)$/;

/**
 * A part compares a column (`lr<0.01`, `model!=a`) or, without one, is looked for in all of them. Parts with blanks stand in
 * double quotes: `"error=out of memory"`.
 */
export function filterOf(
  text: string,
  columns: readonly FilteredColumn[],
): (row: number) => boolean {
  const parts = [...text.matchAll(/"([^"]*)"?|\S+/g)].map(([word, quoted]) => quoted ?? word);
  const tests = parts.map((part) => testOf(part, columns));
  return (row) => tests.every((test) => test(row));
}

function testOf(part: string, columns: readonly FilteredColumn[]): (row: number) => boolean {
  const [, name = "", operator = "", wanted = ""] = PART.exec(part) ?? [];
  const column = columns.find(({ title }) => title.toLowerCase() === name.toLowerCase());
  if (column === undefined) {
    const word = part.toLowerCase();
    return (row) =>
      columns.some(({ getValue }) =>
        String(getValue(row) ?? "")
          .toLowerCase()
          .includes(word),
      );
  }
  const compare = comparison(operator, wanted);
  return (row) => compare(column.getValue(row));
}

function comparison(operator: string, wanted: string): (value: number | string | null) => boolean {
  const number = wanted.trim() === "" ? Number.NaN : Number(wanted);
  const text = wanted.toLowerCase();
  const isEqual = (value: number | string | null) =>
    typeof value === "number" ? value === number : (value ?? "").toLowerCase() === text;
  if (operator === "=") return isEqual;
  if (operator === "!=") return (value) => !isEqual(value);
  const holds = (value: number) =>
    operator === "<"
      ? value < number
      : operator === "<="
        ? value <= number
        : operator === ">"
          ? value > number
          : value >= number;
  return (value) => typeof value === "number" && holds(value);
}
