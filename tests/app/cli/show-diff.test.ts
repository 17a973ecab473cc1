import { expect, test } from "vitest";
import { diffText } from "../../../src/app/cli/show-diff.ts";
import { diffConfigs } from "../../../src/engine/compose/index.ts";
import { readYaml } from "../../../src/engine/values/yaml/reader.ts";

const differences = diffConfigs(readYaml("a: 1\nb: 2\n"), readYaml("a: 10\nc: 3\n"));

test("colour is there only where it was asked for, and only that differs", () => {
  const plain = diffText(differences, false);
  const colored = diffText(differences, true);
  expect(plain).not.toContain("\u001b[");
  // What went is red, what came is green, keys are bold.
  for (const code of ["31", "32", "1"]) expect(colored).toContain(`\u001b[${code}m`);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control characters
  expect(colored.replaceAll(/\u001b\[\d+m/g, "")).toBe(plain);
});
