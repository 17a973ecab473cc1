import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";
import { createContext, runInContext } from "node:vm";
import { gzipSync } from "node:zlib";
import { type BuildResult, build } from "esbuild";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, test } from "vitest";
import * as node from "../src/index.ts";
import * as portable from "../src/portable-engine.ts";
import { describeInBrowser } from "./report/render/browser.ts";

// `hydraconf/engine` in what it is for. Where the results of compositions are compared with Hydra's: tests/conformance.

const root = fileURLToPath(new URL("..", import.meta.url));
const face = join(root, "src/portable-engine.ts");

/** A program as a browser gets it: one script, without anything external. */
async function bundled(program: string, format: "esm" | "iife" = "esm", minify = false) {
  const result = await build({
    stdin: { contents: program, resolveDir: root, loader: "ts", sourcefile: "program.ts" },
    alias: { "hydraconf/engine": face },
    bundle: true,
    platform: "browser",
    target: "es2022",
    format,
    minify,
    metafile: true,
    write: false,
    logLevel: "silent",
    define: { "import.meta.url": "undefined" },
  });
  return { ...result, code: result.outputFiles[0]?.text ?? "" };
}

const USE_ALL = 'import * as engine from "hydraconf/engine"; globalThis.engine = engine;';

/** What is only in Node and its like, not in the language. */
const OF_NODE: ReadonlySet<string> = new Set([
  ...["process", "Buffer", "require", "global", "setImmediate", "__dirname", "__filename"],
]);

/** Names of Node that a script refers to: not those of members. */
function namesOfNode(code: string): readonly string[] {
  const found = new Set<string>();
  const visit = (one: ts.Node): void => {
    const { parent } = one;
    const isMember =
      (ts.isPropertyAccessExpression(parent ?? one) &&
        (parent as ts.PropertyAccessExpression).name === one) ||
      (ts.isPropertyAssignment(parent ?? one) && (parent as ts.PropertyAssignment).name === one);
    if (ts.isIdentifier(one) && OF_NODE.has(one.text) && !isMember) found.add(one.text);
    ts.forEachChild(one, visit);
  };
  visit(ts.createSourceFile("code.js", code, ts.ScriptTarget.Latest, true));
  return [...found];
}

/** What keeps a program from running in a browser. */
async function hindrances(program: string): Promise<readonly string[]> {
  try {
    const { code, metafile } = await bundled(program);
    const external = Object.values(metafile.inputs).flatMap(({ imports }) =>
      imports.filter(({ external }) => external === true).map(({ path }) => path),
    );
    return [...external, ...namesOfNode(code)];
  } catch (error) {
    return (error as BuildResult).errors.map(({ text }) => text);
  }
}

describe("what it is made of", () => {
  it("has nothing of Node", async () => {
    expect(await hindrances(USE_ALL)).toEqual([]);
  });

  it.each([
    ['import "node:fs"', /node:fs/],
    ['import { readFileSync } from "fs"; readFileSync("x")', /"fs"/],
    ['export { compose } from "./src/index.ts"; export const x = process.cwd()', /node:/],
    ["console.log(process.env.HOME)", /^process$/],
    ["console.log({ a: Buffer })", /^Buffer$/],
  ])("would have: %s", async (program, told) => {
    expect(await hindrances(program)).toEqual(
      expect.arrayContaining([expect.stringMatching(told)]),
    );
  });

  it("is as large as its page says", async () => {
    const { code } = await bundled(USE_ALL, "esm", true);
    const [, minified, gzipped] =
      /Size: about (\d+) kB minified, (\d+) kB compressed by gzip/.exec(page()) ?? [];
    const sizes = [code.length, gzipSync(code).length].map((bytes) => bytes / 1000);
    expect(Math.abs((sizes[0] ?? 0) - Number(minified)), String(sizes)).toBeLessThan(15);
    expect(Math.abs((sizes[1] ?? 0) - Number(gzipped)), String(sizes)).toBeLessThan(6);
  });

  it("runs where there is nothing but the language and TextEncoder", async () => {
    const { code } = await bundled(USE_ALL, "iife");
    const context = createContext({ TextEncoder });
    runInContext(code, context);
    const yaml: unknown = runInContext(
      `engine.compose({
        files: { "c/config.yaml": "a: 1\\nb: !!binary aGVsbG8=\\nt: \${oc.env:X,none}\\n" },
        configDir: "c", configName: "config", overrides: ["+d=\${now:%Y}"],
        now: new Date(2020, 1, 1),
      }).toYaml({ resolve: true })`,
      context,
    );
    expect(yaml).toBe("a: 1\nb: !!binary |\n  aGVsbG8=\nt: none\nd: '2020'\n");
    const told = () =>
      String(
        runInContext(
          'try { engine.compose({ configDir: "c" }) } catch (error) { String(error.stack) }',
          context,
        ),
      );
    expect(told()).toMatch(/^ConfigError: Primary config directory not found[\s\S]*\n +at /);
    // As in browsers that are older, or have another engine than V8.
    runInContext("delete Error.captureStackTrace", context);
    expect(told()).toMatch(/^ConfigError: Primary config directory not found[\s\S]*\n +at /);
  });
});

describe("its functions", () => {
  it("are those of hydraconf, but for what needs a process", () => {
    const names = (face: object) => Object.keys(face).sort();
    expect(names(portable).filter((name) => !names(node).includes(name))).toEqual([
      "STANDARD_CONFIGS",
      "fetchFiles",
    ]);
    expect(names(node).filter((name) => !names(portable).includes(name))).toEqual([
      "STANDARD_PLUGINS",
      "asyncResolver",
      "composeAsync",
      "exitCode",
      "hydraMain",
      "watchConfig",
    ]);
  });

  it("read no environment unless they get one", () => {
    process.env["HYDRACONF_TEST_PORTABLE"] = "seen";
    try {
      const tree = (face: typeof portable | typeof node) =>
        face.loadYaml("a: ${oc.env:HYDRACONF_TEST_PORTABLE,nothing}");
      const resolved = (face: typeof portable | typeof node) => [
        face.toYaml(tree(face), { resolve: true }),
        face.toYaml(face.merge(tree(face), {}), { resolve: true }),
        face.instantiate(tree(face)),
      ];
      expect(resolved(portable)).toEqual(["a: nothing\n", "a: nothing\n", { a: "nothing" }]);
      expect(resolved(node)).toEqual(["a: seen\n", "a: seen\n", { a: "seen" }]);
      const env = { HYDRACONF_TEST_PORTABLE: "given" };
      expect(portable.toYaml(tree(portable), { resolve: true, env })).toBe("a: given\n");
    } finally {
      delete process.env["HYDRACONF_TEST_PORTABLE"];
    }
  });

  it("refuse options that there are not", async () => {
    const misspelt = { mispelt: true } as never;
    expect(() => portable.createEngine(misspelt)).toThrow(/there is no option 'mispelt'/);
    expect(() => portable.compose(misspelt)).toThrow(/there is no option 'mispelt'/);
    const refused = new TypeError("fetch failed", { cause: new Error("connect ECONNREFUSED") });
    const fetch = () => Promise.reject(refused);
    await expect(portable.fetchFiles("/", ["a.yaml"], { fetch })).rejects.toMatchObject({
      message: "Cannot fetch 'a.yaml': fetch failed: connect ECONNREFUSED",
      cause: refused,
    });
    await expect(portable.fetchFiles("/", [], misspelt)).rejects.toThrow(/no option 'mispelt'/);
    expect(() => portable.createEngine({ files: { a: 1 as never } })).toThrow(
      /files\.a must be a string/,
    );
    expect(() => portable.createEngine({ files: new Map([["a", 1 as never]]) })).toThrow(
      /files\['a'\] must be a string/,
    );
  });

  it("take the plugins of hydraconf for their configs", () => {
    const config = portable.compose({
      files: { "config.yaml": "defaults:\n- override hydra/launcher: joblib\n" },
      configDir: ".",
      configName: "config",
      plugins: node.STANDARD_PLUGINS,
      returnHydraConfig: true,
    });
    expect(config.get("hydra.launcher._target_")).toMatch(/JoblibLauncher$/);
  });

  it("show errors of the other package", () => {
    const error = new node.ConfigError({ code: "app.job", message: "of Node's" });
    expect(portable.isConfigError(error)).toBe(true);
    expect(portable.renderError(error)).toBe("of Node's");
  });

  it("refuse a JSON Schema without an ajv, and say how one is given", () => {
    const schema = { type: "object" };
    const request = { files: { "c.yaml": "a: 1" }, configDir: ".", configName: "c", schema };
    expect(() => portable.compose(request)).toThrow(
      expect.objectContaining({
        details: expect.objectContaining({
          code: "schema.invalid",
          hint: expect.stringContaining("createEngine({ ajv:"),
        }),
      }),
    );
  });

  it("refuse targets of modules, which cannot be imported: they can be registered", () => {
    expect(() => portable.instantiate({ _target_: "./a.js:b" })).toThrow(
      expect.objectContaining({
        details: expect.objectContaining({
          hint: 'createTargets({ "./a.js:b": … }) registers it',
        }),
      }),
    );
  });
});

describe("fetched files", () => {
  const answers: Readonly<Record<string, string>> = { "/t/a b.yaml": "x: 1" };
  const fetch = async (url: string) => {
    const text = answers[decodeURIComponent(url)];
    return {
      ok: text !== undefined,
      status: text === undefined ? 404 : 200,
      text: async () => text ?? "",
    };
  };

  it("are texts by their paths", async () => {
    const files = await portable.fetchFiles("/t/", ["a b.yaml"], { fetch });
    expect([...files]).toEqual([["a b.yaml", "x: 1"]]);
  });

  it("are named where they are not there, or cannot be reached", async () => {
    await expect(portable.fetchFiles("/t", ["a b.yaml", "c/d.yaml"], { fetch })).rejects.toThrow(
      expect.objectContaining({
        code: "compose.missing_config",
        message: "Cannot fetch 'c/d.yaml': /t/c/d.yaml answered 404",
      }),
    );
    const offline = () => Promise.reject(new TypeError("fetch failed"));
    await expect(portable.fetchFiles("/t", ["a"], { fetch: offline })).rejects.toThrow(
      "Cannot fetch 'a': fetch failed",
    );
  });
});

interface Sample {
  /** `ts`, `ts page` (needs a page of a server), or `ts FILE`. */
  readonly kind: string;
  readonly code: string;
  /** What it prints. */
  readonly output: string | undefined;
}

const page = () => readFileSync(join(root, "docs/anywhere.md"), "utf8");

const SAMPLES: readonly Sample[] = [
  ...page().matchAll(/```(ts[^\n]*)\n(.*?)```\n(?:\n```text\n(.*?)```)?/gs),
].map(([, kind = "", code = "", output]) => ({ kind, code, output }));

/** Printed lines, without spaces and breaks of lines that end an output. */
const shown = (lines: readonly string[]): string => `${lines.join("\n").trimEnd()}\n`;

describe("the samples of its page", () => {
  const inNode = SAMPLES.filter(({ kind }) => kind === "ts");
  it("are there", () => expect([inNode.length, SAMPLES.length]).toEqual([4, 7]));

  it.each(inNode.map(({ code, output }) => [code.split("\n")[0], code, output] as const))(
    "%s",
    async (_, code, output) => {
      const { code: script } = await bundled(`${code}\nexport {};`);
      const lines: string[] = [];
      const log = (...values: readonly unknown[]) =>
        lines.push(values.map((one) => (typeof one === "string" ? one : inspect(one))).join(" "));
      const url = `data:text/javascript,${encodeURIComponent(`const console = globalThis.__samples;${script}`)}`;
      Reflect.set(globalThis, "__samples", { log });
      await import(/* @vite-ignore */ url);
      Reflect.deleteProperty(globalThis, "__samples");
      expect(shown(lines)).toBe(output);
    },
  );
});

test("the samples compile, strictly, without the types of Node", () => {
  const folder = mkdtempSync(join(tmpdir(), "hydraconf-samples-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const files = SAMPLES.map(({ code }, index) => {
    const file = join(folder, `${index}.ts`);
    writeFileSync(file, `${code}\nexport {};`);
    return file;
  });
  const program = ts.createProgram(files, {
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    target: ts.ScriptTarget.ES2022,
    lib: ["lib.es2023.d.ts", "lib.dom.d.ts"],
    types: [],
    strict: true,
    allowImportingTsExtensions: true,
    noEmit: true,
    paths: { "hydraconf/engine": [face] },
  });
  const told = files
    .flatMap((file) => program.getSemanticDiagnostics(program.getSourceFile(file)))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
  expect(told).toEqual([]);
}, 60_000);

describeInBrowser("hydraconf/engine in a browser", (open) => {
  const CONF: Readonly<Record<string, string>> = {
    "config.yaml": "defaults: [{db: mysql}]\n",
    "db/mysql.yaml": "port: 3306\n",
    "db/pg.yaml": "port: 5432\n",
  };
  let server: Server;
  const scripts = new Map<string, string>();
  beforeAll(async () => {
    for (const { kind, code } of SAMPLES) {
      const file = /^ts (.*\.js)$/.exec(kind)?.[1];
      if (file !== undefined) scripts.set(`/${file}`, (await bundled(code)).code);
    }
    server = createServer(({ url = "/" }, response) => {
      const [type, content] = url.endsWith(".js")
        ? ["text/javascript", scripts.get(url)]
        : url.startsWith("/conf/")
          ? ["text/plain", CONF[url.slice("/conf/".length)]]
          : ["text/html", `<!doctype html><script type="module" src="${url}.js"></script>`];
      response.writeHead(content === undefined ? 404 : 200, { "content-type": type });
      response.end(content);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  });
  afterAll(() => void server.close());

  const pages = SAMPLES.filter(({ output }) => output !== undefined);
  test.each(pages.map((sample, index) => [index, sample] as const))(
    "runs sample %i",
    async (index, { code, output }) => {
      // What an object looks like on the console is the browser's matter.
      const printed =
        "const log = (v) => lines.push(typeof v === 'string' ? v : JSON.stringify(v));";
      const lines = "const lines = (globalThis.lines = []);";
      const { code: script } = await bundled(`${code}\nexport {};`);
      scripts.set(`/${index}.js`, `{${lines}${printed}globalThis.console = { log };}\n${script}`);
      const { page } = await open("<p></p>");
      const wrong: string[] = [];
      page.on("pageerror", (error) => wrong.push(error.message));
      const { port } = server.address() as AddressInfo;
      await page.goto(`http://127.0.0.1:${port}/${index}`);
      const count = output?.split("\n").length ?? 0;
      const text = page.waitForFunction(
        "globalThis.lines?.length > 0 && globalThis.lines.join('\\n').trimEnd().split('\\n').length >= " +
          String(count - 1) +
          " && globalThis.lines.join('\\n')",
      );
      const all = String(await (await text).jsonValue());
      expect(wrong).toEqual([]);
      expect(shown([all])).toBe(
        output?.replace("{ db: { user: 'ada', port: 3306 } }", '{"db":{"user":"ada","port":3306}}'),
      );
    },
  );
});
