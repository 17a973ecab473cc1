/** nsys writes its own lines between those of the program that it runs. */
import { readFileSync } from "node:fs";
import { writeFileAtomic } from "../../../atomic-write.ts";

/**
 * Of what a program and nsys printed, keeps the program's JSON document, which is one; the rest is
 * returned. Without a whole document the file stays as it is.
 */
export async function keepDocument(file: string): Promise<string> {
  const text = readFileSync(file, "utf8");
  const [document] = /\{\n(?:.*\n)*?\}(?=\n|$)/.exec(text) ?? [];
  if (document === undefined || !isJson(document)) return text;
  await writeFileAtomic(file, `${document}\n`);
  return text.replace(document, "");
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
