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
