import { cpSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { expect, it } from "vitest";

/** What `docs/first-change.md` says, done word for word in a copy. */

const root = fileURLToPath(new URL("../..", import.meta.url));
const TEST = "tests/engine/values/resolution/builtin-resolvers.test.ts";
const SOURCE = "src/engine/values/resolution/builtin-resolvers.ts";

const page = readFileSync(join(root, "docs/first-change.md"), "utf8");
const [addedTest = "", addedSource = ""] = [...page.matchAll(/```ts\n([\s\S]*?)```/g)].map(
  ([, code]) => code ?? "",
);

it("the page leads from a failing test to one that passes", async () => {
  const clone = mkdtempSync(join(tmpdir(), "hydraconf-first-change-"));
  for (const path of [
    "src/engine/values",
    "src/foundation/text",
    "src/foundation/system",
    "tests/engine/values/trees.ts",
    TEST,
  ]) {
    mkdirSync(dirname(join(clone, path)), { recursive: true });
    cpSync(join(root, path), join(clone, path), { recursive: true });
  }
  cpSync(join(root, "package.json"), join(clone, "package.json"));
  symlinkSync(join(root, "node_modules"), join(clone, "node_modules"));
  const runTest = () =>
    execa(
      process.execPath,
      [join(root, "node_modules/vitest/vitest.mjs"), "run", "--root", clone, TEST],
      { cwd: clone, reject: false, all: true },
    );

  writeFileSync(join(clone, TEST), readFileSync(join(root, TEST), "utf8") + addedTest);
  const failing = await runTest();
  expect(failing.exitCode).toBe(1);
  expect(failing.all).toContain("Unsupported interpolation type text.upper");
  expect(failing.all).toMatch(/Tests .*1 failed/);

  const source = readFileSync(join(root, SOURCE), "utf8");
  const list = "/** The resolvers of every context, ";
  const first = "builtinResolvers: readonly Resolver[] = [\n";
  expect(source).toContain(list);
  expect(source).toContain(first);
  writeFileSync(
    join(clone, SOURCE),
    source.replace(list, () => `${addedSource}\n${list}`).replace(first, `${first}  textUpper,\n`),
  );
  const passing = await runTest();
  expect(passing.all).not.toContain("failed");
  expect(passing.exitCode).toBe(0);
});
