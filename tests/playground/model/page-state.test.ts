import fc from "fast-check";
import { expect, test } from "vitest";
import {
  fitsLink,
  linkOf,
  type PageState,
  stateIn,
} from "../../../src/playground/model/page-state.ts";

const STATE: PageState = {
  configName: "config",
  line: "",
  comparedLine: null,
  tab: "config",
  file: null,
  edits: {},
};

test("a link holds the state", () => {
  const text = fc.string({ unit: "grapheme", maxLength: 12 });
  const state = fc.record({
    configName: text,
    line: text,
    comparedLine: fc.option(text),
    tab: text,
    file: fc.option(text),
    edits: fc.dictionary(text, fc.record({ text, version: text }), { maxKeys: 3 }),
  });
  fc.assert(
    fc.property(state, (one) => {
      expect({ ...STATE, ...stateIn(`#${linkOf(one)}`) }).toEqual(one);
    }),
  );
});

test("a link leaves out what is too long for it", () => {
  const edits = { "config.yaml": { text: "x".repeat(9000), version: "1" } };
  expect(fitsLink(edits)).toBe(false);
  expect(stateIn(linkOf({ ...STATE, line: "a=1", edits }))).toEqual({
    configName: "config",
    line: "a=1",
    tab: "config",
  });
});

test.each([["#"], ["#edits=%7B"], ["#edits=1"], ["#edits=null"], ["#%"], ["#a=b"]])(
  "the damaged link %j says nothing",
  (hash) => expect(stateIn(hash)).toEqual({}),
);

test("edits that are no texts of a version are left out", () => {
  const edits = { a: { text: "x", version: "1" } };
  const damaged = {
    ...edits,
    b: 1,
    c: null,
    d: "x",
    e: { text: "x" },
    f: { text: 1, version: "1" },
  };
  expect(stateIn(`#edits=${JSON.stringify(damaged)}`)).toEqual({ edits });
});
