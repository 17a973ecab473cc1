import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { runCompare, runQuery } from "../../../../src/profiler/cli/subcommand-lines.ts";
import type { RegionReportBundle } from "../../../../src/report/model/document.ts";
import { createDocumentValidator } from "../../../../src/report/validation/document-contracts.ts";
import { capturedConsole } from "../../../captured-console.ts";
import { readCsv } from "../../../report/read-csv.ts";
import { importer } from "./importer.ts";

const { cwd, importFiles } = importer();
const text = (...names: readonly string[]) => readFileSync(join(cwd, ...names), "utf8");

/** A table of ncu whose kernels have these names and times in nanoseconds, as they are printed. */
const table = (kernels: readonly (readonly [name: string, time: string])[]) =>
  [
    ["ID", "Process ID", "Kernel Name", "Device", "CC", "gpu__time_duration.sum"],
    ["", "", "", "", "", "nsecond"],
    ...kernels.map(([name, time], at) => [`${at}`, "123", `${name}(int)`, "0", "8.0", time]),
  ]
    .map((cells) => `${cells.map((cell) => `"${cell}"`).join(",")}\n`)
    .join("");

/** A report of these kernels in the folder of that name. */
async function imported(name: string, kernels: Parameters<typeof table>[0]) {
  writeFileSync(join(cwd, `${name}.csv`), table(kernels));
  await importFiles([`${name}.csv`, "-o", name]);
}

const ask = async (run: typeof runQuery, args: readonly string[]) => {
  const { console, out } = capturedConsole();
  const code = await run(args, { cwd, env: {}, now: new Date(), console });
  return { code, ...out };
};

describe("a kernel whose time cannot be read", () => {
  beforeAll(async () => {
    await imported("mixed", [
      ["known", "2000000"],
      ["unread", "-1500"],
      ["half", "1000000"],
      ["half", "-1"],
    ]);
    await imported("whole", [
      ["known", "2000000"],
      ["unread", "3000000"],
      ["half", "1000000"],
      ["half", "1000000"],
    ]);
  });

  test("has no time in the report, and the others keep theirs", () => {
    const bundle = JSON.parse(text("mixed", "ncu/regions/report.json")) as RegionReportBundle;
    const [report] = bundle.reports;
    const [region] = report?.regions ?? [];
    expect(
      region?.kernels.map(({ kernel_name, total_ms, calls, mean_ms }) => [
        ...[kernel_name, total_ms, calls, mean_ms],
      ]),
    ).toEqual([
      ["known(int)", 2, 1, 2],
      ["half(int)", 1, 2, 0.5],
      ["unread(int)", null, 1, null],
    ]);
    expect([region?.total_ms, report?.totals.total_ms]).toEqual([3, 3]);
    expect(createDocumentValidator().validate(bundle)).toEqual([]);
  });

  test("has none in tables", () => {
    expect(text("mixed", "kernels.md")).toMatch(/\| unread\(int\) \|.* – \|/);
    const [titles = [], ...rows] = readCsv(text("mixed", "ncu/regions/kernels.csv"));
    const row = rows.find((cells) => cells.includes("unread(int)"));
    expect(["total_ms", "mean_ms"].map((title) => row?.[titles.indexOf(title)])).toEqual(["", ""]);
  });

  test("has none in answers", async () => {
    const { code, stdout } = await ask(runQuery, ["mixed", "kernels", "--json"]);
    expect(code).toBe(0);
    const document = JSON.parse(stdout);
    expect(createDocumentValidator().validate(document)).toEqual([]);
    expect(document.answer.kernels.at(-1)).toMatchObject({
      ...{ kernel_name: "unread(int)", total_ms: null, mean_ms: null, share_pct: null },
    });
  });

  test("is neither slower nor gone in comparisons", async () => {
    const { code, stdout } = await ask(runCompare, ["mixed", "whole", "--json"]);
    expect(code).toBe(0);
    const kernels: readonly { kernel_name: string; presence: string; changes: object }[] =
      JSON.parse(stdout).kernels;
    const unread = kernels.find(({ kernel_name }) => kernel_name === "unread(int)");
    expect(unread).toMatchObject({ presence: "both" });
    expect(unread?.changes).not.toHaveProperty("total_ms");
  });
});
