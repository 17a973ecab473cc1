/** The hash of a file, apart from `files.ts`: that is part of every start, and Node takes milliseconds to load what hashes and pipes. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { pipeline } from "node:stream/promises";

/** SHA-256 of a file's content in hexadecimal; the file is read in pieces. */
export async function fileHash(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}
