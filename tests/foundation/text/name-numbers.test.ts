import fc from "fast-check";
import { expect, it } from "vitest";
import { createNameNumbers } from "../../../src/foundation/text/name-numbers.ts";

function numbers() {
  const names: string[] = [];
  const { numberOf: of } = createNameNumbers(
    (name) => names.push(name) - 1,
    (number) => names[number] as string,
  );
  return { names, of };
}

/** More than a Map holds of them, and more than the first table behind it. */
const MANY = 140_000;

it("gives each name one number, however many there are", () => {
  const { names, of } = numbers();
  const all = Array.from({ length: MANY }, (_, i) => of(`name ${i}`));
  expect(all).toEqual(Array.from({ length: MANY }, (_, i) => i));
  expect(Array.from({ length: MANY }, (_, i) => of(`name ${i}`))).toEqual(all);
  expect(names.length).toBe(MANY);
});

it("tells all texts apart, behind many others, too", () => {
  const crowded = numbers();
  for (let i = 0; i < 70_000; i++) crowded.of(`${i}`);
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "binary", maxLength: 3 })), (texts) => {
      const few = numbers();
      for (const { names, of } of [few, crowded])
        expect(texts.map((text) => names[of(text)])).toEqual(texts);
      expect(few.names.length).toBe(new Set(texts).size);
    }),
  );
});
