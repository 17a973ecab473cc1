import { expect, test } from "vitest";
import { drawTable, tableLines, titleLines } from "../../../src/foundation/text/text-table.ts";

test("columns are as wide as their widest cell, counted in characters", () => {
  const rows = [["Provider", "Path"], ["main", "file:///conf"], ["😀", "é"], ["short"]];
  const lines = [
    "| Provider | Path         |",
    "---------------------------",
    "| main     | file:///conf |",
    "| 😀        | é            |",
    "| short    |",
    "---------------------------",
  ];
  expect(tableLines(rows)).toEqual(lines);
  expect(drawTable(rows)).toBe(`${lines.join("\n")}\n`);
});

test("what ends the header makes the rules longer, and no row", () => {
  expect(tableLines([["A"], ["b"]], { headerTail: " " })).toEqual([
    "| A | ",
    "------",
    "| b |",
    "------",
  ]);
});

test("a title is underlined in its length", () => {
  expect(titleLines("Config")).toEqual(["Config", "******"]);
  expect(titleLines("Hydra", "=")).toEqual(["Hydra", "====="]);
});

test("secrets are removed from cells before columns are laid out", () => {
  const redact = (text: string) => text.replaceAll("a-long-secret", "***");
  expect(
    drawTable(
      [
        ["A", "B"],
        ["x=a-long-secret", "b"],
      ],
      { redact },
    ),
  ).toBe("| A     | B |\n-------------\n| x=*** | b |\n-------------\n");
});

const JOBS = [
  ["job", "server.host", "accuracy", "loss"],
  ["0", "a-long-host-name", "0.7", "0.25123"],
];

test.each([
  [
    60,
    [
      "| job | server.host      | accuracy | loss    |",
      "| 0   | a-long-host-name | 0.7      | 0.25123 |",
    ],
  ],
  // Values give way to headings,
  [
    42,
    ["| job | server.host | accuracy | loss    |", "| 0   | a-long-hos… | 0.7      | 0.25123 |"],
  ],
  // and headings to values that are needed as well.
  [39, ["| job | server.… | accuracy | loss    |", "| 0   | a-long-… | 0.7      | 0.25123 |"]],
  [34, ["| job | serve… | accur… | loss   |", "| 0   | a-lon… | 0.7    | 0.251… |"]],
  // Nobody can read less.
  [10, ["| job | ser… | acc… | loss |", "| 0   | a-l… | 0.7  | 0.2… |"]],
])("a table fits a terminal of %i columns", (width, [head = "", row = ""]) => {
  const rule = "-".repeat(head.length);
  expect(tableLines(JOBS, { width })).toEqual([head, rule, row, rule]);
  if (width > 10) expect(head.length).toBeLessThanOrEqual(width);
});
