import { expect, it } from "vitest";
import { capitalized } from "../../src/report/capitalized.ts";

it("begins words with a capital, and leaves the others as they are", () => {
  expect(capitalized("kernels of GPUs")).toBe("Kernels of GPUs");
  expect(capitalized("GPU kernel")).toBe("GPU kernel");
  expect(capitalized("")).toBe("");
});
