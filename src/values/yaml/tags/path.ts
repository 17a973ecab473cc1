import { buildScalar } from "../construction.ts";
import { invalid, itemsOf, type ValueTag } from "./tag-constructor.ts";

/** `pathlib` paths, the only Python objects that OmegaConf reads: a list of parts. */
const pathConstructor = (className: string): ValueTag => ({
  kind: "value",
  tag: `tag:yaml.org,2002:python/object/apply:pathlib.${className}`,
  construct(node, construction) {
    const parts = itemsOf(node, construction).map((item) => {
      const part = construction.build(item);
      if (part.kind === "scalar" && typeof part.value === "string") return part.value;
      throw invalid(item, construction, "the parts of a path are strings");
    });
    return buildScalar(node, { path: joinPosix(parts) }, construction);
  },
});

export const PATH = pathConstructor("Path");
export const POSIX_PATH = pathConstructor("PosixPath");

/**
 * `str(PurePosixPath(*parts))`: an absolute part starts anew, `.` and repeated slashes go, `..`
 * stays. Exactly two leading slashes are kept, as POSIX gives them a meaning of their own.
 */
function joinPosix(parts: readonly string[]): string {
  const lastAbsolute = parts.findLastIndex((part) => part.startsWith("/"));
  const text = parts.slice(Math.max(lastAbsolute, 0)).join("/");
  const root = /^\/\/(?!\/)/.test(text) ? "//" : text.startsWith("/") ? "/" : "";
  const names = text.split("/").filter((name) => name !== "" && name !== ".");
  return root + names.join("/") || ".";
}
