import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { listFiles } from "./files.ts";

const source = fileURLToPath(new URL("../../src", import.meta.url));

/** What messages and reports count. */
const things = [
  ...["activities", "arguments", "calls", "characters", "columns", "components", "copies"],
  ...["directories", "domains", "errors", "events", "files", "graphs", "items", "jobs", "kernels"],
  ...["keys", "launches", "lines", "messages", "metrics", "numbers", "operations"],
  ...["options", "passes", "problems", "processes", "ranges", "records", "regions", "reports"],
  ...["results", "rows", "sections", "trials", "values", "warnings"],
].join("|");

/** A number put into a text right before things, with at most one word between. */
const counted = new RegExp(
  `$\{(?!plural|agreeing|formatDuration|formatMs)[^{}]*} (?:(?!no|of|holds|makes|matches)[a-zA-Z]+ )?(?:${things})\b`,
);

/** Where one cannot be meant, the words are Hydra's or PyYAML's, or the number is none. */
const allowed = [
  "Launching ${batch.length} jobs locally",
  "Validated configs of ${jobs} jobs",
  "it has ${count} values, more than ${MAX_VALUES}",
  "more than ${MAX_MERGED_PAIRS} pairs",
  "leaves none of ${MAX_TRIES} jobs",
  "left none of ${MAX_TRIES} jobs",
  "expand to more than ${MAX_EXPANDED_NODES} values",
  "${timelines.length} capture ranges were recorded",
  "of ${all} kernel records",
  "… (${text.length} characters)",
  "jobs/${unit}",
  "A key with ${components.length} components",
  "sequence of ${digits} hexadecimal numbers",
  "but found ${length} items",
];

it("texts say of one thing that it is one: src/foundation/text/plural.ts counts them", () => {
  const found = listFiles(source, ".ts").flatMap((file) =>
    readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => !/^\s*(?:\*|\/[/*])/.test(line) && counted.test(line))
      .filter((line) => !allowed.some((text) => line.includes(text)))
      .map((line) => `${relative(source, file)}: ${line.trim()}`),
  );
  expect(found).toEqual([]);
});
