import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const options = JSON.parse(readFileSync(join(root, "typedoc.json"), "utf8"));

describe("the documentation as a site", () => {
  it("has every page of docs", () => {
    const pages = readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md"));
    expect(options.projectDocuments).toEqual(
      expect.arrayContaining(pages.map((page) => `docs/${page}`)),
    );
  });
});
