import { test } from "vitest";
import { expectOneHolder } from "./claimant/start.ts";

test("a claim is never held by two processes, however many find it abandoned", () =>
  expectOneHolder(200));
