import { expect, test } from "vitest";
import { treeLines } from "../../../src/app/info/tree.ts";
import { composeFiles } from "../../compose/in-memory.ts";

test("each config stands below the one whose list brings it in, a null and the place of a list's own among them", () => {
  const { tree } = composeFiles({
    config: "defaults: [db: pg, net@x: null, /base, _self_]",
    base: "defaults: [_self_, db@copy: pg]",
    "db/pg": "",
    "net/lan": "",
  }).composition;
  const lines = treeLines(tree);
  expect(lines.slice(0, 2)).toEqual(["<root>:", "  hydra/config:"]);
  expect(lines.slice(lines.indexOf("  config:"))).toEqual([
    "  config:",
    "    db: pg",
    "    net@x: null",
    "    base:",
    "      _self_",
    "      db@copy: pg",
    "    _self_",
  ]);
});
