import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { afterEach, expect, test } from "vitest";
import { servePlayground, sitePage } from "../../../src/playground/server/serve.ts";
import { describeInBrowser, type OpenPage } from "../../report/render/browser.ts";
import { FAINT } from "../../report/render/contrast.ts";
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

/** What a screen reader would read without a name. */
const NAMED = [
  "button",
  "checkbox",
  "combobox",
  "list",
  "listbox",
  "region",
  "tab",
  "table",
  "textbox",
];

async function nameless(page: Page): Promise<readonly string[]> {
  const session = await page.context().newCDPSession(page);
  const { nodes } = await session.send("Accessibility.getFullAXTree");
  await session.detach();
  const shown = nodes.filter(({ ignored, role }) => !ignored && NAMED.includes(role?.value));
  // The tree is that of the page, and not an empty one.
  expect(shown.length).toBeGreaterThan(10);
  return shown.flatMap(({ name, role }) => (name?.value ? [] : [String(role?.value)]));
}

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

  test("typing does not wait for the worker, which is asked of the last text alone", async () => {
    const opened = await open("<p></p>");
    // A page of its own: what it begins with would stay.
    const context = await opened.page.context().browser()?.newContext();
    if (context === undefined) throw new Error("there is no browser");
    const page = await context.newPage();
    await page.addInitScript(`{
      const Started = Worker;
      globalThis.held = [];
      globalThis.asked = [];
      globalThis.Worker = class extends Started {
        postMessage(message) {
          if (message.name === "view") asked.push(message.request.call.overrides.join(" "));
          if (globalThis.holds) held.push(() => super.postMessage(message));
          else super.postMessage(message);
        }
      };
    }`);
    await page.goto(await serve(tree()));
    await shows(page, "#panel-config .cm-line", "port: 3306");
    await page.evaluate(`{
      holds = true;
      asked.length = 0;
      globalThis.wrong = 0;
      new MutationObserver(() => { wrong += document.querySelectorAll(".cm-wrong").length; })
        .observe(document.body, { childList: true, subtree: true });
    }`);
    await overrides(page).focus();
    // Each of its parts is a mistake.
    await page.keyboard.type("db=pg");
    expect(await overrides(page).textContent()).toBe("db=pg");
    expect(await config(page).textContent()).toContain("port: 3306");
    expect(await page.evaluate("asked")).toEqual(["d"]);
    await page.evaluate("{ holds = false; for (const send of held.splice(0)) send(); }");
    await shows(page, "#panel-config .cm-line", "port: 5432");
    expect(await page.evaluate("asked")).toEqual(["d", "db=pg"]);
    expect(await page.evaluate("wrong")).toBe(0);
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

  test("each file is shown where it was left", async () => {
    const long = (key: string) =>
      Array.from({ length: 400 }, (_, at) => `${key}${at}: ${at}\n`).join("");
    const texts = { ...SAMPLE, "extra/first.yaml": long("a"), "extra/second.yaml": long("b") };
    const { complaints, page } = await openServed(open, await serve(tree(texts)));
    await page.getByRole("tab", { name: "Files" }).click();
    const choose = (name: string) => page.getByRole("button", { name, exact: true }).click();
    await choose("extra/first.yaml");
    await page.getByLabel("File extra/first.yaml").focus();
    await page.keyboard.press("Control+End");
    await shows(page, "#panel-files .cm-line", "a399: 399");
    await choose("extra/second.yaml");
    await shows(page, "#panel-files .cm-line", "b0: 0");
    await choose("extra/first.yaml");
    await shows(page, "#panel-files .cm-line", "a399: 399");
    expect(complaints).toEqual([]);
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

  test("of two pages that change one file, the second is told, and can see the first one's text", async () => {
    const place = tree();
    const address = await serve(place, true);
    const pages = [await openServed(open, address), await openServed(open, address)] as const;
    for (const [at, { page }] of pages.entries()) {
      await page.getByRole("tab", { name: "Files" }).click();
      await page.getByRole("button", { name: "db/mysql.yaml", exact: true }).click();
      await page.getByLabel("File db/mysql.yaml").focus();
      await page.keyboard.press("Control+End");
      await page.keyboard.type(`more: ${at}`);
      await shows(page, "#panel-config .cm-line", `more: ${at}`);
      await page.keyboard.press("Control+s");
      if (at === 0) await shows(page, ".said", "db/mysql.yaml saved");
    }
    const [, { page: second }] = pages;
    await shows(second, ".problems", "was changed on the disk since it was read");
    expect(readFileSync(join(place, "db/mysql.yaml"), "utf8")).toContain("more: 0");
    await second.getByRole("button", { name: "Revert" }).click();
    await shows(second, "#panel-files .cm-line", "more: 0");
    await second.getByLabel("File db/mysql.yaml").focus();
    await second.keyboard.press("Control+End");
    await second.keyboard.type("1");
    await second.keyboard.press("Control+s");
    await shows(second, ".said", "db/mysql.yaml saved");
    expect(readFileSync(join(place, "db/mysql.yaml"), "utf8")).toContain("more: 01");
  });

  test("a file that is gone is closed, and the page outlives its server", async () => {
    const place = tree();
    const { page } = await openServed(open, await serve(place, true));
    await page.getByRole("tab", { name: "Files" }).click();
    await page.getByRole("button", { name: "db/pg.yaml", exact: true }).click();
    await shows(page, ".file-name", "conf/db/pg.yaml");
    rmSync(join(place, "db/pg.yaml"));
    await page.evaluate("dispatchEvent(new Event('focus'))");
    await shows(page, ".file-name", "Choose a file");
    await page.locator(".opened").waitFor({ state: "hidden" });
    for (const end of ends.splice(0)) await end();
    await page.getByRole("button", { name: "db/mysql.yaml", exact: true }).click();
    await page.getByLabel("File db/mysql.yaml").focus();
    await page.keyboard.press("Control+End");
    await page.keyboard.type("more: 5");
    await shows(page, "#panel-config .cm-line", "more: 5");
    await page.keyboard.press("Control+s");
    await shows(page, ".problems", "The server of this page does not answer");
    await shows(page, ".problems", "is hydraconf open still running?");
    expect(await page.getByRole("button", { name: "Save" }).isEnabled()).toBe(true);
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

  test.each(["light", "dark"] as const)(
    "everything has a name, and contrast in %s colours",
    async (colorScheme) => {
      const link = "#overrides=db=pg,mysql+debug=1&file=db/pg.yaml&compared=db=no";
      const address = `${await serve(tree(), true)}${link}`;
      const { page } = await openServed(open, address, { colorScheme });
      await shows(page, ".jobs", "A sweep of 2 jobs");
      const look = async (what: string) => {
        expect(await page.evaluate(FAINT), what).toEqual([]);
        expect(await nameless(page), what).toEqual([]);
      };
      for (const name of ["Options", "Files", "Config", "Difference", "Defaults"]) {
        await page.getByRole("tab", { name }).click();
        if (name === "Difference")
          await shows(page, "#panel-difference .problems", "Could not find");
        if (name === "Defaults") await shows(page, ".picture", "db: pg");
        await look(name);
      }
      await page.getByRole("tab", { name: "Difference" }).click();
      await page.getByLabel("Overrides of the compared command line").focus();
      await page.keyboard.press("Control+a");
      await page.keyboard.type("debug=2 ");
      await shows(page, ".differences", "debug");
      await look("differences");
      // A mistake, and what is shown beside it.
      await overrides(page).focus();
      await page.keyboard.press("End");
      await page.keyboard.type(" db.prot=");
      await shows(page, ".problems", "Did you mean db.port?");
      await look("a mistake");
    },
  );

  test("a large tree fits, and its files are reached by keyboard", async () => {
    const names = Array.from({ length: 300 }, (_, at) => `many/option${at + 1000}.yaml`);
    const large = { ...SAMPLE, ...Object.fromEntries(names.map((name) => [name, "a: 1\n"])) };
    const address = await serve(tree(large));
    const viewport = { width: 390, height: 844 };
    const { page } = await openServed(open, `${address}#tab=files&file=${names[200]}`, {
      viewport,
    });
    const list = page.locator(".files");
    const height = await list.evaluate(({ clientHeight }) => clientHeight);
    expect(height).toBeLessThan(viewport.height / 2);
    // The open file is seen, and Tab goes to it; arrow keys go on.
    const current = page.getByRole("button", { name: String(names[200]), exact: true });
    const top = await current.evaluate((one) => one.getBoundingClientRect().top);
    const listTop = await list.evaluate((one) => one.getBoundingClientRect().top);
    expect(top).toBeGreaterThanOrEqual(listTop);
    expect(top).toBeLessThan(listTop + height);
    await page.getByRole("tab", { name: "Files" }).focus();
    for (let at = 0; at < 5; at++) {
      if (await hasFocus(current)) break;
      await page.keyboard.press("Tab");
    }
    expect(await hasFocus(current)).toBe(true);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await shows(page, ".file-name", `conf/${names[201]}`);
    await page.keyboard.press("Tab");
    const file = page.getByLabel(`File ${names[201]}`);
    expect(await hasFocus(file)).toBe(true);
  });

  test("without a config the groups of the tree are there", async () => {
    const broken = { ...SAMPLE, "db/mysql.yaml": "port: [1\n" };
    const { page } = await openServed(open, await serve(tree(broken)));
    await shows(page, ".problems", "db/mysql.yaml:2");
    await page.getByLabel("db", { exact: true }).selectOption("pg");
    await shows(page, "#panel-config .cm-line", "port: 5432");
  });

  test("is a page without a server, too", async () => {
    const { complaints, page } = await open(sitePage({ ...ABOUT, place: tree() }));
    await overrides(page).focus();
    await page.keyboard.type("db=pg ");
    await shows(page, "#panel-config .cm-line", "port: 5432");
    expect(complaints).toEqual([]);
  });
});
