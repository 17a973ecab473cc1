import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { inflateSync } from "node:zlib";
import { describe, expect, it } from "vitest";

const site = mkdtempSync(join(tmpdir(), "site-"));
const root = fileURLToPath(new URL("../..", import.meta.url));

interface SearchData {
  readonly rows: readonly { readonly url: string }[];
  readonly index: {
    readonly invertedIndex: readonly (readonly [
      string,
      { readonly _index: number; readonly [field: string]: object | number },
    ])[];
  };
}

describe("the documentation as a site", () => {
  // Its warnings are errors: a public symbol without a description, a type that programs cannot
  // name because it is not exported, a link that leads nowhere.
  it("can be made, without a warning", { timeout: 900_000 }, async () => {
    const script = join(root, "scripts", "docs-site.mjs");
    const { stdout, stderr } = await promisify(execFile)(
      process.execPath,
      [script, "--out", site, "--logLevel", "Warn"],
      { cwd: root, env: { ...process.env, NO_COLOR: "1", FORCE_COLOR: "0" } },
    );
    expect(`${stdout}${stderr}`).toBe("");
  });

  it("has a config tree to try, which its page leads to", () => {
    const page = readFileSync(join(site, "documents", "docs_playground.html"), "utf8");
    expect(page).toContain('<a href="../playground.html">the page with a sample tree</a>');
    const tree = readFileSync(join(site, "playground.html"), "utf8");
    expect(tree).toContain("optimizer/decaying.yaml");
    expect(tree).not.toContain("connect-src");
  });

  it("finds the words of its pages", () => {
    const script = readFileSync(join(site, "assets", "search.js"), "utf8");
    const packed = /"([A-Za-z0-9+/=]+)"/.exec(script)?.[1] ?? "";
    const { index, rows }: SearchData = JSON.parse(
      String(inflateSync(Buffer.from(packed, "base64"))),
    );
    // A word has the rows of each field; the words of Lunr's index may be stems.
    const found = index.invertedIndex
      .filter(([word]) => word.startsWith("kubernet"))
      .flatMap(([, { _index, ...fields }]) => Object.values(fields))
      .flatMap((places) => Object.keys(places).map((row) => rows[Number(row)]?.url));
    expect(found).toContain("documents/docs_environment.html");
  });
});
