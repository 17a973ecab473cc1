import { expect, test } from "vitest";
import { importFile } from "../../../src/foundation/system/import-file.ts";
import { importRemedy } from "../../../src/foundation/system/import-remedy.ts";

test("where modules cannot be imported at all, Jest's remedy is told", () => {
  const ofJest = Object.assign(new TypeError("A dynamic import callback was invoked"), {
    code: "ERR_VM_DYNAMIC_IMPORT_CALLBACK_MISSING_FLAG",
  });
  expect(importRemedy(ofJest)).toContain("NODE_OPTIONS=--experimental-vm-modules");
});

test("for errors of the module itself, there is none", async () => {
  const error = await importFile("file:///nowhere/absent.mjs").catch((cause: unknown) => cause);
  expect(error).toBeInstanceOf(Error);
  expect(importRemedy(error)).toBeUndefined();
});
