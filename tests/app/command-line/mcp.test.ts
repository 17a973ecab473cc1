/** The commands as a client of the Model Context Protocol meets them. */
import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { commandPath, runCommand, temporaryDirectory } from "../../e2e/command.ts";
import { bundleOf } from "../../report/bundles.ts";

const place = temporaryDirectory();
const root = join(place.path, "project");
const client = new Client({ name: "test", version: "1" });

beforeAll(async () => {
  const write = (name: string, text: string) => {
    mkdirSync(join(root, name, ".."), { recursive: true });
    writeFileSync(join(root, name), text);
  };
  write("conf/config.yaml", "defaults:\n- db: mysql\nlr: 1\ntwice: ${lr}${lr}\n");
  write("conf/db/mysql.yaml", "port: 3306\n");
  write("conf/db/pg.yaml", "port: 5432\n");
  const ranges = [{ name: "step", start: 0, end: 5_000_000 }];
  write("run/recorder/regions/report.json", JSON.stringify(bundleOf([{ pid: 1, ranges }])));
  mkdirSync(join(place.path, "outside"));
  symlinkSync("../outside", join(root, "link"));
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [commandPath("deep-profile"), "mcp", "--root", root],
      cwd: place.path,
    }),
  );
});
afterAll(async () => {
  await client.close();
  place.remove();
});

async function ask(name: string, input: Readonly<Record<string, unknown>>) {
  const { content, isError } = await client.callTool({ name, arguments: input });
  const [{ text }] = content as readonly [{ readonly text: string }];
  return isError === true ? { error: text } : JSON.parse(text);
}
const tree = { config_dir: "conf" };

describe("mcp", () => {
  it("reads a run once, and again where its files have changed", async () => {
    const file = join(root, "kept", "recorder", "regions", "report.json");
    mkdirSync(join(file, ".."), { recursive: true });
    const time = new Date(1_700_000_000_000);
    const write = (ms: number) => {
      const ranges = [{ name: "step", start: 0, end: ms * 1_000_000 }];
      writeFileSync(file, JSON.stringify(bundleOf([{ pid: 1, ranges }])));
      utimesSync(file, time, time);
    };
    const wallOf = async () => {
      const { answer } = await ask("query_run", { run: "kept", question: "regions" });
      return answer.regions[0].wall_ms;
    };
    write(5);
    expect(await wallOf()).toBe(5);
    // As long as before, and of the same time: as if it were unchanged.
    write(6);
    expect(await wallOf()).toBe(5);
    utimesSync(file, time, new Date(1_700_000_001_000));
    expect(await wallOf()).toBe(6);
  });

  it("says which rule an input breaks", async () => {
    const { error } = await ask("query_run", { run: "run", question: "regions", cursor: "next" });
    expect(error).toBe(
      "cursor: 'next' is not what is expected: 'next' of an answer that has not all items: the same question goes on there",
    );
    expect((await ask("query_run", { run: "run", question: "regions", limit: 5000 })).error).toBe(
      "limit must be <= 1000",
    );
  });

  it("offers its tools as reading only", async () => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      "query_run",
      "compose",
      "explain",
      "config_groups",
    ]);
    for (const { annotations } of tools) expect(annotations?.readOnlyHint).toBe(true);
  });

  it("answers questions about runs, and about configurations", async () => {
    expect(await ask("query_run", { run: "run", question: "regions", limit: 1 })).toMatchObject({
      answer: { regions: [{ path: ["step"], wall_ms: 5 }] },
    });
    // A single text stands for a list.
    expect(
      await ask("query_run", { run: "run", question: "regions", region: "step" }),
    ).toMatchObject({ answer: { regions: [{ path: ["step"] }] } });
    expect(await ask("compose", { ...tree, overrides: "lr=2" })).toMatchObject({ lr: 2 });
    expect(await ask("compose", { ...tree, overrides: ["db=pg", "lr=2"] })).toEqual({
      db: { port: 5432 },
      lr: 2,
      twice: "${lr}${lr}",
    });
    expect(await ask("compose", { ...tree, part: "db", resolve: true })).toEqual({ port: 3306 });
    expect(await ask("explain", { ...tree, key: "db.port" })).toMatchObject({ value: 3306 });
    const { groups } = await ask("config_groups", tree);
    expect(groups).toContainEqual({
      name: "db",
      options: ["mysql", "pg"],
      chosen: { db: "mysql" },
    });
  });

  it.each([
    ["compose", { ...tree, overrides: ["--run"] }, "overrides[0]: '--run' begins with '-'"],
    ["compose", { ...tree, overrides: ["+hydra.searchpath=[file:///]"] }, "sets hydra.searchpath"],
    [
      "compose",
      { ...tree, overrides: ["lr=2", "db=../../../outside/secret"] },
      "overrides[1]: 'db=../../../outside/secret' has '..' in a path, which could lead to files",
    ],
    [
      "compose",
      { ...tree, overrides: ["db=${up}/outside/secret", "+up=.."] },
      "has an interpolation",
    ],
    [
      "compose",
      { ...tree, config_name: "../../outside/secret" },
      "config_name: '../../outside/secret' has '..'",
    ],
    ["compose", { ...tree, directory: ".." }, "is not below a directory that was named at start"],
    ["compose", { ...tree, directory: "link" }, "is not below a directory"],
    ["compose", { config_dir: "../outside" }, "is not below a directory"],
    ["compose", { ...tree, overrides: ["db=nosuch"] }, "nosuch"],
    ["compose", { config_dir: 1 }, "config_dir must be a text"],
    ["query_run", { run: "../outside", question: "top" }, "is not below a directory"],
    ["query_run", { run: "run", question: "compare", target: "/etc" }, "is not below a directory"],
    [
      "query_run",
      { run: "run", question: "top", color: true },
      "no input 'color'; there are directory, run,",
    ],
    ["query_run", { run: "run", question: "nosuch" }, "question must be one of summary, "],
    ["query_run", { run: "run", question: "top", limit: 0 }, "limit must be >= 1"],
    ["query_run", { run: "run", question: "regions", region: [""] }, "region[0]: it is empty"],
    ["query_run", { run: "run", question: "regions", region: 1 }, "region must be a list of texts"],
    ["query_run", { question: "top" }, "the input 'run' is missing"],
    ["nosuch", {}, "no tool 'nosuch'"],
  ])("refuses what leads elsewhere, and tells errors: %s %j", async (name, input, message) => {
    expect(await ask(name, input)).toEqual({ error: expect.stringContaining(message) });
  });

  it("tells errors of a config without what only a terminal can do", async () => {
    const args = [commandPath("hydraconf"), "mcp", "--root", root];
    const other = new Client({ name: "test", version: "1" });
    await other.connect(
      new StdioClientTransport({ command: process.execPath, args, cwd: place.path }),
    );
    const { content } = await other.callTool({
      name: "compose",
      arguments: { ...tree, overrides: ["db=nosuch"] },
    });
    await other.close();
    const text = JSON.stringify(content);
    expect(text).toContain("Available options");
    expect(text).not.toContain("HYDRA_FULL_ERROR");
  });

  it("refuses a root that is not there", async () => {
    const { code, stderr } = await runCommand("hydraconf", ["mcp", "--root", "nosuch"], {
      cwd: place.path,
    });
    expect([code, stderr]).toEqual([2, expect.stringContaining("--root nosuch: ")]);
  });
});
