import { once } from "node:events";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runSweepCommand } from "../../../src/app/cli/sweep-command.ts";
import type { SweepBackend } from "../../../src/app/launch/scheduler.ts";
import { slurmLauncher } from "../../../src/app/plugins/slurm/slurm-launcher.ts";
import { watchSweep } from "../../../src/app/sweep/watch-sweep.ts";
import { capturedConsole } from "../../captured-console.ts";
import { until } from "../../wait.ts";
import { program } from "./program.ts";

const CONFIG = { "conf/config.yaml": "x: 1\nhydra: {sweep: {dir: s}}\n" };

/** A request as a browser sends it. @param host the name by which it found the server */
const ask = (address: string, { host, method = "GET" }: { host?: string; method?: string } = {}) =>
  new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
    const asked = request(address, { method, ...(host && { headers: { host } }) }, (response) => {
      const parts: Buffer[] = [];
      response.on("data", (part: Buffer) => parts.push(part));
      response.on("end", () =>
        resolve({ status: response.statusCode, text: Buffer.concat(parts).toString() }),
      );
    });
    asked.on("error", reject).end();
  });

function watch(cwd: string, ...args: readonly string[]) {
  const { console, out } = capturedConsole();
  const invocation = { argv: [], env: {}, cwd, now: new Date(), console };
  return { out, ended: runSweepCommand(["watch", "s", ...args], invocation) };
}

test("shows the page while the sweep runs, on the loopback interface alone, and ends with it", async () => {
  const { cwd, run } = program(CONFIG);
  let finish: () => void = () => {};
  const isFree = new Promise<void>((resolve) => {
    finish = resolve;
  });
  let isRunning = false;
  const sweep = run(["-m", "x=1,2"], async (config) => {
    if (config.get("x") === 2) {
      isRunning = true;
      await isFree;
    }
    return Number(config.get("x"));
  });
  await until(() => isRunning);
  const { ended, out } = watch(cwd);
  await until(() => out.stdout !== "");
  const address = out.stdout.trim();
  expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}\/$/);
  const page = await ask(address);
  expect(page.status).toBe(200);
  expect(page.text).toContain("connect-src 'self'");
  const data = async () => JSON.parse((await ask(`${address}data.json`)).text);
  expect(await data()).toMatchObject({
    status: ["completed", "running"],
    results: [{ title: "result", numbers: [1, null] }],
    links: null,
    isLive: true,
  });
  // Others on this machine, and pages of others in the user's browser.
  expect((await ask(address.replace(/[0-9a-f]{32}/, "0".repeat(32)))).status).toBe(404);
  expect((await ask(new URL("/", address).href)).status).toBe(404);
  expect((await ask(`${address}../s/.sweep/manifest.json`)).status).toBe(404);
  expect((await ask(address, { host: "example.org" })).status).toBe(404);
  expect((await ask(address, { method: "POST" })).status).toBe(404);
  finish();
  expect((await sweep).exitCode).toBe(0);
  let last: { readonly isLive?: true; readonly status: readonly string[] } | undefined;
  await until(async () => {
    last = await data();
    return last?.isLive === undefined;
  });
  expect(last?.status).toEqual(["completed", "completed"]);
  expect(await ended).toBe(0);
  expect(out.stderr).toMatch(/The sweep is over\n$/);
  await expect(ask(address)).rejects.toThrow();
});

test("ends by the error of an answer that is no fault of the record", async () => {
  const { cwd, run } = program(CONFIG);
  await run(["-m", "x=1,2"]);
  const failing = new Error("boom");
  const backend: SweepBackend = {
    status: () => Promise.reject(failing),
    reconcile: () => Promise.resolve(undefined),
    handedOver: () => new Set(),
    async *watch({ signal } = {}) {
      if (signal !== undefined) await once(signal, "abort");
      yield* [];
    },
    cancel: () => Promise.resolve(),
  };
  let address = "";
  const ended = watchSweep({
    ...{ directory: join(cwd, "s"), env: {}, port: 0, signal: new AbortController().signal },
    launchers: [{ ...slurmLauncher, backend: () => Promise.resolve(backend) }],
    onAddress: (one) => {
      address = one;
    },
  });
  const outcome = expect(ended).rejects.toBe(failing);
  await until(() => address !== "");
  expect((await ask(address)).status).toBe(500);
  await outcome;
});

test("refuses a port in use, and no sweep", async () => {
  const { cwd, run } = program(CONFIG);
  await expect(watch(cwd).ended).rejects.toThrow(/no sweep|does not/i);
  await run(["-m", "x=1,2"]);
  await expect(watch(cwd, "--port", "70000").ended).rejects.toThrow("is not a port");
  const other = createServer().listen(0, "127.0.0.1");
  try {
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    await expect(watch(cwd, "--port", String(port)).ended).rejects.toThrow(`${port} is in use`);
  } finally {
    other.close();
  }
  // Of a sweep that is over, there is nothing to watch.
  expect(await watch(cwd).ended).toBe(0);
});
