import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { afterEach, expect, test } from "vitest";
import { servePlayground, sitePage } from "../../../src/playground/server/serve.ts";
import { describeInBrowser, type OpenPage } from "../../report/render/browser.ts";
import { SAMPLE, treeOf } from "../sample.ts";

const { canWrite: _, files: __, notes: ___, ...ABOUT } = treeOf({});
const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

function tree(texts: Readonly<Record<string, string>> = SAMPLE): string {
  const place = mkdtempSync(join(tmpdir(), "playground-"));
  for (const [path, text] of Object.entries(texts)) {
    mkdirSync(dirname(join(place, path)), { recursive: true });
    writeFileSync(join(place, path), text);
  }
  return place;
}

async function serve(place: string, canWrite = false): Promise<string> {
  const stop = new AbortController();
  let ended: Promise<void> | undefined;
  const address = await new Promise<string>((onAddress, reject) => {
    const { signal } = stop;
    ended = servePlayground({ ...ABOUT, place, canWrite, port: 0, signal, onAddress });
    ended.catch(reject);
  });
  ends.push(async () => {
    stop.abort();
    await ended;
  });
  return address;
}

/** The page of a server; what the browser complains of are scripts and the policy. */
async function openServed(open: OpenPage, address: string, options = {}) {
  const { page } = await open("<p></p>", options);
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  // Where marked text is typed over, Chromium tries to keep its look by a style attribute; the policy refuses that, as it should.
  page.on("console", (message) => {
    if (!message.text().startsWith("Applying inline style")) complaints.push(message.text());
  });
  await page.goto(address);
  await config(page).waitFor({ state: "attached" });
  return { page, complaints };
}

const hasFocus = (element: Locator): Promise<boolean> =>
  element.evaluate((one) => one === one.ownerDocument.activeElement);

const config = (page: Page) => page.getByLabel("Composed config");
const overrides = (page: Page) => page.getByLabel("Overrides", { exact: true });

/** Until the element has the text. */
const shows = (page: Page, selector: string, text: string) =>
  page.locator(selector, { hasText: text }).first().waitFor();

describeInBrowser("hydraconf open", (open) => {
  test("composes what is typed, and tells where a value comes from, by keyboard alone", async () => {
    const { complaints, page } = await openServed(open, await serve(tree()));
    // From the head of the page to the line: three controls before it.
    for (let at = 0; at < 4; at++) await page.keyboard.press("Tab");
    expect(await hasFocus(overrides(page))).toBe(true);
    await page.keyboard.type("db=p");
    await shows(page, ".cm-tooltip-autocomplete li[aria-selected]", "db=pg");
    // While options are renewed, none can be taken.
    await shows(page, ".cm-tooltip-autocomplete:not(.cm-tooltip-autocomplete-disabled)", "db=pg");
    await page.keyboard.press("Tab");
    await page.keyboard.type(" db.port=1");
    await shows(page, "#panel-config .cm-override", "port: 1");
    await page.keyboard.press("Escape");
    // On to the tabs, the switch, the config.
    for (let at = 0; at < 20; at++) {
      if (await hasFocus(config(page))) break;
      await page.keyboard.press("Tab");
    }
    await page.keyboard.press("Control+Home");
    for (let at = 0; at < 2; at++) await page.keyboard.press("ArrowDown");
    await shows(page, ".origin", "db.port = 1");
    const origin = await page.locator(".origin").textContent();
    expect(origin).toContain("set by override 'db.port=1'");
    expect(origin).toContain("replaced 5432 of conf/db/pg.yaml:2:7");
    // A place leads to its file.
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await shows(page, "#panel-files .cm-shown", "port: 5432");
    expect(complaints).toEqual([]);
  });

  test("underlines and explains a mistake, and keeps the last good config", async () => {
    const { complaints, page } = await openServed(open, await serve(tree()));
    await overrides(page).focus();
    await page.keyboard.type("db.prot=1 ");
    await shows(page, ".line .cm-wrong", "db.prot");
    await shows(page, ".problems", "Did you mean db.port?");
    expect(await config(page).textContent()).toContain("port: 3306");
    await page.keyboard.press("Control+a");
    await page.keyboard.type("db.port=1 ");
    await page.locator(".problems").waitFor({ state: "hidden" });
    expect(complaints).toEqual([]);
  });

  test("menus write overrides, and other panels follow", async () => {
    const { complaints, page } = await openServed(open, await serve(tree()));
    await page.getByLabel("db", { exact: true }).selectOption("pg");
    await shows(page, "[aria-label=Overrides]", "db=pg");
    await page.getByText("Groups that the config does not have").click();
    await page.getByLabel("extra", { exact: true }).selectOption("more");
    await shows(page, "[aria-label=Overrides]", "db=pg +extra=more");
    await page.getByRole("tab", { name: "Difference" }).click();
    await shows(page, ".differences", "db.driver");
    expect(await page.locator(".differences tbody tr").count()).toBe(4);
    await page.getByRole("tab", { name: "Defaults" }).click();
    await shows(page, ".picture", "extra: more");
    await page.getByRole("button", { name: /^db: pg/ }).press("Enter");
    await shows(page, ".file-name", "conf/db/pg.yaml");
    expect(complaints).toEqual([]);
  });

  test("a link holds what is looked at", async () => {
    const address = await serve(tree());
    const link = "#config=config&overrides=db%3Dpg&tab=difference&compared=debug%3Dtrue";
    const edits = encodeURIComponent(
      JSON.stringify({ "db/pg.yaml": { text: "port: 7\n", version: "" } }),
    );
    const { page } = await openServed(open, `${address}${link}&edits=${edits}`);
    await shows(page, ".differences", "debug");
    expect(await config(page).textContent()).toContain("port: 7");
    // What changes is in the link, in time.
    await overrides(page).focus();
    await page.keyboard.press("End");
    await page.keyboard.type(" debug=true");
    await page.waitForURL(/overrides=db%3Dpg\+debug%3Dtrue/);
  });

  test("a sweep lists its jobs, and a link with a mistake shows the config without it", async () => {
    const address = await serve(tree());
    const { complaints, page } = await openServed(open, `${address}#overrides=db=pg,mysql`);
    await shows(page, ".jobs", "A sweep of 2 jobs");
    await shows(page, "#panel-config .cm-line", "port: 5432");
    expect(await page.getByRole("list", { name: "Jobs" }).getByRole("listitem").count()).toBe(2);
    await shows(page, ".program", "--multirun");
    await page.goto("about:blank");
    await page.goto(`${address}#overrides=db=pg+no.such=1`);
    await shows(page, "#panel-config .cm-line", "port: 5432");
    await shows(page, "#panel-config .hint", "The config without no.such=1:");
    await page.locator(".jobs").waitFor({ state: "hidden" });
    await page.getByLabel("db", { exact: true }).selectOption("mysql");
    await shows(page, "[aria-label=Overrides]", "no.such=1");
    expect(complaints).toEqual([]);
  });

  test("files are edited, saved, and not saved over other changes", async () => {
    const place = tree();
    const { complaints, page } = await openServed(open, await serve(place, true));
    await page.getByRole("tab", { name: "Files" }).click();
    await page.getByRole("button", { name: "db/mysql.yaml", exact: true }).click();
    const file = page.getByLabel("File db/mysql.yaml");
    await file.focus();
    await page.keyboard.press("Control+End");
    await page.keyboard.type("more: 5");
    await shows(page, "#panel-config .cm-line", "more: 5");
    await page.keyboard.press("Control+s");
    await shows(page, ".said", "db/mysql.yaml saved");
    const saved = readFileSync(join(place, "db/mysql.yaml"), "utf8");
    expect(saved).toBe(`${SAMPLE["db/mysql.yaml"]}more: 5`);
    writeFileSync(join(place, "db/mysql.yaml"), "driver: other\n");
    await page.keyboard.type("6");
    await shows(page, "#panel-config .cm-line", "more: 56");
    await page.keyboard.press("Control+s");
    await shows(page, ".problems", "was changed on the disk");
    expect(readFileSync(join(place, "db/mysql.yaml"), "utf8")).toBe("driver: other\n");
    // The refusal is in the browser's log, too.
    expect(complaints.filter((one) => !one.includes("409"))).toEqual([]);
  });

  test("a file with CRLF is as it was when it is opened, and saved with CRLF", async () => {
    const place = tree({ ...SAMPLE, "db/pg.yaml": "driver: pg\r\nport: 5432\r\n" });
    const { complaints, page } = await openServed(open, await serve(place, true));
    await page.getByRole("tab", { name: "Files" }).click();
    await page.getByRole("button", { name: "db/pg.yaml", exact: true }).click();
    await shows(page, ".file-name", "conf/db/pg.yaml");
    expect(await page.getByRole("button", { name: "Save" }).isDisabled()).toBe(true);
    await page.getByLabel("File db/pg.yaml").focus();
    await page.keyboard.press("Control+End");
    await page.keyboard.type("more: 5");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "db/pg.yaml, changed" }).waitFor();
    await page.keyboard.press("Control+s");
    await shows(page, ".said", "db/pg.yaml saved");
    const saved = readFileSync(join(place, "db/pg.yaml"), "utf8");
    expect(saved).toBe("driver: pg\r\nport: 5432\r\nmore: 5\r\n");
    await page.getByRole("button", { name: "db/pg.yaml", exact: true }).waitFor();
    expect(complaints).toEqual([]);
  });

  test("an edit is not saved over what was read from the disk since, and outlives its file", async () => {
    const place = tree();
    const path = join(place, "db/mysql.yaml");
    const { complaints, page } = await openServed(open, await serve(place, true));
    const comeBack = () => page.evaluate("dispatchEvent(new Event('focus'))");
    await page.getByRole("tab", { name: "Files" }).click();
    await page.getByRole("button", { name: "db/mysql.yaml", exact: true }).click();
    await page.getByLabel("File db/mysql.yaml").focus();
    await page.keyboard.press("Control+End");
    await page.keyboard.type("more: 5");
    await shows(page, "#panel-config .cm-line", "more: 5");
    writeFileSync(path, "driver: other\n");
    await comeBack();
    await shows(page, ".problems", "was changed on the disk, and here");
    await page.keyboard.press("Control+s");
    await shows(page, ".problems", "was changed on the disk since it was read");
    expect(readFileSync(path, "utf8")).toBe("driver: other\n");
    rmSync(path);
    await comeBack();
    await shows(page, ".problems", "was removed from the disk");
    await page.keyboard.type("6");
    await shows(page, "#panel-config .cm-line", "more: 56");
    await page.getByRole("button", { name: "Revert" }).click();
    await page.getByRole("button", { name: /^db\/mysql.yaml/ }).waitFor({ state: "detached" });
    expect(complaints.filter((one) => !one.includes("409"))).toEqual([]);
  });

  test.each(["light", "dark"] as const)("fits a telephone, in %s colours", async (colorScheme) => {
    const viewport = { width: 390, height: 844 };
    const { complaints, page } = await openServed(open, await serve(tree()), {
      viewport,
      colorScheme,
    });
    for (const name of ["Options", "Files", "Config", "Difference", "Defaults"]) {
      await page.getByRole("tab", { name }).click();
      expect(await page.getByRole("tabpanel").count()).toBe(1);
      const width = await page.evaluate("document.documentElement.scrollWidth");
      expect(width, name).toBeLessThanOrEqual(390);
    }
    expect(complaints).toEqual([]);
  });

  test("is a page without a server, too", async () => {
    const { complaints, page } = await open(sitePage({ ...ABOUT, place: tree() }));
    await overrides(page).focus();
    await page.keyboard.type("db=pg ");
    await shows(page, "#panel-config .cm-line", "port: 5432");
    expect(complaints).toEqual([]);
  });
});
