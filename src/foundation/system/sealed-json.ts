/**
 * JSON files that prove themselves whole: the last member of a document, or of each line, is a checksum over all bytes
 * before it. What is cut, emptied, filled with zeros or changed in one bit is not taken for what was written.
 */
import { readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { crc32 } from "node:zlib";
import { aboutFile, appendLinesDurableSync } from "./atomic-write.ts";
import { errorCode } from "./files.ts";

/** What a sealed file holds, or why that cannot be known. */
export type Unsealed =
  | { readonly kind: "whole"; readonly value: unknown }
  | { readonly kind: "damaged"; readonly problem: string };

/**
 * A document with its checksum, for a file of its own.
 *
 * @param file its path: the content does not fit a file of another name
 * @param value has at least one member, and none of the name `checksum`
 * @param indent spaces for each level; by default the document is one line
 */
export function sealedText(file: string, value: object, indent = 0): string {
  const body = bodyOf(value, indent);
  return `${body}${trailer(crc32(body, startOf(file)))}`;
}

/**
 * @param file its path, as it was sealed for
 * @param bytes its whole content
 */
export function unsealed(file: string, bytes: Buffer): Unsealed {
  const end = bytes.length - TRAILER_BYTES;
  if (end < 0 || !sealFits(bytes, end, startOf(file))) return damaged(bytes);
  return parsed(bytes, 0, end) ?? damaged(bytes);
}

/** A file of sealed documents, a line each, that only grows. Each checksum covers the file up to its own line's end. */
export interface SealedLines {
  /**
   * Appends lines durably, and then notes how many lines the file has (`noteCount`). If that fails, the file is as before, or has
   * lines that are not counted; then nothing more may be appended to it by this object.
   *
   * @throws the system's error, with the file's name
   */
  append(values: readonly object[]): void;
}

/** The first content of a file of sealed lines. @param file its name is part of the checksums */
export const sealedLinesText = (file: string, values: readonly object[]): string =>
  linesAfter(startOf(file), values).text;

/**
 * Appends to a file whose whole content is known.
 *
 * @param bytes the content
 * @param count how many lines that is
 */
export function openSealedLines(file: string, bytes: Uint8Array, count: number): SealedLines {
  let checksum = crc32(bytes, startOf(file));
  let lines = count;
  return {
    append(values) {
      const more = linesAfter(checksum, values);
      appendLinesDurableSync(file, more.text);
      checksum = more.checksum;
      noteCount(file, lines + values.length, lines);
      lines += values.length;
    },
  };
}

/** The lines of a file, or why these are not all that were written. */
export type UnsealedLines =
  | { readonly kind: "whole"; readonly lines: readonly unknown[]; readonly bytes: Buffer }
  | { readonly kind: "damaged"; readonly problem: string };

/**
 * The lines of a file. Half a line at the end, left by a killed process, is none.
 *
 * @throws the system's error, `ENOENT` for a file that is not there
 */
export function readSealedLines(file: string): UnsealedLines {
  const found = wholeLines(file);
  if (found.kind === "damaged") return found;
  const { bytes } = found;
  const lines: unknown[] = [];
  for (let offset = 0; offset < bytes.length; ) {
    const end = bytes.indexOf(NEW_LINE, offset) + 1;
    const line = parsed(bytes, offset, end - TRAILER_BYTES);
    if (line === undefined)
      return { kind: "damaged", problem: `line ${lines.length + 1} is no JSON` };
    lines.push(line.value);
    offset = end;
  }
  return { kind: "whole", lines, bytes };
}

/**
 * The last line that begins with a text, without parsing the others; undefined if there is none.
 *
 * @throws as `readSealedLines`
 */
export function readSealedLine(file: string, start: string): Unsealed | undefined {
  const found = wholeLines(file);
  if (found.kind === "damaged") return found;
  const { bytes } = found;
  // No text inside a line holds a line break.
  const offset = bytes.lastIndexOf(`\n${start}`) + 1;
  if (offset === 0 && !bytes.subarray(0, start.length).equals(Buffer.from(start))) return undefined;
  const end = bytes.indexOf(NEW_LINE, offset) + 1;
  return (
    parsed(bytes, offset, end - TRAILER_BYTES) ?? { kind: "damaged", problem: "a line is no JSON" }
  );
}

/** All whole lines, which the checksum of the last one covers. */
function wholeLines(
  file: string,
): { readonly kind: "whole"; readonly bytes: Buffer } | Extract<Unsealed, { kind: "damaged" }> {
  // In this order: a line is counted after it has been written.
  const least = countOf(file);
  const all = bytesOf(file);
  if (all === undefined) return { kind: "damaged", problem: "it is missing" };
  const bytes = all.subarray(0, all.lastIndexOf(NEW_LINE) + 1);
  let count = 0;
  for (let offset = 0; offset < bytes.length; count++) offset = bytes.indexOf(NEW_LINE, offset) + 1;
  if (count < least)
    return {
      kind: "damaged",
      problem: all.length === 0 ? "it is empty" : `it has ${count} of at least ${least} lines`,
    };
  const end = bytes.length - TRAILER_BYTES;
  if (bytes.length > 0 && (end < 0 || !sealFits(bytes, end, startOf(file)))) return damaged(all);
  return { kind: "whole", bytes };
}

/** Undefined for a file that is missing although its lines were counted. */
function bytesOf(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch (error) {
    // Whoever removes a file removes its count first.
    if (errorCode(error) === "ENOENT" && countOf(file) > 0) return undefined;
    throw error;
  }
}

/**
 * Notes how many lines a file has, so that one that is cut at the end of a line is recognised: in the name of an empty file beside
 * it, `FILE.COUNT`. A name cannot be cut, one rename replaces it, and no flush is needed: after a crash of the machine a
 * lower count only proves less.
 *
 * @param previous the number noted so far; undefined for none
 * @throws the system's error, with the file's name
 */
export function noteCount(file: string, count: number, previous?: number): void {
  const name = `${file}.${count}`;
  try {
    if (previous === undefined || !renamed(`${file}.${previous}`, name))
      writeFileSync(name, "", { mode: 0o600 });
  } catch (error) {
    throw aboutFile(error, file, name);
  }
}

function renamed(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return false;
    throw error;
  }
}

/** Whether a name beside a file notes how many lines that has. */
export const isCountOf = (name: string, file: string): boolean =>
  name.startsWith(`${file}.`) && /^\d+$/.test(name.slice(file.length + 1));

/** The highest number of lines that was noted; 0 for none. */
function countOf(file: string): number {
  const baseName = basename(file);
  return readdirSync(dirname(file)).reduce(
    (most, name) =>
      isCountOf(name, baseName) ? Math.max(most, Number(name.slice(baseName.length + 1))) : most,
    0,
  );
}

/** The names of a file and of its folder: so one file is not taken for another, and a sweep can be moved. */
const startOf = (file: string): number => crc32(`${basename(dirname(file))}/${basename(file)}`);

function linesAfter(checksum: number, values: readonly object[]) {
  let now = checksum;
  const text = values.map((value) => {
    const body = bodyOf(value, 0);
    now = crc32(body, now);
    const end = trailer(now);
    now = crc32(end, now);
    return body + end;
  });
  return { text: text.join(""), checksum: now };
}

/** A document up to its last member. */
const bodyOf = (value: object, indent: number): string =>
  JSON.stringify(value, null, indent).slice(0, -1).trimEnd();

const trailer = (checksum: number): string =>
  `,"checksum":"${checksum.toString(16).padStart(8, "0")}"}\n`;

const TRAILER_BYTES = trailer(0).length;
const NEW_LINE = 0x0a;

const sealFits = (bytes: Buffer, end: number, start: number): boolean =>
  bytes.toString("latin1", end) === trailer(crc32(bytes.subarray(0, end), start));

/** The document without its checksum; undefined if that is none. */
function parsed(
  bytes: Buffer,
  from: number,
  to: number,
): Extract<Unsealed, { kind: "whole" }> | undefined {
  try {
    return { kind: "whole", value: JSON.parse(`${bytes.toString("utf8", from, to)}}`) };
  } catch {
    return undefined;
  }
}

function damaged(bytes: Uint8Array): Extract<Unsealed, { kind: "damaged" }> {
  const problem =
    bytes.length === 0
      ? "it is empty"
      : bytes.every((byte) => byte === 0)
        ? "it holds nothing but zeros"
        : "its checksum does not fit its content";
  return { kind: "damaged", problem };
}
