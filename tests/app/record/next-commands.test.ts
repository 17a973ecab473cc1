import { describe, expect, test } from "vitest";
import {
  commandAsTyped,
  jobsToRetry,
  nextCommand,
  nextCommands,
  type StartedProcess,
  typedCommand,
} from "../../../src/app/record/next-commands.ts";

const EXEC = "/usr/bin/node";
const NPX = { npm_lifecycle_event: "npx", npm_lifecycle_script: "'hydraconf'" };
const typed = (started: Partial<StartedProcess> & Pick<StartedProcess, "script">) =>
  commandAsTyped({
    ...{ cwd: "/home/me/my work", env: { PATH: "/usr/bin:/home/me/bin" }, execPath: EXEC },
    ...{ options: [], ...started },
  });

describe("what somebody typed", () => {
  const WORK = "/home/me/my work";
  test.each([
    ["a file", { script: `${WORK}/app.ts` }, "node app.ts"],
    ["a file below", { script: `${WORK}/a b/it's.mjs` }, `node 'a b/it'\\''s.mjs'`],
    ["a file elsewhere", { script: "/opt/x/app.js" }, "node /opt/x/app.js"],
    [
      "Node's options",
      { script: `${WORK}/app.ts`, options: ["--max-old-space-size=99", "--import=./a b.mjs"] },
      "node --max-old-space-size=99 '--import=./a b.mjs' app.ts",
    ],
    [
      "tsx",
      { script: `${WORK}/app.ts`, options: ["--require", "/x/tsx/dist/preflight.cjs"] },
      "npx tsx app.ts",
    ],
    ["a command on PATH", { script: "/home/me/bin/hydraconf" }, "hydraconf"],
    ["a command in this directory", { script: `${WORK}/hydraconf` }, "./hydraconf"],
    ["an executable", { script: `${WORK}/dist/hc`, execPath: `${WORK}/dist/hc` }, "dist/hc"],
    [
      "npx",
      { script: "/home/me/.npm/_npx/1/node_modules/.bin/hydraconf", env: NPX },
      "npx hydraconf",
    ],
    [
      "a script of npm's",
      {
        script: `${WORK}/node_modules/.bin/hydraconf`,
        env: { npm_lifecycle_event: "sweep", PATH: `${WORK}/node_modules/.bin` },
      },
      "npx hydraconf",
    ],
    // Of a runner of tests, say, that was started so.
    ["npx of another program", { script: `${WORK}/app.ts`, env: NPX }, "node app.ts"],
  ])("%s", (_, started, program) => {
    expect(typed(started).program).toBe(program);
  });

  test.each([
    ["pnpm/9.1.0 npm/? node/v20", "pnpm exec"],
    ["yarn/4.2.2 npm/? node/v20", "yarn"],
    ["bun/1.1.0 npm/? node/v20", "bunx"],
    ["npm/10.8.2 node/v20", "npx"],
  ])("by %s", (agent, runner) => {
    const env = { npm_config_user_agent: agent, PATH: "/usr/bin" };
    const linked = { script: `${WORK}/node_modules/.bin/prog`, env };
    expect(typed(linked).program).toBe(`${runner} prog`);
    const options = ["--require", "/x/tsx/dist/preflight.cjs"];
    expect(typed({ script: `${WORK}/app.ts`, options, env })).toEqual({
      program: `${runner} tsx app.ts`,
      hydraconf: `${runner} hydraconf`,
    });
  });

  test("by pnpm, which starts the file of a package itself", () => {
    const env = { npm_config_user_agent: "pnpm/9.1.0 npm/? node/v20" };
    const file = "node_modules/hydraconf/dist/bin/hydraconf.js";
    expect(typed({ script: `${WORK}/node_modules/.pnpm/hydraconf@0.1.0/${file}`, env })).toEqual({
      program: "pnpm exec hydraconf",
      hydraconf: "pnpm exec hydraconf",
    });
    expect(typed({ script: `/home/me/.cache/pnpm/dlx/1f/${file}`, env }).program).toBe(
      "pnpm dlx hydraconf",
    );
    expect(typed({ script: `${WORK}/app.js`, env }).program).toBe("node app.js");
  });

  test("for what hydraconf itself does with a sweep, the same where the program is that", () => {
    expect(typed({ script: "/x/node_modules/.bin/hydraconf", env: NPX }).hydraconf).toBe(
      "npx hydraconf",
    );
    expect(typed({ script: `${WORK}/dist/bin/hydraconf.js` }).hydraconf).toBe(
      "node dist/bin/hydraconf.js",
    );
    expect(typed({ script: `${WORK}/app.ts` }).hydraconf).toBe("hydraconf");
    const env = { npm_lifecycle_event: "npx", npm_lifecycle_script: "prog" };
    expect(typed({ script: "/x/node_modules/.bin/prog", env }).hydraconf).toBe("npx hydraconf");
  });
});

describe("the command that started a program", () => {
  const place = { cwd: "/w", env: { PATH: "/usr/bin" } };

  test.each([
    [["/usr/bin/node", "/w/app.js"], "/w/app.js", "node app.js"],
    [["/usr/bin/node", "--import", "x", "/w/app.js"], "/w/app.js", "node --import x app.js"],
    // Words after the script are the program's own.
    [["/usr/bin/node", "/w/run.js", "train me", "a"], "/w/run.js", "node run.js 'train me' a"],
    [["/w/dist/hc"], undefined, "dist/hc"],
    [["/w/dist/hc", "train"], undefined, "dist/hc train"],
  ])("%o of %s", (command, script, program) => {
    const typed = typedCommand({ ...place, command, ...(script !== undefined && { script }) });
    expect(typed?.program).toBe(program);
  });

  test("is not known without one", () => {
    expect(typedCommand(place)).toBeUndefined();
    expect(typedCommand({ ...place, command: [] })).toBeUndefined();
  });

  test("is by name for hydraconf alone", () => {
    const script = (name: string) => ({ script: `/x/node_modules/.bin/${name}`, env: {} });
    expect(typed(script("hydraconf.cjs")).hydraconf).toBe(
      "node /x/node_modules/.bin/hydraconf.cjs",
    );
    for (const name of ["hydraconf-other", "my-hydraconf", "hydraconf.sh"])
      expect(typed(script(name)).hydraconf).toBe("hydraconf");
  });

  test("has the file's own name where only parts of it look like one of a script or of ours", () => {
    const env = { npm_config_user_agent: "pnpm/9.1.0", PATH: "/usr/bin" };
    const inPackage = (name: string) =>
      typed({ script: `/w/node_modules/p/${name}`, env, cwd: "/w" }).program;
    expect(inPackage("deep-profile.js")).toBe("pnpm exec deep-profile");
    expect(inPackage("my-hydraconf.js")).toBe("node node_modules/p/my-hydraconf.js");
    expect(inPackage("hydraconf.js.bak")).toBe("node_modules/p/hydraconf.js.bak");
    expect(typed({ script: "/w/hydraconf.js", env, cwd: "/w" }).program).toBe("node hydraconf.js");
  });
});

describe("commands to type next", () => {
  test("are one below the other with what they do, quoted for a shell", () => {
    expect(nextCommand("wait", "/my dir")).toBe("hydraconf sweep wait '/my dir'");
    expect(nextCommand("wait", "s", "npx hydraconf")).toBe("npx hydraconf sweep wait s");
    expect(nextCommands("s", ["best", "cancel"])).toBe(
      [
        "  hydraconf sweep best s     shows its best jobs, with the command lines that run them again\n",
        "  hydraconf sweep cancel s   ends its running jobs; --resume continues later\n",
      ].join(""),
    );
    const all = nextCommands("s", undefined, "hc").split("\n");
    expect(all.map((line) => line.trim().split(" ")[2])).toEqual([
      "status",
      "wait",
      "cancel",
      "collect",
      undefined,
    ]);
  });

  test("name the jobs that may be tried again", () => {
    expect(jobsToRetry(["failed"])).toBe("failed job");
    expect(jobsToRetry(["failed", "failed"])).toBe("failed jobs");
    expect(jobsToRetry(["timed_out", "failed"])).toBe("failed and timed_out jobs");
  });
});
