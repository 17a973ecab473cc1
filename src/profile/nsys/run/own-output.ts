/** nsys writes its own lines between those of the program that it runs. */
import { readFileSync } from "node:fs";
import { writeFileAtomic } from "../../../system/atomic-write.ts";

/**
 * Of what a program and nsys printed, keeps the program's JSON document, which is one; the rest is
 * returned. Without a whole document the file stays as it is.
 */
export async function keepDocument(file: string): Promise<string> {
  const text = readFileSync(file, "utf8");
  const document = documentIn(text);
  if (document === null || !isJson(document)) return text;
  await writeFileAtomic(file, `${document}\n`);
  return text.replace(document, "");
}

/** From the first brace that ends a line to the first line that is a brace. */
function documentIn(text: string): string | null {
  const start = text.indexOf("{\n");
  if (start < 0) return null;
  const end = /\n\}(?=\n|$)/.exec(text.slice(start + 1));
  return end === null ? null : text.slice(start, start + 1 + end.index + end[0].length);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
