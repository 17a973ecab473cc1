import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { listFiles } from "./files.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const pictures = join(root, "docs", "pictures");

interface Reference {
  /** Relative to the repository. */
  readonly page: string;
  /** As the page names it. */
  readonly target: string;
  /** Null where another form of a picture is named, whose text counts. */
  readonly alt: string | null;
}

/** Pictures of our own that a page shows, as Markdown or as HTML. */
function picturesOf(page: string): readonly Reference[] {
  const text = readFileSync(join(root, page), "utf8");
  const attribute = (tag: string, name: string) =>
    new RegExp(`\\b${name}="([^"]*)"`).exec(tag)?.[1] ?? "";
  return [
    ...[...text.matchAll(/!\[([^\]]*)\]\(([^)]+)\)/g)].map(([, alt = "", target = ""]) => ({
      page,
      target,
      alt,
    })),
    ...[...text.matchAll(/<img\b[^>]*>/g)].map(([tag]) => ({
      page,
      target: attribute(tag, "src"),
      alt: attribute(tag, "alt"),
    })),
    ...[...text.matchAll(/<source\b[^>]*>/g)].map(([tag]) => ({
      page,
      target: attribute(tag, "srcset"),
      alt: null,
    })),
  ].filter(({ target }) => !/^https?:/.test(target));
}

const pages = [
  "README.md",
  ...listFiles(join(root, "docs"), ".md").map((file) => relative(root, file)),
];
const references = pages.flatMap(picturesOf);
const made = execFileSync(process.execPath, ["scripts/docs-pictures.mjs", "--list"], {
  cwd: root,
  encoding: "utf8",
})
  .trim()
  .split("\n");

describe("the documentation's pictures", () => {
  it("are there, and say what they show", () => {
    expect(references.length).toBeGreaterThan(4);
    for (const { page, target, alt } of references) {
      const file = join(root, dirname(page), target);
      expect(relative(pictures, file), `${page} shows a picture of the script's`).not.toMatch(
        /^\.\./,
      );
      expect(statSync(file).size, target).toBeGreaterThan(1000);
      if (alt !== null) expect(alt.length, `${page}: ${target}`).toBeGreaterThan(20);
    }
  });

  it("are all made by the script, and all shown", () => {
    expect(readdirSync(pictures).sort()).toEqual([...made].sort());
    const shown = new Set(
      references.map(({ page, target }) => relative(pictures, join(root, dirname(page), target))),
    );
    expect([...shown].sort()).toEqual([...made].sort());
  });

  it("are small", () => {
    const sizes = made.map((name) => statSync(join(pictures, name)).size);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(150_000);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(600_000);
  });

  it("hold no text of where they were made", () => {
    for (const name of made) {
      const text = readFileSync(join(pictures, name), "latin1");
      expect(text).not.toMatch(/\/(?:home|work|tmp|Users)\//);
      // PNG files of ours have no comments, times or profiles.
      if (name.endsWith(".png")) expect(text).not.toMatch(/tEXt|iTXt|zTXt|tIME|eXIf|iCCP/);
    }
  });
});
