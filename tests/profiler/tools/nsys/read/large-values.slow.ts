import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import sqlite from "node-sqlite3-wasm";
import { expect, test } from "vitest";
import { call, kernel, range, writeExport } from "../exports.ts";

const root = fileURLToPath(new URL("../../../../..", import.meta.url));

/** What reading the export gives, in a process of its own, and the most memory that it had. */
function readApart(path: string): { said: string; bytes: number } {
  const script = `
    const { readNsysExport } = await import("./src/profiler/tools/nsys/read/read-export.ts");
    let said;
    try {
      const { processes, notes } = readNsysExport(${JSON.stringify(path)});
      said = [...processes.flatMap(({ ranges }) => [...ranges].map(({ name }) => name)), ...notes].join("\\n");
    } catch (error) {
      said = \`\${error.code}: \${error.message}\`;
    }
    process.stdout.write(JSON.stringify({ said, bytes: process.resourceUsage().maxRSS * 1024 }));`;
  const loader = "./scripts/typescript-loader.mjs";
  return JSON.parse(
    execFileSync(process.execPath, ["--import", loader, "--input-type=module", "-e", script], {
      cwd: root,
      encoding: "utf8",
      maxBuffer: 2 ** 31,
    }),
  );
}

/** An export with one value of so many bytes. */
function exportWith(table: string, column: string, value: string): string {
  const path = writeExport({
    NVTX_EVENTS: [{ ...range, binaryData: null }],
    CUPTI_ACTIVITY_KIND_KERNEL: [kernel],
    CUPTI_ACTIVITY_KIND_RUNTIME: [call],
  });
  const database = new sqlite.Database(path);
  database.exec(`UPDATE ${table} SET "${column}" = ${value}`);
  database.close();
  return path;
}

test("texts that are just small enough are read, however many are next to one another", () => {
  const path = writeExport({
    NVTX_EVENTS: Array.from({ length: 500 }, (_, id) => ({ ...range, text: null, textId: id })),
    StringIds: [{ id: 0, value: "first" }],
  });
  const database = new sqlite.Database(path);
  database.exec(
    `WITH RECURSIVE counted(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM counted WHERE id < 499)
      INSERT INTO StringIds SELECT id, printf('%05d', id) || replace(hex(zeroblob(500000)), '0', 'x') FROM counted`,
  );
  database.close();
  try {
    const { said } = readApart(path);
    expect(said.split("\n").filter((name) => name.length === 1_000_005)).toHaveLength(499);
  } finally {
    rmSync(dirname(path), { recursive: true, force: true });
  }
}, 300_000);

test.each([
  [
    "a text of 600 MB",
    "NVTX_EVENTS.text",
    "CAST(zeroblob(600000000) AS TEXT)",
    "(text of 600000000 bytes)",
  ],
  ["a blob of 900 MB", "NVTX_EVENTS.binaryData", "zeroblob(900000000)", ""],
  [
    "a text of 600 MB in the place of a number",
    "CUPTI_ACTIVITY_KIND_KERNEL.start",
    "CAST(zeroblob(600000000) AS TEXT)",
    "nsys.invalid: ",
  ],
])(
  "%s is not read into memory",
  (_, column, value, said) => {
    const [table = "", name = ""] = column.split(".");
    const path = exportWith(table, name, value);
    try {
      const read = readApart(path);
      expect(read.said).toContain(said);
      expect(read.bytes).toBeLessThan(800_000_000);
    } finally {
      rmSync(dirname(path), { recursive: true, force: true });
    }
  },
  300_000,
);
