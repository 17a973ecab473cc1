import { execFile } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));

describe("the documentation as a site", () => {
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
