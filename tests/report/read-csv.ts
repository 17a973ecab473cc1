/** A strict reader of RFC 4180, to check the writer by. */
export function readCsv(text: string): string[][] {
  const rows: string[][] = [];
  let at = 0;
  while (at < text.length) {
    const row: string[] = [];
    for (;;) {
      const match = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/y;
      match.lastIndex = at;
      const [all, quoted, plain = "", end] = match.exec(text) ?? [];
      if (all === undefined) throw new Error(`not CSV at ${at}: ${text.slice(at, at + 40)}`);
      row.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
      at += all.length;
      if (end === "\r\n") break;
    }
    rows.push(row);
  }
  return rows;
}
