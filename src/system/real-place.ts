import { realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** Where an absolute path leads once its links are followed; the end of it need not exist. */
export function realPlace(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const around = dirname(path);
    return around === path ? path : join(realPlace(around), basename(path));
  }
}
