/** `deep-profile import` in this process, in a folder of the test file's own. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { isCodedError } from "../../../../src/engine/values/errors.ts";
import { runImport } from "../../../../src/profiler/cli/subcommand-lines.ts";
import { capturedConsole } from "../../../captured-console.ts";

export function importer() {
  const cwd = mkdtempSync(join(tmpdir(), "hydraconf import-"));
  afterAll(() => rmSync(cwd, { recursive: true, force: true }));

  /** A refusal is its error. */
  async function importFiles(args: readonly string[], now = new Date(2026, 0, 2, 3, 4, 5)) {
    const { console, out } = capturedConsole();
    const code = await runImport(args, {
      cwd,
      env: { COLUMNS: "100" },
      now,
      console,
    });
    return { code, ...out };
  }

  const refusal = async (args: readonly string[]) => {
    try {
      await importFiles(args);
      return null;
    } catch (error) {
      if (!isCodedError(error)) throw error;
      return error.details;
    }
  };
  return { cwd, importFiles, refusal };
}
