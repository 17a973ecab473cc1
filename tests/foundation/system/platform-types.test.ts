import { constants } from "node:os";
import { expect, expectTypeOf, it } from "vitest";
import type {
  Signal,
  StopSignal,
  TextBytes,
  TextStream,
} from "../../../src/foundation/system/platform-types.ts";

it("the types that stand for Node's are Node's", () => {
  expectTypeOf<Signal>().toEqualTypeOf<NodeJS.Signals>();
  expectTypeOf<StopSignal>().toEqualTypeOf<AbortSignal>();
  expectTypeOf<NodeJS.WriteStream>().toExtend<TextStream>();
  expectTypeOf<Buffer>().toExtend<TextBytes>();
  const signals = Object.keys(constants.signals) as Signal[];
  expect(signals).toContain("SIGTERM");
});
