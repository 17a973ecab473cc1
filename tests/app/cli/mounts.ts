import { execFileSync } from "node:child_process";
import { mkdtempSync, rmdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Whether this user may mount file systems and become another one; says which tests are skipped where not. */
export function canMount(what: string): boolean {
  const reason = hindrance();
  if (reason !== undefined) console.warn(`SKIPPED ${what}: ${reason}`);
  return reason === undefined;
}

function hindrance(): string | undefined {
  if (process.getuid?.() !== 0) return "only root can mount file systems";
  try {
    withDisk("size=16k", () => {});
    execFileSync("setpriv", ["--version"], { stdio: "ignore" });
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** A disk in memory, as long as the test runs. */
export function withDisk<T>(options: string, test: (folder: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), "hydraconf-disk-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", folder], { stdio: "pipe" });
  const release = (): void => {
    execFileSync("umount", ["--lazy", folder]);
    rmdirSync(folder);
  };
  let result: T;
  try {
    result = test(folder);
  } catch (error) {
    release();
    throw error;
  }
  if (result instanceof Promise) return result.finally(release) as T;
  release();
  return result;
}

/** One with no space left. */
export const withFullDisk = <T>(test: (folder: string) => T): T =>
  withDisk("size=16k", (folder) => {
    fill(folder);
    return test(folder);
  });

/** Takes what space is left on a disk. */
export function fill(folder: string): void {
  for (let file = 0; ; file++)
    try {
      writeFileSync(join(folder, `.filler-${file}`), Buffer.alloc(4096, 1));
    } catch {
      return;
    }
}
