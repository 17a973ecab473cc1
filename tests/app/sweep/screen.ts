const PIECE = new RegExp(`${String.fromCharCode(27)}\\[(\\d*)([A-Za-z])|[^]`, "g");

/** What a terminal shows: the part of one that matters to lines that are written again in place. */
export interface Screen {
  write(text: string): void;
  /** Narrower or wider: lines wrap anew, as in most terminals. */
  resize(columns: number): void;
  /** All lines, those that were scrolled away, too, without blanks at their ends. */
  lines(): readonly string[];
  readonly columns: number;
  readonly rows: number;
}

export function openScreen(columns: number, rows: number): Screen {
  let width = columns;
  let lines: string[] = [""];
  let row = 0;
  let column = 0;

  const put = (character: string): void => {
    if (column === width) {
      row++;
      column = 0;
    }
    while (lines.length <= row) lines.push("");
    const line = (lines[row] ?? "").padEnd(column);
    lines[row] = line.slice(0, column) + character + line.slice(column + 1);
    column++;
  };
  const control: Readonly<Record<string, (count: number) => void>> = {
    A: (count) => {
      row = Math.max(row - (count || 1), Math.max(0, lines.length - rows));
    },
    K: () => {
      lines[row] = (lines[row] ?? "").slice(0, column);
    },
    J: () => {
      lines[row] = (lines[row] ?? "").slice(0, column);
      lines.length = row + 1;
    },
    m: () => {},
  };

  return {
    write(text) {
      for (const match of text.matchAll(PIECE)) {
        const [whole, count, name] = match;
        if (name !== undefined) {
          const act = control[name];
          if (act === undefined) throw new Error(`unknown: ESC[${count}${name}`);
          act(Number(count));
        } else if (whole === "\r") column = 0;
        else if (whole === "\n") {
          row++;
          column = 0;
          while (lines.length <= row) lines.push("");
        } else put(whole);
      }
    },
    resize(to) {
      const atEnd = row === lines.length - 1;
      lines = lines.flatMap((line) =>
        line === "" ? [""] : (line.match(new RegExp(`.{1,${to}}`, "gu")) ?? []),
      );
      width = to;
      if (!atEnd) throw new Error("only with the cursor below everything");
      row = lines.length - 1;
    },
    lines: () => lines.map((line) => line.trimEnd()),
    get columns() {
      return width;
    },
    rows,
  };
}
