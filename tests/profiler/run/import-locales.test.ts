import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { RegionReportBundle } from "../../../src/report/model/document.ts";
import { importer } from "./import-files/importer.ts";

const { cwd, importFiles } = importer();

const HEADER = [
  ...["ID", "Process ID", "Process Name", "Host Name"],
  "thread Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg",
  "Id:Domain:Start/Stop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg",
  ...["Kernel Name", "Context", "Stream", "Block Size", "Grid Size", "Device", "CC"],
  ...[
    "gpu__time_duration.sum",
    "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "dram__bytes.sum",
  ],
];

const quoted = (cells: readonly string[]) => cells.map((cell) => `"${cell}"`).join(",");

/** A raw page of ncu: of each kernel its region and the cells of its metrics. */
function table(
  units: readonly string[],
  kernels: readonly (readonly [region: string, kernel: string, ...cells: string[]])[],
): string {
  const rows = kernels.map(([region, kernel, ...cells], id) =>
    quoted([
      ...[`${id}`, "123", "app", "127.0.0.1"],
      `7  ""<default domain>:${region}:none:none:none:none:none:none"" `,
      ...["", kernel, "1", "7", "(128, 1, 1)", "(64, 1, 1)", "0", "8.0"],
      ...cells,
    ]),
  );
  return `${[quoted(HEADER), quoted([...Array(13).fill(""), ...units]), ...rows].join("\n")}\n`;
}

let outputs = 0;

async function imported(text: string, ...flags: readonly string[]) {
  const out = `out-${outputs++}`;
  writeFileSync(join(cwd, "a.csv"), text);
  const { code, stderr, stdout } = await importFiles(["a.csv", "-o", out, ...flags]);
  const { reports }: RegionReportBundle = JSON.parse(
    readFileSync(join(cwd, out, "ncu/regions/report.json"), "utf8"),
  );
  const [report] = reports;
  const times = Object.fromEntries(
    (report?.regions ?? []).map(({ name, total_ms }) => [name, total_ms]),
  );
  return { code, stderr, stdout, times, report };
}

const US = ["usecond", "%", "Kbyte"];
const NS = ["nsecond", "%", "byte"];

describe("the CSV of an ncu in another locale", () => {
  test.each([
    ["French", "\u202f", ","],
    ["Swedish", "\u00a0", ","],
    ["with blanks", " ", ","],
    ["Swiss", "\u2019", "."],
  ])("has its times: %s", async (_, group, decimal) => {
    const cells = (...texts: readonly string[]) => texts.map((text) => text.replace(".", decimal));
    const { code, times } = await imported(
      table(US, [
        ["A", "k1(int)", ...cells(`1${group}500.25`, "50.00", "1.00")],
        ["A", "k2(float)", ...cells("2.50", "25.00", "3.00")],
        ["B", "k1(int)", ...cells("0.50", "10.00", "0.50")],
      ]),
    );
    expect([code, times["A"], times["B"]]).toEqual([0, expect.closeTo(1.50275, 9), 0.0005]);
  });

  test("may have exponents", async () => {
    const { code, report } = await imported(
      table(NS, [
        ["A", "k1(int)", "1.5E3", "50.00", "1,000"],
        ["A", "k2(float)", "2,500", "25.00", "3,000"],
      ]),
    );
    expect(code).toBe(0);
    expect(
      report?.regions[0]?.kernels.map(({ kernel_name, total_ms }) => [kernel_name, total_ms]),
    ).toEqual([
      ["k2(float)", 0.0025],
      ["k1(int)", 0.0015],
    ]);
  });

  test("is read as --locale says, by any name of CLDR", async () => {
    const text = table(NS, [["A", "k1(int)", "1,500", "50", "1"]]);
    expect((await imported(text, "--locale", "fr-CH")).times["A"]).toBe(1.5e-6);
    expect((await imported(text, "--locale", "en_US.UTF-8")).times["A"]).toBe(0.0015);
  });

  test("has no unknown name", async () => {
    writeFileSync(join(cwd, "a.csv"), table(NS, [["A", "k", "1", "1", "1"]]));
    await expect(importFiles(["a.csv", "-o", "out", "--locale", "klingon"])).rejects.toThrow(
      "--locale: 'klingon' is not a known locale",
    );
  });
});

describe("what cannot be read of a CSV of ncu", () => {
  test("is counted, and a time is missing then, never 0", async () => {
    const { code, report, stdout, times } = await imported(
      table(NS, [["A", "k1(int)", "1.5x", "50.00", "1"]]),
    );
    expect([code, times["A"], report?.totals.total_ms]).toEqual([0, null, null]);
    expect(stdout.replace(/\s+/g, " ")).toContain(
      "1 number could not be read, and is missing; it is '1.5x' (gpu__time_duration.sum of result 0)",
    );
    // The metric is there.
    expect(stdout).not.toContain("collect that metric");
    expect(report?.regions[0]?.notes.join()).toMatch(/time is missing in the sums$/);
  });

  test.each(["-1500", "18446744073709551615"])(
    "is a time that cannot be true, with its cell: %s",
    async (time) => {
      const { code, stderr, stdout, times } = await imported(
        table(NS, [
          ["A", "k1(int)", time, "50.00", "1000"],
          ["B", "k1(int)", "2500", "50.00", "1000"],
        ]),
      );
      expect([code, times["A"], times["B"]]).toEqual([1, null, 0.0025]);
      expect(stdout.replace(/\s+/g, " ")).toContain(
        `1 time cannot be true, and is missing: no time is negative; it is '${time}' (gpu__time_duration.sum of result 0)`,
      );
      expect(stderr).toContain("a.csv is truncated or damaged");
    },
  );

  test("ends with exit code 1 where a row is cut", async () => {
    const text = table(NS, [
      ["A", "k1(int)", "1500", "50.00", "1000"],
      ["A", "k2(int)", "2500", "50.00", "1000"],
    ]);
    const { code, stderr, times } = await imported(text.slice(0, -20));
    expect([code, times["A"]]).toEqual([1, 0.0015]);
    expect(stderr).toContain("a.csv is truncated or damaged");
  });
});
