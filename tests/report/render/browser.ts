import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe } from "vitest";
import { savePage } from "./page.ts";

/** Debian's Chromium, or the one that `HYDRACONF_CHROMIUM` names. */
const CANDIDATES = [process.env["HYDRACONF_CHROMIUM"], "/usr/bin/chromium"];

/** Runs as root in containers too, and asks nobody on the network for anything. */
const ARGUMENTS = [
  "--no-sandbox",
  "--disable-gpu",
  "--in-process-gpu",
  "--renderer-process-limit=1",
  "--disable-extensions",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--disable-crash-reporter",
  "--disable-breakpad",
];

/** How long it may take to start, and to do what it is told: less than a test may. */
const TIMEOUT_MS = 240_000;

/** A page read from disk, and whatever the browser complained about: scripts, dialogs, requests. */
export interface OpenedPage {
  readonly page: Page;
  readonly complaints: readonly string[];
}

/** What a page is opened with, unlike others. */
interface PageOptions {
  readonly viewport?: { readonly width: number; readonly height: number };
  readonly colorScheme?: "light" | "dark";
  readonly reducedMotion?: "reduce";
}

/** Opens a page for one test, after which nothing is left of what it did. */
export type OpenPage = (html: string, options?: PageOptions) => Promise<OpenedPage>;

/** What a page of Playwright's begins with. */
const VIEWPORT = { width: 1280, height: 720 };
const MEDIA = {
  media: null,
  colorScheme: "light",
  reducedMotion: "no-preference",
  forcedColors: "none",
} as const;

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
        timeout: TIMEOUT_MS,
      });
    });
    // The next test gets a page as it was before: that takes a quarter of the time of a new one.
    const idle: Page[] = [];
    const inUse: Page[] = [];
    afterEach(async () => {
      for (const page of inUse.splice(0)) if (await cleared(page)) idle.push(page);
      for (const context of browser.contexts())
        if (!context.pages().some((page) => idle.includes(page))) await context.close();
    });
    afterAll(async () => {
      await browser?.close();
      rmSync(home, { recursive: true, force: true, maxRetries: 5 });
    });
    tests(async (html, { viewport = VIEWPORT, ...media } = {}) => {
      const page = idle.pop() ?? (await browser.newPage());
      inUse.push(page);
      page.setDefaultTimeout(TIMEOUT_MS);
      await page.setViewportSize(viewport);
      await page.emulateMedia({ ...MEDIA, ...media });
      const complaints = complaintsOf(page);
      await page.goto(savePage(html));
      return { page, complaints };
    });
  });
}

/** Whether nothing is left in a page of what a test did with it. */
async function cleared(page: Page): Promise<boolean> {
  if (page.isClosed()) return false;
  const others = page
    .context()
    .pages()
    .filter((one) => one !== page);
  for (const other of others) await other.close();
  await page.evaluate("localStorage.clear(); sessionStorage.clear()");
  for (const name of ["console", "pageerror", "dialog", "request"]) page.removeAllListeners(name);
  await page.mouse.move(0, 0);
  await page.goto("about:blank");
  return true;
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
    // What a page makes of its own text is no request either.
    if (!/^(?:file|blob):/.test(request.url()))
      complaints.push(`request ${request.url().slice(0, 80)}`);
  });
  return complaints;
}
