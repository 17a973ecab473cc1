import { existsSync } from "node:fs";

/** Debian's Chromium, or the one that `HYDRACONF_CHROMIUM` names. */
const CANDIDATES = [process.env["HYDRACONF_CHROMIUM"], "/usr/bin/chromium"];

/** The browser to test with, or null after printing that these tests are skipped. */
export function chromiumOrSkip(what: string): string | null {
  const found = CANDIDATES.find((path) => path !== undefined && existsSync(path));
  if (found !== undefined) return found;
  if (process.env["HYDRACONF_REQUIRE_SHARED"] === "1")
    throw new Error("Chromium is required here: apt-get install chromium");
  console.warn(`SKIPPED ${what}: needs Chromium (apt-get install chromium, or HYDRACONF_CHROMIUM)`);
  return null;
}

/** Runs as root in containers too, and asks nobody on the network for anything. */
export const CHROMIUM_ARGUMENTS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
