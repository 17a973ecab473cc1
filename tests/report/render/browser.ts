import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe } from "vitest";
import { savePage } from "./page.ts";

/** Debian's Chromium, or the one that `HYDRACONF_CHROMIUM` names. */
const CANDIDATES = [process.env["HYDRACONF_CHROMIUM"], "/usr/bin/chromium"];

/** Runs as root in containers too, and asks nobody on the network for anything. */
const ARGUMENTS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--disable-crash-reporter",
  "--disable-breakpad",
];

/** How long it may take to start, and to do what it is told: less than a test may. */
const PATIENCE_MS = 240_000;

/** A page read from disk, and whatever the browser complained about: scripts, dialogs, requests. */
export interface OpenedPage {
  readonly page: Page;
  readonly complaints: readonly string[];
}

/** Opens a page for one test, after which it is closed. */
export type OpenPage = (html: string, options?: BrowserContextOptions) => Promise<OpenedPage>;

/** Tests in one browser, which starts once for all of them; skipped where there is none. */
export function describeInBrowser(name: string, tests: (open: OpenPage) => void): void {
  const executablePath = chromiumOrSkip(name);
  describe.skipIf(executablePath === null)(name, () => {
    let browser: Browser;
    /** Crash reports, fonts and settings go there, and not to whoever runs the tests. */
    const home = mkdtempSync(join(tmpdir(), "hydraconf-browser-"));
    beforeAll(async () => {
      browser = await chromium.launch({
        executablePath: executablePath ?? "",
        args: ARGUMENTS,
        env: homeAt(home),
        timeout: PATIENCE_MS,
      });
    });
    afterEach(async () => {
      for (const context of browser.contexts()) await context.close();
    });
    afterAll(async () => {
      await browser?.close();
      rmSync(home, { recursive: true, force: true, maxRetries: 5 });
    });
    tests(async (html, options) => {
      const page = await browser.newPage(options);
      page.setDefaultTimeout(PATIENCE_MS);
      const complaints = complaintsOf(page);
      await page.goto(savePage(html));
      return { page, complaints };
    });
  });
}

/** The environment with another home, also where `XDG_*` name the user's. */
const homeAt = (home: string): Record<string, string> => ({
  ...Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as const],
    ),
  ),
  HOME: home,
  XDG_CONFIG_HOME: join(home, "config"),
  XDG_CACHE_HOME: join(home, "cache"),
  XDG_DATA_HOME: join(home, "data"),
});

/** The browser to test with, or null after printing that these tests are skipped. */
function chromiumOrSkip(what: string): string | null {
  const found = CANDIDATES.find((path) => path !== undefined && existsSync(path));
  if (found !== undefined) return found;
  if (process.env["HYDRACONF_REQUIRE_SHARED"] === "1")
    throw new Error("Chromium is required here: apt-get install chromium");
  console.warn(`SKIPPED ${what}: needs Chromium (apt-get install chromium, or HYDRACONF_CHROMIUM)`);
  return null;
}

function complaintsOf(page: Page): readonly string[] {
  const complaints: string[] = [];
  page.on("console", (message) => complaints.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("dialog", (dialog) => {
    complaints.push(`dialog ${dialog.message()}`);
    return dialog.dismiss();
  });
  page.on("request", (request) => {
    if (!request.url().startsWith("file:"))
      complaints.push(`request ${request.url().slice(0, 80)}`);
  });
  return complaints;
}
