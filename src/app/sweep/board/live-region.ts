import { stripVTControlCharacters } from "node:util";
import { textWidth } from "../../../text/text-width.ts";
import type { Terminal } from "../../process/console.ts";

const ESC = "\u001b[";
const ERASE_TO_END_OF_LINE = `${ESC}K`;
const ERASE_BELOW = `${ESC}J`;
const up = (lines: number): string => (lines === 0 ? "" : `${ESC}${lines}A`);

/**
 * The last lines on a terminal, written again and again in place. The cursor rests at the beginning
 * of the line below them and is never hidden, so that whatever ends this process, even a kill, leaves
 * the terminal as a shell wants it.
 */
export interface LiveRegion {
  /** Puts these lines in the place of the last ones. */
  draw(lines: readonly string[]): void;
  /** Takes the lines away, so that something else can be written. */
  erase(): void;
  /** Leaves them where they are: somebody else has written below. */
  leave(): void;
}

export function openLiveRegion(write: (text: string) => void, terminal: Terminal): LiveRegion {
  let drawn: readonly string[] = [];
  /** Terminals wrap lines anew when they get narrower. */
  const height = (): number =>
    drawn.reduce(
      (sum, line) =>
        sum + Math.max(1, Math.ceil(textWidth(stripVTControlCharacters(line)) / terminal.columns)),
      0,
    );
  return {
    draw(lines) {
      if (lines.length === 0) return;
      const body = lines.map((line) => `${line}${ERASE_TO_END_OF_LINE}\n`).join("");
      write(`\r${up(height())}${body}${ERASE_BELOW}`);
      drawn = lines;
    },
    erase() {
      if (drawn.length === 0) return;
      write(`\r${up(height())}${ERASE_BELOW}`);
      drawn = [];
    },
    leave() {
      drawn = [];
    },
  };
}
