import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { servePlayground } from "../../../src/playground/server/serve.ts";
import type { TreeDocument } from "../../../src/playground/tree-document.ts";
import { SAMPLE, treeOf } from "../sample.ts";

const { files: _, notes: __, ...ABOUT } = treeOf({});
const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

function tree(texts: Readonly<Record<string, string>> = SAMPLE): string {
  const place = mkdtempSync(join(tmpdir(), "playground-"));
  for (const [path, text] of Object.entries(texts)) {
    mkdirSync(dirname(join(place, path)), { recursive: true });
    writeFileSync(join(place, path), text);
  }
  return place;
}

/** @returns the address of the page */
async function serve(place: string, canWrite = false): Promise<string> {
  const stop = new AbortController();
  let ended: Promise<void> | undefined;
  const address = await new Promise<string>((onAddress, reject) => {
    const { signal } = stop;
    ended = servePlayground({ ...ABOUT, place, canWrite, port: 0, signal, onAddress });
    ended.catch(reject);
  });
  ends.push(async () => {
    stop.abort();
    await ended;
  });
  return address;
}

interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const ask = (address: string, { body, headers = {}, method = "GET" }: Asked = {}) =>
  new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
    const asked = request(address, { method, headers, agent: false }, (response) => {
      const parts: Buffer[] = [];
      response.on("data", (part: Buffer) => parts.push(part));
      response.on("end", () =>
        resolve({ status: response.statusCode, text: Buffer.concat(parts).toString() }),
      );
    });
    asked.on("error", reject).end(body);
  });

const read = async (address: string): Promise<TreeDocument> =>
  JSON.parse((await ask(`${address}tree.json`)).text);

const versionOf = async (address: string, path: string): Promise<string> =>
  (await read(address)).files.find((file) => file.path === path)?.version ?? "";

/** As the page does. */
const put = async (address: string, body: unknown, headers: Asked["headers"] = {}) => {
  const { status, text } = await ask(`${address}file`, {
    method: "PUT",
    headers: {
      origin: new URL(address).origin,
      "content-type": "application/json",
      ...headers,
    },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return { status, answer: text === "" ? undefined : JSON.parse(text) };
};

describe("what is served", () => {
  test("the page with the tree in it, under a policy that lets it ask its server alone", async () => {
    const address = await serve(tree());
    const { status, text } = await ask(address);
    expect(status).toBe(200);
    const policy = /Content-Security-Policy" content="([^"]*)"/.exec(text)?.[1];
    expect(policy).toMatch(/^default-src 'none'; script-src 'sha256-[^ ]*'; style-src 'sha256-/);
    expect(policy).toContain("connect-src 'self'");
    expect(text).toContain("db/mysql.yaml");
  });

  test("the YAML files of the directory and nothing else", async () => {
    const place = tree({
      "config.yaml": "a: 1\n",
      "db/a.yaml": "b: ü\n",
      ".hidden/x.yaml": "",
      "outputs/.hydra/config.yaml": "",
      "outputs/x.yaml": "",
      "secret.env": "PASSWORD=1",
      "notes.md": "",
    });
    writeFileSync(join(place, "latin.yaml"), Buffer.from([0x61, 0x3a, 0x20, 0xfc]));
    const { files, notes } = await read(await serve(place));
    expect(files).toEqual([
      { path: "config.yaml", text: "a: 1\n", version: expect.stringMatching(/^[0-9a-f]{64}$/) },
      { path: "db/a.yaml", text: "b: ü\n", version: expect.any(String) },
    ]);
    expect(notes).toEqual([
      expect.stringContaining("latin.yaml"),
      expect.stringContaining("outputs"),
    ]);
  });

  test("nothing behind a link that leads out", async () => {
    const outside = tree({ "secret.yaml": "password: x\n" });
    const place = tree({ "config.yaml": "a: 1\n" });
    symlinkSync(join(outside, "secret.yaml"), join(place, "link.yaml"));
    symlinkSync(outside, join(place, "folder"));
    symlinkSync(join(place, "config.yaml"), join(place, "own.yaml"));
    symlinkSync(join(place, "gone"), join(place, "dangling.yaml"));
    const { files, notes } = await read(await serve(place));
    expect(files.map(({ path }) => path)).toEqual(["config.yaml", "own.yaml"]);
    expect(notes[0]).toMatch(/^2 files are not shown .*: dangling\.yaml, link\.yaml$/);
  });
});

test("a request that is broken off, and a directory that is away for a moment, do not end it", async () => {
  const place = tree();
  const address = await serve(place, true);
  await new Promise<void>((resolve) => {
    const headers = {
      origin: new URL(address).origin,
      "content-type": "application/json",
      "content-length": "1000",
      expect: "100-continue",
    };
    const asked = request(`${address}file`, { method: "PUT", headers, agent: false });
    // The server reads the body by now.
    asked.on("continue", () => asked.destroy());
    asked.on("error", () => {});
    asked.on("close", () => resolve());
    asked.flushHeaders();
  });
  expect((await read(address)).files.length).toBe(5);
  const version = await versionOf(address, "config.yaml");
  renameSync(place, `${place}.aside`);
  for (const name of ["", "tree.json"]) {
    const { status, text } = await ask(`${address}${name}`);
    const { error } = JSON.parse(text);
    expect([status, error.code]).toEqual([500, "playground/read"]);
    expect(error.message).toContain("Cannot read the files of 'conf':");
    expect(error.message).toContain("there is no such file or directory");
  }
  const change = { path: "config.yaml", text: "x: 1\n", version };
  const { answer, status } = await put(address, change);
  expect([status, answer.error.code]).toEqual([500, "playground/read"]);
  renameSync(`${place}.aside`, place);
  expect((await put(address, change)).status).toBe(200);
});

describe("what is refused", () => {
  test("other names, methods and places", async () => {
    const place = tree();
    const address = await serve(place, true);
    const body = JSON.stringify({ path: "config.yaml", text: "", version: "" });
    const json = { "content-type": "application/json" };
    for (const [url, asked] of [
      [address.replace(/[0-9a-f]{32}/, "0".repeat(32)), {}],
      [new URL("/", address).href, {}],
      [`${address}../tree.json`, {}],
      [`${address}..%2f..%2fetc/passwd`, {}],
      [`${address}file`, {}],
      [address, { headers: { host: "example.org" } }],
      [address, { headers: { host: "127.0.0.1.example.org" } }],
      [address, { method: "POST" }],
      [`${address}file`, { method: "PUT", headers: json, body }],
      [
        `${address}file`,
        { method: "PUT", headers: { ...json, origin: "http://evil.example" }, body },
      ],
      [
        `${address}file`,
        {
          method: "PUT",
          headers: { "content-type": "text/plain", origin: new URL(address).origin },
          body,
        },
      ],
    ] as const)
      expect((await ask(url, asked)).status, `${url} ${JSON.stringify(asked)}`).toBe(404);
    expect(readFileSync(join(place, "config.yaml"), "utf8")).toBe(SAMPLE["config.yaml"]);
  });

  test("writing, without --write", async () => {
    const place = tree();
    const address = await serve(place);
    const version = await versionOf(address, "config.yaml");
    const { answer, status } = await put(address, { path: "config.yaml", text: "x: 1\n", version });
    expect([status, answer.error.code]).toEqual([403, "playground/read-only"]);
    expect(answer.error.hint).toContain("--write");
    expect(readFileSync(join(place, "config.yaml"), "utf8")).toBe(SAMPLE["config.yaml"]);
  });

  test("a path that is no file of the tree", async () => {
    const outside = tree({ "secret.yaml": "password: x\n" });
    const place = tree();
    symlinkSync(join(outside, "secret.yaml"), join(place, "link.yaml"));
    symlinkSync(outside, join(place, "folder"));
    const address = await serve(place, true);
    for (const path of [
      "new.yaml",
      "../secret.yaml",
      join(outside, "secret.yaml"),
      "link.yaml",
      "folder/secret.yaml",
      "db/../config.yaml",
      "db",
      "",
    ]) {
      const { answer, status } = await put(address, { path, text: "x: 1\n", version: "" });
      expect([path, status, answer.error.code]).toEqual([path, 404, "playground/path"]);
    }
    expect(readdirSync(outside)).toEqual(["secret.yaml"]);
    expect(readFileSync(join(outside, "secret.yaml"), "utf8")).toBe("password: x\n");
    expect(readdirSync(place).sort()).toEqual([
      "cache",
      "config.yaml",
      "db",
      "extra",
      "folder",
      "link.yaml",
    ]);
  });

  test.each([
    ["{"],
    ["null"],
    [{ path: "config.yaml", text: 1, version: "" }],
    [{ path: "config.yaml" }],
  ])("the request %j", async (body) => {
    const { answer, status } = await put(await serve(tree(), true), body);
    expect([status, answer.error.code]).toEqual([400, "playground/request"]);
  });

  test("a text that is too large", async () => {
    const address = await serve(tree(), true);
    const text = "x".repeat(8_000_001);
    // The server may close the connection while the text is still on its way.
    const outcome = await put(address, { path: "config.yaml", text, version: "" }).catch(() => ({
      status: 404,
    }));
    expect(outcome.status).toBe(404);
    expect((await read(address)).files.length).toBeGreaterThan(0);
  });
});

describe("what is written", () => {
  test("a file that is as it was served, with its rights", async () => {
    const place = tree();
    const file = join(place, "db/mysql.yaml");
    chmodSync(file, 0o640);
    const address = await serve(place, true);
    const version = await versionOf(address, "db/mysql.yaml");
    const saved = await put(address, { path: "db/mysql.yaml", text: "port: 1\n", version });
    expect(saved.status).toBe(200);
    expect(readFileSync(file, "utf8")).toBe("port: 1\n");
    expect(statSync(file).mode & 0o777).toBe(0o640);
    expect(readdirSync(dirname(file)).sort()).toEqual(["mysql.yaml", "pg.yaml"]);
    // Its new version is that of the next change.
    expect(saved.answer.version).toBe(await versionOf(address, "db/mysql.yaml"));
    const again = { path: "db/mysql.yaml", text: "port: 2\n", version: saved.answer.version };
    expect((await put(address, again)).status).toBe(200);
  });

  test("no file that was changed or removed on the disk since", async () => {
    const place = tree();
    const file = join(place, "config.yaml");
    const address = await serve(place, true);
    const version = await versionOf(address, "config.yaml");
    writeFileSync(file, "mine: 1\n");
    const change = { path: "config.yaml", text: "x: 1\n", version };
    const { answer, status } = await put(address, change);
    expect([status, answer.error.code]).toEqual([409, "playground/changed"]);
    expect(readFileSync(file, "utf8")).toBe("mine: 1\n");
    rmSync(file);
    expect((await put(address, change)).status).toBe(404);
  });

  test("the file that a link in the directory names, not the link", async () => {
    const place = tree();
    symlinkSync("db/pg.yaml", join(place, "own.yaml"));
    const address = await serve(place, true);
    const version = await versionOf(address, "own.yaml");
    expect((await put(address, { path: "own.yaml", text: "port: 9\n", version })).status).toBe(200);
    expect(readFileSync(join(place, "db/pg.yaml"), "utf8")).toBe("port: 9\n");
    expect((await read(address)).files.map(({ path }) => path)).toContain("own.yaml");
  });
});
