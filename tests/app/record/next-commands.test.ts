import { describe, expect, test } from "vitest";
import { commandAsTyped, type StartedProcess } from "../../../src/app/record/next-commands.ts";

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
