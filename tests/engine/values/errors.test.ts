import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { afterAll, describe, expect, it, test } from "vitest";
import {
  ConfigError,
  framesOfCaller,
  isConfigError,
  nearest,
} from "../../../src/engine/values/errors.ts";
import { packageInfo } from "../../../src/engine/values/package-info.ts";
import { readYaml } from "../../../src/engine/values/yaml/reader.ts";
import { compose, createEngine, parseOverride } from "../../../src/index.ts";

describe("errors", () => {
  const source = "password: hunter2\nport: 1\n";
  const port = readYaml(source, { name: "conf/db.yaml" });
  const origin = port.kind === "map" ? [...port.entries.values()][1]?.value.origin : undefined;

  const error = new ConfigError({
    code: "value.wrong_type",
    message: "port must be a text",
    key: "db.port",
    nearest: "ports",
    hint: "write '1'",
    origin,
  });

  test("details have no members for what was not known when the error was made", () => {
    const { details } = new ConfigError(
      { code: "app.usage", message: "wrong", hint: undefined, key: "a" },
      () => ({ available: ["b"], nearest: undefined }),
    );
    expect(details).toStrictEqual({
      code: "app.usage",
      message: "wrong",
      key: "a",
      available: ["b"],
    });
  });

  test("an uncaught error is shown as the commands show it, with its stack", () => {
    const lines = inspect(error).split("\n");
    expect(lines.slice(0, 8)).toEqual([
      "ConfigError: port must be a text",
      " --> conf/db.yaml:2:7",
      "  |",
      "2 | port: 1",
      "  |       ^",
      "  key: db.port",
      "  Did you mean 'ports'?",
      "  Hint: write '1'",
    ]);
    expect(lines[8]).toMatch(/^ {4}at .*errors\.test\.ts:\d+/);
  });

  test("neither that nor JSON holds the rest of the file that it is about", () => {
    expect(inspect({ error }, { depth: 9 }) + JSON.stringify(error)).not.toContain("hunter2");
    expect(error.details.origin).toBe(origin);
  });

  test("what caused it is shown below", () => {
    const failed = new ConfigError({
      code: "instantiate.failed",
      message: "failed",
      cause: new Error("of the user"),
    });
    expect(inspect(failed)).toContain("[cause]: Error: of the user");
  });

  test("its stack can be replaced, as loggers and test runners do", () => {
    const told = new ConfigError({ code: "app.job", message: "told" });
    told.stack = `here: ${told.stack}`;
    told.stack += " again";
    expect(told.stack).toMatch(/^here: ConfigError: told\n[\s\S]* again$/);
    expect(Object.keys(told)).not.toContain("stack");
  });

  describe("the stack of an error", () => {
    const files = mkdtempSync(join(tmpdir(), "hydraconf-frames-"));
    afterAll(() => rmSync(files, { recursive: true, force: true }));
    writeFileSync(join(files, "config.yaml"), "defaults: [a: b]\nx: ${nowhere}\n");
    mkdirSync(join(files, "a"));
    writeFileSync(join(files, "a/b.yaml"), "c: 1\n");

    const thrown = (work: () => unknown): ConfigError => {
      try {
        work();
      } catch (error) {
        if (isConfigError(error)) return error;
        throw error;
      }
      throw new Error("nothing was thrown");
    };
    const firstFrame = (error: ConfigError) =>
      error.stack?.split("\n").find((line) => /^\s+at /.test(line));
    const request = { configDir: files, configName: "config" };

    test.each<readonly [string, () => unknown]>([
      ["compose", () => compose({ ...request, overrides: ["a=c"] })],
      ["an engine", () => createEngine().compose({ ...request, overrides: ["y.z=1"] })],
      ["a config", () => compose(request).get("x")],
      ["a parser", () => parseOverride("a=[1,")],
    ])("begins with the line that called %s", (_, work) => {
      const error = thrown(work);
      expect(firstFrame(error)).toContain("errors.test.ts");
      expect(error.frames.length).toBeGreaterThan(error.stack?.match(/^\s+at /gm)?.length ?? 0);
      expect(error.frames[0]).toMatch(/[/\\]src[/\\]/);
    });

    test("is as long as it may be, and leaves that as it was", () => {
      const limit = Error.stackTraceLimit;
      for (const allowed of [0, 1, 3, 200]) {
        Error.stackTraceLimit = allowed;
        const error = thrown(() => compose({ ...request, overrides: ["a=c"] }));
        const frames = error.stack?.match(/^\s+at /gm) ?? [];
        const after = Error.stackTraceLimit;
        Error.stackTraceLimit = limit;
        expect(after).toBe(allowed);
        expect(frames.length).toBeLessThanOrEqual(allowed);
        if (allowed > 0) expect(firstFrame(error)).toContain("errors.test.ts");
      }
    });

    test("is whole where nobody but us is in it", () => {
      const ours = ["    at compose (/x/src/a.ts:1:2)", "    at node:internal/main:1:2"];
      const root = packageInfo().root;
      const frames = ours.map((frame) => frame.replace("/x", root));
      expect(framesOfCaller(frames)).toEqual(frames);
      const caller = "    at file:///home/user/main.ts:3:4";
      expect(framesOfCaller([...frames, caller, ...frames])).toEqual([caller, ...frames]);
    });
  });

  test("tells the key that was asked for first, and is the same error otherwise", () => {
    const asked = error.withRequestedKey("c[0]");
    expect(asked.details).toEqual({ ...error.details, key: "c[0]" });
    expect(asked.withRequestedKey("whoever.refers.to.it")).toBe(asked);
    expect(error.details.key).toBe("db.port");
  });
});

describe("nearest", () => {
  it.each([
    { name: "prot", candidates: ["host", "port"], near: "port" },
    { name: "mysqll", candidates: ["mysql", "postgresql"], near: "mysql" },
    { name: "x", candidates: ["y", "zzzz"], near: undefined },
    { name: "learning_rat", candidates: ["learning_rate", "epochs"], near: "learning_rate" },
    { name: "rnu", candidates: ["trust", "run"], near: "run" },
    { name: "unr", candidates: ["run"], near: undefined },
    { name: "abc", candidates: ["xyz"], near: undefined },
    { name: "optimizer", candidates: ["scheduler"], near: undefined },
    { name: "a", candidates: [], near: undefined },
    { name: "nvtx", candidates: ["command", "nvtx_regions"], near: "nvtx_regions" },
    { name: "hopper", candidates: ["ncu.default", "ncu.hopper"], near: "ncu.hopper" },
    { name: "rtx", candidates: ["rtx3090.memory", "rtx3090.compute"], near: undefined },
    { name: "nc", candidates: ["ncu.default.cfg"], near: undefined },
  ])("nearest to $name of $candidates is $near", ({ name, candidates, near }) => {
    expect(nearest(name, candidates)).toBe(near);
  });
});
