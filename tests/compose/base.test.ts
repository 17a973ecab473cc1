import { describe, expect, it } from "vitest";
import type { Composition } from "../../src/compose/index.ts";
import {
  composeConfig,
  hydraGroups,
  STANDARD_SOURCES,
  schemaSource,
  takeSnapshot,
} from "../../src/compose/index.ts";
import { parseOverrides } from "../../src/overrides/index.ts";
import type { ResolveContext } from "../../src/values/interpolation/context.ts";
import { createResolveContext } from "../../src/values/interpolation/context.ts";
import { filesSource } from "./in-memory.ts";

const snapshot = takeSnapshot({
  sources: [
    hydraGroups(),
    filesSource({
      config: "defaults: [db: a, net: lan, _self_]\nx: 1",
      asking: "defaults: [db: '${oc.env:DB}', _self_]\nx: 1",
      "db/a": "n: 1",
      "db/b": "n: 2",
      "net/lan": "",
      "net/wan": "",
    }),
  ],
  schemaSource: schemaSource(new Map()),
  cwd: "/",
  factories: STANDARD_SOURCES,
});

const compose = (context: ResolveContext, ...overrides: string[]): Composition =>
  composeOf("config", context, ...overrides);

const composeOf = (
  configName: string,
  context: ResolveContext,
  ...overrides: string[]
): Composition =>
  composeConfig({
    snapshot,
    configName,
    overrides: parseOverrides(overrides),
    mode: "run",
    fromShell: false,
    jobName: "app",
    cwd: "/",
    version: "1.3.5",
    versionBase: "1.3",
    context,
  });

describe("compositions of one snapshot", () => {
  it("share what only depends on files and groups", () => {
    const context = createResolveContext();
    const [one, other] = [compose(context, "x=1"), compose(context, "x=2")];
    expect(other.defaults).toBe(one.defaults);
    expect(other.config.entries.get("db")).toBe(one.config.entries.get("db"));
    expect(other.config.entries.get("x")).not.toBe(one.config.entries.get("x"));
  });

  it("do not share it where groups or their place on the command line differ", () => {
    const context = createResolveContext();
    const base = compose(context, "net=wan");
    expect(compose(context, "net=lan").choices.get("net")).toBe("lan");
    const later = compose(context, "x=1", "net=wan");
    const origins = [base, later].map(
      ({ defaults }) => defaults.find(({ overrideKey }) => overrideKey === "net")?.origin,
    );
    expect(origins).toMatchObject([
      { text: "net=wan", index: 0 },
      { text: "net=wan", index: 1 },
    ]);
  });

  it("do not share it where a resolver was asked, who may say something else", () => {
    const env: Record<string, string> = {};
    const context = createResolveContext({ env });
    const chosen = ["a", "b"].map((DB) => {
      env["DB"] = DB;
      return composeOf("asking", context).choices.get("db");
    });
    expect(chosen).toEqual(["a", "b"]);
  });
});
