import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/**
 * The project's shared material (conformance corpus, golden data, samples). A public clone does
 * not have it: tests that need it say so and skip, unless `HYDRACONF_REQUIRE_SHARED=1` (CI).
 */
export function sharedDir(): string | null {
  const dir =
    process.env["HYDRACONF_SHARED"] ?? fileURLToPath(new URL("../../shared", import.meta.url));
  if (existsSync(dir)) return dir;
  if (process.env["HYDRACONF_REQUIRE_SHARED"] === "1")
    throw new Error(`shared material is required here but ${dir} does not exist`);
  return null;
}

/** The directory, or null after printing which tests are skipped for want of it. */
export function sharedOrSkip(what: string): string | null {
  const dir = sharedDir();
  if (dir === null)
    console.warn(`SKIPPED ${what}: needs ../shared (or HYDRACONF_SHARED), absent in this clone`);
  return dir;
}
