/** The same blocks in every format. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { textWidth } from "../../../src/foundation/text/text-width.ts";
import {
  type Block,
  type Cell,
  code,
  type Field,
  heading,
  link,
  list,
  numeral,
  paragraph,
  strong,
  tableOf,
} from "../../../src/pages/blocks.ts";
import { renderCsv } from "../../../src/pages/csv.ts";
import { renderHtml } from "../../../src/pages/html.ts";
import { renderMarkdown } from "../../../src/pages/markdown.ts";
import { tableLines } from "../../../src/report/render/terminal.ts";
import { anyName } from "../bundles.ts";

interface Item {
  readonly name: string;
  readonly level: number;
  readonly ms: number | null;
  readonly delta: Cell;
}

const FIELDS: readonly Field<Item>[] = [
  { title: "Region", cell: ({ name, level }) => ({ kind: "label", text: name, level }) },
  { title: "Total ms", short: "ms", format: "ms", cell: ({ ms }) => ms },
  { title: "Change ms", format: "change_ms", priority: 2, cell: ({ delta }) => delta },
  {
    title: "Note",
    priority: 1,
    cell: ({ ms }) => (ms === null ? [code("a|b"), " & ", link("why", "a b.md")] : ""),
  },
];

const items: readonly Item[] = [
  {
    ...{ name: "a*", level: 0, ms: 1.5 },
    delta: { kind: "measured", value: 0.25, uncertainty: 0.125 },
  },
  { name: "in <b>", level: 1, ms: null, delta: null },
];
const table = tableOf(FIELDS, items, ({ ms }) => (ms === null ? "minor" : undefined));

describe("a table", () => {
  it("is Markdown with numbers at the right and a tree of labels", () => {
    expect(renderMarkdown([table])).toBe(
      [
        "| Region | Total ms | Change ms | Note |",
        "| --- | ---: | ---: | --- |",
        "| a\\* | 1.500 | +0.250 ±0.125 |  |",
        "| └\u00a0in &lt;b&gt; | – | – | `a\\|b` &amp; [why](a%20b.md) |",
        "",
      ].join("\n"),
    );
  });

  it("is fitted to a terminal: cells are shortened before columns are dropped", () => {
    const lines = (width: number) => tableLines(table, { width, color: false });
    expect(lines(80)).toEqual([
      "Region       ms      Change ms  Note",
      "a*        1.500  +0.250 ±0.125",
      "  in <b>      –              –  a|b & why",
    ]);
    expect(lines(38)[1]).toBe("a*        1.500     +0.250");
    expect(lines(28)[0]).toBe("Region       ms  Change ms");
  });

  it("is HTML with the first cell as the heading of its row", () => {
    const html = renderHtml([table]);
    expect(html).toContain('<th scope="col" class="right">Total ms</th>');
    expect(html).toContain('<tr><th scope="row">in &lt;b&gt;</th><td class="right">–</td>');
    expect(html).toContain('<code>a|b</code> &amp; <a href="a%20b.md">why</a>');
  });

  it("is CSV with all digits, and nothing where nothing was measured", () => {
    const [numbers, name] = [FIELDS[1], FIELDS[0]];
    if (numbers === undefined || name === undefined) throw new Error("no fields");
    const exact = { name: "a", level: 3, ms: 1 / 3, delta: null };
    expect([...renderCsv(tableOf([name, numbers], [exact, ...items.slice(1)]))]).toEqual([
      "Region,Total ms\r\n",
      "a,0.3333333333333333\r\n",
      "in <b>,\r\n",
    ]);
  });

  it("is never wider than the terminal where a column may go, whatever the names", () => {
    const names = fc.array(anyName, { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(names, fc.integer({ min: 20, max: 60 }), (all, width) => {
        const rows = all.map((name, level): Item => ({ name, level, ms: 1, delta: null }));
        const named = tableOf(
          FIELDS.map((field, at) =>
            at === 0 ? { ...field, cell: ({ name }: Item) => JSON.stringify(name) } : field,
          ),
          rows,
        );
        for (const line of tableLines(named, { width, color: false }))
          expect(textWidth(line)).toBeLessThanOrEqual(width);
      }),
    );
  });
});

it("headings, paragraphs and lists have no markup of their text's", () => {
  const blocks: readonly Block[] = [
    heading(2, "1 * 2"),
    paragraph([strong("gate <1>"), ": ", numeral("<0.1")]),
    list(["- x", [code("y")]]),
  ];
  expect(renderMarkdown(blocks)).toBe("## 1 \\* 2\n\n**gate &lt;1&gt;**: <0.1\n\n- \\- x\n- `y`\n");
  expect(renderHtml(blocks)).toBe(
    "<h2>1 * 2</h2><p><strong>gate &lt;1&gt;</strong>: &lt;0.1</p><ul><li>- x</li><li><code>y</code></li></ul>",
  );
  expect(renderHtml([paragraph("abcdef")], { textLimit: 3 })).toBe("<p>abc… (6 characters)</p>");
});
