import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { runMain } from "../../src/cli/hydra-main.ts";
import { appsIn } from "../../src/programs/apps.ts";
import { storeOf, syncStore } from "../../src/programs/store-export.ts";
import { capturedConsole } from "../captured-console.ts";
import { sharedOrSkip } from "../shared.ts";

/** What `hydraconf python sync` wrote of the corpus's programs with the real Hydra. */
const EXPORTS = fileURLToPath(new URL("../fixtures/python-store", import.meta.url));
const CORPUS = join(sharedOrSkip("exports of ConfigStore") ?? "/nowhere", "conformance-python");

interface Case {
  readonly id: string;
  readonly argv: readonly string[];
  readonly exit_code: number;
  readonly stdout: string;
}

/** Cases that need more than the store. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  "nodes-001": "a resolver that the program registers",
  "nodes-009": "a resolver that the program registers",
  "nodes-021": "a resolver that the program registers",
};

describe.skipIf(!existsSync(CORPUS))("programs that register their configs in Python", () => {
  const programs = existsSync(CORPUS)
    ? readdirSync(EXPORTS).map((file) => file.replace(/\.json$/, ""))
    : [];
  test.each(programs)("%s prints what it prints with Hydra", async (name) => {
    const cwd = mkdtempSync(join(tmpdir(), "hydraconf-store-"));
    cpSync(join(CORPUS, name), cwd, { recursive: true });
    const store = storeOf(readFileSync(join(EXPORTS, `${name}.json`), "utf8"));
    const [app] = appsIn(join(cwd, "app.py"), { cwd, env: {} });
    const lines = readFileSync(join(CORPUS, name, "cases.jsonl"), "utf8")
      .trim()
      .split("\n");
    const wrong: unknown[] = [];
    for (const line of lines) {
      const { argv, exit_code, id, stdout } = JSON.parse(line) as Case;
      if (!argv.some((word) => /^--(cfg|info|help)/.test(word))) continue;
      if (id in LEFT_OUT) {
        console.warn(`SKIPPED ${id}: ${LEFT_OUT[id]}`);
        continue;
      }
      const { console: captured, out } = capturedConsole();
      const code = await runMain(
        {
          name: "app",
          base: cwd,
          configPath: app?.configPath ?? null,
          configName: app?.configName ?? null,
          versionBase: "1.3",
          plugins: [],
          store,
        },
        () => undefined,
        { argv, env: {}, cwd, now: new Date(), console: captured },
      );
      const shown = out.stdout.replaceAll(cwd, "<DIR>");
      if (code !== exit_code || shown.trimEnd() !== stdout.trimEnd())
        wrong.push({ id, argv, code, exit_code, shown, stdout });
    }
    expect(wrong).toEqual([]);
  });
});

describe("a sync that fails", () => {
  const sync = (source: string) => {
    const cwd = mkdtempSync(join(tmpdir(), "hydraconf-sync-"));
    writeFileSync(join(cwd, "app.py"), source);
    return syncStore({
      cwd,
      env: { PATH: process.env["PATH"], PYTHONPATH: cwd },
      python: "python3",
      modules: ["app"],
    });
  };

  test("says that the Python has no Hydra, and writes nothing", () => {
    expect(() => sync("")).toThrow(/has no Hydra|No module named/);
  });

  test("names an interpreter that is not there", () => {
    expect(() =>
      syncStore({ cwd: tmpdir(), env: {}, python: "/no/such/python", modules: [] }),
    ).toThrow("/no/such/python");
  });
});
