/**
 * The text of `pathlib.PurePosixPath(text)`: repeated slashes and `.` components vanish, `..` stays,
 * exactly two leading slashes are kept, and the empty path is `.`.
 */
export function normalizePath(text: string): string {
  const root = /^\/\/(?!\/)/.test(text) ? "//" : text.startsWith("/") ? "/" : "";
  const parts = text.split("/").filter((part) => part !== "" && part !== ".");
  return root + parts.join("/") || ".";
}
