// Whether anything has changed that decides what is built.
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { gypFile } from "./gyp-file.mjs";

const SOURCE_FILE = /\.(cc|hpp|inl|h|cu|py|gypi|gyp)$/;

/**
 * A hash of everything that decides the result, the compiler's own state aside.
 *
 * @param environment the variables to build with
 */
export async function sourcesFingerprint(root, options, environment) {
  const hash = createHash("sha256");
  const add = (name, text) => hash.update(`${name}\0${text.length}\0`).update(text);
  add("binding.gyp", await readFile(gypFile(root)));
  for (const file of await sourceFiles(root)) add(relative(root, file), await readFile(file));
  for (const [name, value] of Object.entries(environment)) add(name, value);
  // A home directory may be shared by machines of several kinds.
  add("machine", `${process.platform} ${process.arch}`);
  add("options", JSON.stringify([options.ownNvtx ?? false, options.sanitize ?? ""]));
  return hash.digest("hex").slice(0, 32);
}

async function sourceFiles(root) {
  const entries = await readdir(join(root, "native"), { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile() && SOURCE_FILE.test(entry.name))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
  return [join(root, "package.json"), ...files.sort()];
}
