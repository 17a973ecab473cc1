import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { brotliCompressSync, brotliDecompressSync, constants } from "node:zlib";

/**
 * A folder as one compressed file, so that recorded material of many megabytes can be kept in the repository: one line of JSON a
 * file, in the order of paths, compressed by brotli. The same folder always gives the same bytes.
 */
interface PackedFile {
  /** Relative to the folder, with `/`. */
  readonly path: string;
  /** The content, if it is valid UTF-8. */
  readonly text?: string;
  /** The content of any other file. */
  readonly base64?: string;
}

/** @param includes whether a file, named by its path with `/`, is packed; by default all are */
export function packFolder(
  folder: string,
  includes: (path: string) => boolean = () => true,
): Buffer {
  const lines = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((path) => path.split(sep).join("/"))
    .filter((path) => statSync(join(folder, path)).isFile() && includes(path))
    .sort()
    .map((path) => `${JSON.stringify(packedFile(path, readFileSync(join(folder, path))))}\n`);
  return brotliCompressSync(lines.join(""), {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
      [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
    },
  });
}

function packedFile(path: string, content: Buffer): PackedFile {
  const text = content.toString("utf8");
  return Buffer.from(text).equals(content)
    ? { path, text }
    : { path, base64: content.toString("base64") };
}

/** The files of a packed folder. */
export const unpackedFiles = (packed: Buffer): ReadonlyMap<string, Buffer> =>
  new Map(
    brotliDecompressSync(packed)
      .toString("utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => {
        const { base64, path, text = "" } = JSON.parse(line) as PackedFile;
        return [path, base64 === undefined ? Buffer.from(text) : Buffer.from(base64, "base64")];
      }),
  );

/** Writes the files of a packed folder into a directory that does not exist yet. */
export function unpackInto(directory: string, packed: Buffer): void {
  for (const [path, content] of unpackedFiles(packed)) {
    const file = join(directory, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
}

/**
 * The directory with the files of a packed folder, `.unpacked/NAME-HASH` beside the packed file. It is unpacked once, whichever
 * process asks first, and replaces what an earlier version of the packed file left there.
 */
export function unpackedFolder(packedPath: string): string {
  const packed = readFileSync(packedPath);
  const name = basename(packedPath, ".br");
  const parent = join(dirname(packedPath), ".unpacked");
  const folder = `${name}-${createHash("sha256").update(packed).digest("hex").slice(0, 8)}`;
  const directory = join(parent, folder);
  if (existsSync(directory)) return directory;
  mkdirSync(parent, { recursive: true });
  for (const old of readdirSync(parent))
    if (old.startsWith(`${name}-`) && old.length === folder.length)
      rmSync(join(parent, old), { recursive: true, force: true });
  const draft = mkdtempSync(join(parent, "draft-"));
  try {
    unpackInto(draft, packed);
    renameSync(draft, directory);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    // Another process was faster.
    if (!existsSync(directory)) throw error;
  }
  return directory;
}
