/** Words of the commands in shell scripts, Makefiles, Markdown and other texts, each with its place. */

/** One word of a command, as a shell reads it. */
export interface CommandWord {
  /** Without quotes and escapes; what only a shell can expand stays as written. */
  readonly text: string;
  /** Offsets in the text, in UTF-16 code units, end exclusive. */
  readonly start: number;
  readonly end: number;
  /** Whether the text is as the shell would pass it: it has no variable or command whose value is unknown. */
  readonly isKnown: boolean;
  /** Whether a variable was replaced by its value, so that the word itself says something else. */
  readonly isExpanded: boolean;
}

/** How commands stand in a text: in every line, or in blocks of code (Markdown, reStructuredText). */
export type CommandText = "shell" | "make" | "markdown";

/** The commands of a text, in order: those between operators such as `&&` and `|` are apart. */
export function commandsIn(text: string, kind: CommandText): readonly (readonly CommandWord[])[] {
  const values = kind === "markdown" ? new Map<string, string>() : assignments(text);
  return logicalLines(text, kind).flatMap(({ end, start }) =>
    wordsIn(text, { start, end, values, isMake: kind === "make" }),
  );
}

interface LineSpan {
  readonly start: number;
  readonly end: number;
}

/** Lines that may hold commands, each joined with those that it continues in. */
function logicalLines(text: string, kind: CommandText): readonly LineSpan[] {
  const lines: LineSpan[] = [];
  let isCode = kind !== "markdown";
  let offset = 0;
  while (offset < text.length) {
    let end = lineEnd(text, offset);
    const line = text.slice(offset, end);
    if (kind === "markdown" && /^\s*(```|~~~)/.test(line)) isCode = !isCode;
    else {
      const begin = isCode ? 0 : /^(?: {4,}|\t| *\$ )/.exec(line)?.[0].length;
      if (begin !== undefined) {
        while (/\\\s*$/.test(text.slice(offset, end)) && end < text.length)
          end = lineEnd(text, end + 1);
        lines.push({ start: offset + begin, end });
      }
    }
    offset = end + 1;
  }
  return lines;
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end < 0 ? text.length : end;
}

/** Variables that a script assigns once, to a plain value. */
function assignments(text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string | null>();
  const pattern =
    /^\s*(?:export\s+|readonly\s+|local\s+)?([A-Za-z_]\w*)\s*[:?]?=\s*("[^"$`\\]*"|'[^']*'|[^\s"'$`\\;&|()]*)[ \t]*(?:[;#].*)?$/gm;
  for (const [, name = "", value = ""] of text.matchAll(pattern))
    found.set(name, found.has(name) ? null : value.replace(/^(["'])(.*)\1$/, "$2"));
  // One that is also assigned in another way, or by a loop, has no known value.
  return new Map(
    [...found].flatMap(([name, value]) =>
      value === null || value === "" || assignedOften(text, name) ? [] : [[name, value] as const],
    ),
  );
}

const assignedOften = (text: string, name: string): boolean =>
  [
    ...text.matchAll(
      new RegExp(
        `(?:^|[\\s;])(?:${name}\\s*[:?+]?=|for\\s+${name}\\b|read\\s+(?:-\\w+\\s+)*${name}\\b)`,
        "gm",
      ),
    ),
  ].length > 1;

interface Scanning extends LineSpan {
  readonly values: ReadonlyMap<string, string>;
  readonly isMake: boolean;
}

function wordsIn(text: string, scanning: Scanning): readonly (readonly CommandWord[])[] {
  const commands: CommandWord[][] = [[]];
  let offset = scanning.start;
  while (offset < scanning.end) {
    const char = text[offset] ?? "";
    if (/\s/.test(char) || /^\\\s*\n/.test(text.slice(offset, offset + 80))) offset += 1;
    else if (char === "#") break;
    else if (/[|&;<>()`]/.test(char)) {
      // What follows a redirection is no word of the command, and so is the number before it.
      if (/[<>]/.test(char)) {
        const lastWord = commands.at(-1)?.at(-1);
        if (lastWord?.end === offset && /^\d$/.test(lastWord.text)) commands.at(-1)?.pop();
        offset += /^[<>]+&?\s*/.exec(text.slice(offset, scanning.end))?.[0].length ?? 1;
        offset = wordAt(text, offset, scanning).end;
      } else {
        commands.push([]);
        offset += 1;
      }
    } else {
      const word = wordAt(text, offset, scanning);
      commands.at(-1)?.push(word);
      offset = Math.max(word.end, offset + 1);
    }
  }
  return commands.filter(({ length }) => length > 0);
}

function wordAt(text: string, start: number, { end, isMake, values }: Scanning): CommandWord {
  let offset = start;
  let word = "";
  let isKnown = true;
  let isExpanded = false;
  let quote = "";
  while (offset < end) {
    const char = text[offset] ?? "";
    if (quote === "" && /[\s|&;<>()]/.test(char)) break;
    if (char === quote) quote = "";
    else if (quote === "" && /["']/.test(char)) quote = char;
    else if (char === "\\" && quote !== "'") {
      const next = text[offset + 1] ?? "";
      if (quote === "" && /^\\\s*\n/.test(text.slice(offset, offset + 80))) break;
      if (quote === "" || /["\\$`\n]/.test(next)) {
        word += next === "\n" ? "" : next;
        offset += 1;
      } else word += char;
    } else if ((char === "$" || char === "`") && quote !== "'") {
      const [whole, name] = expansionAt(text.slice(offset, end), isMake);
      const value = name === undefined ? undefined : values.get(name);
      if (value === undefined) isKnown = false;
      else isExpanded = true;
      word += value ?? whole;
      offset += whole.length - 1;
    } else word += char;
    offset += 1;
  }
  return { text: word, start, end: offset, isKnown: isKnown && quote === "", isExpanded };
}

/** `$NAME`, `${NAME}`, `$(command)`; in a Makefile `$(NAME)` and `$$NAME`. */
function expansionAt(text: string, isMake: boolean): readonly [whole: string, name?: string] {
  const plain = /^\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))/.exec(text);
  if (isMake) {
    const made = /^\$[({]([A-Za-z_]\w*)[)}]/.exec(text);
    if (made !== null) return [made[0], made[1] ?? ""];
    const shell = /^\$\$(?:\{\w+\}|\w+|\([^)]*\))/.exec(text);
    if (shell !== null) return [shell[0]];
  } else if (plain !== null) return [plain[0], plain[1] ?? plain[2] ?? ""];
  const whole =
    /^\$\{\{[^\n]*?\}\}|^\$\{[^}\n]*\}|^\$\((?:[^()\n]|\([^()\n]*\))*\)|^`[^`\n]*`|^\$./.exec(
      text,
    )?.[0];
  return [whole ?? text.slice(0, 1)];
}
