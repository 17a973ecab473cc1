import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
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

  // Its warnings are errors: a public symbol without a description, a type that programs cannot
  // name because it is not exported, a link that leads nowhere.
  it("can be made, without a warning", { timeout: 900_000 }, async () => {
    const typedoc = join(root, "node_modules", "typedoc", "bin", "typedoc");
    const { stdout, stderr } = await promisify(execFile)(
      process.execPath,
      [typedoc, "--emit", "none", "--logLevel", "Warn"],
      { cwd: root, env: { ...process.env, NO_COLOR: "1", FORCE_COLOR: "0" } },
    );
    expect(`${stdout}${stderr}`).toBe("");
  });
});
