import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { listFiles } from "./files.ts";

const source = fileURLToPath(new URL("../../src", import.meta.url));

/**
 * What has a standard stream in its hands. All else writes to a `Console`, which sends a terminal no foreign control
 * character (`writerTo` of src/foundation/text/printable.ts).
 */
const ALLOWED: Readonly<Record<string, string>> = {
  "bin/validate-regions.ts": "makes its console, by writerTo",
  "app/job/process/invocation.ts": "makes the console, by writerTo",
  "profiler/machine/process.ts": "copies what the profiled program prints, as it prints it",
  "profiler/tools/tool.ts": "draws the status line, of printable text",
  "python/command-task.ts": "copies what a job's program prints, as it prints it",
  "foundation/system/platform-types.ts": "names their type",
  "foundation/system/standard-streams.ts": "asks for their widths and errors",
};

test("only these files write to standard streams themselves", () => {
  const found = listFiles(source, ".ts").flatMap((file) => {
    const text = readFileSync(file, "utf8");
    const uses =
      /\bprocess\.std(?:out|err)\b|\bstandardStream\(|\bconsole\.(?:log|error|warn|info|debug)\(|writeSync\([12],/;
    return uses.test(text) && !/client/.test(file) ? [relative(source, file)] : [];
  });
  expect(found.sort()).toEqual(Object.keys(ALLOWED).sort());
});
