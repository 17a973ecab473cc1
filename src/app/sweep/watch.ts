/** The page of a sweep while it runs, for browsers of this machine. */
import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { ConfigError, isConfigError } from "../../engine/values/errors.ts";
import { errorCode } from "../../foundation/system/files.ts";
import { readPageAssets } from "../../pages/page-assets.ts";
import { sweepFolder } from "../record/layout.ts";
import { readFacts } from "../record/manifest.ts";
import { judgementOfPage, type PageJudgement } from "./best.ts";
import { sweepPageData } from "./page/build-page-data.ts";
import type { SweepPageData } from "./page/page-data.ts";
import { renderSweepPage } from "./page/render-page.ts";
import { readSweepStatus } from "./status.ts";
import { pageSweep, pageTitle } from "./sweep-page.ts";
import { type WaitRequest, waitForSweep } from "./wait.ts";

export interface WatchRequest
  extends Pick<WaitRequest, "directory" | "env" | "launchers" | "signal"> {
  /** Zero for any that is free. */
  readonly port: number;
  /** Receives the address of the page. */
  readonly onAddress: (address: string) => void;
}

/** Whoever looks asks every two seconds; a scheduler is not to be asked by each of them. */
const FRESH_MS = 1000;
/** An open page asks once more in this time, and then has all. */
const LAST_LOOK_MS = 5000;

/**
 * Serves the page until nothing of the sweep runs any more, or the signal aborts. It listens on the loopback interface, and its
 * address has a secret part: other users of the machine can reach the port, too.
 *
 * @throws ConfigError `app.usage` for a port in use, `app.sweep_record` if there is no sweep
 */
export async function watchSweep(request: WatchRequest): Promise<void> {
  const { directory, env, port, onAddress } = request;
  const broken = new AbortController();
  const signal = AbortSignal.any([request.signal, broken.signal]);
  const assets = readPageAssets("sweep");
  const facts = readFacts(sweepFolder(directory));
  const judgement = judgementOfPage(directory, facts, env);
  const path = `/${randomBytes(16).toString("hex")}/`;
  let isOver = false;
  let lastAsked = Number.NEGATIVE_INFINITY;
  let onLastLook: (() => void) | undefined;
  let known: { readonly at: number; readonly data: Promise<SweepPageData> } | undefined;
  const dataNow = (): Promise<SweepPageData> => {
    const now = performance.now();
    if (known === undefined || isOver || now - known.at > FRESH_MS)
      known = { at: now, data: dataOf(request, judgement, !isOver) };
    return known.data;
  };
  const answer = async (asked: IncomingMessage, response: ServerResponse): Promise<void> => {
    // A name that leads here, in another page, would let that page read this one.
    const host = asked.headers.host?.replace(/:\d+$/, "");
    const isOurs = host === "127.0.0.1" || host === "localhost";
    const name = asked.url?.startsWith(path) === true ? asked.url.slice(path.length) : undefined;
    if (!isOurs || asked.method !== "GET" || (name !== "" && name !== "data.json")) {
      response.writeHead(404, HEADERS).end();
      return;
    }
    lastAsked = performance.now();
    const wasOver = isOver;
    const data = await dataNow();
    const isPage = name === "";
    const text = isPage
      ? renderSweepPage(pageTitle(directory), data, assets)
      : JSON.stringify(data);
    const type = isPage ? "text/html; charset=utf-8" : "application/json";
    response.writeHead(200, { ...HEADERS, "content-type": type }).end(text, () => {
      if (wasOver) onLastLook?.();
    });
  };
  const server = createServer((asked, response) => {
    answer(asked, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else response.writeHead(500, HEADERS).end();
      if (!isConfigError(error)) broken.abort(error);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) =>
      reject(errorCode(error) === "EADDRINUSE" ? portInUse(port) : error),
    );
    server.listen(port, "127.0.0.1", resolve);
  });
  try {
    const address = server.address();
    const used = typeof address === "object" && address !== null ? address.port : port;
    onAddress(`http://127.0.0.1:${used}${path}`);
    await waitForSweep({ ...request, signal });
    isOver = true;
    broken.signal.throwIfAborted();
    if (signal.aborted || performance.now() - lastAsked > LAST_LOOK_MS) return;
    await new Promise<void>((resolve) => {
      onLastLook = resolve;
      setTimeout(resolve, LAST_LOOK_MS).unref();
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
    broken.signal.throwIfAborted();
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

const HEADERS = {
  "cache-control": "no-store",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
} as const;

async function dataOf(
  { directory, env, launchers, signal }: WatchRequest,
  judgement: PageJudgement,
  isLive: boolean,
): Promise<SweepPageData> {
  const { rows } = await readSweepStatus({ directory, env, launchers, signal });
  return sweepPageData([pageSweep(directory, rows, judgement)], isLive ? { isLive } : {});
}

const portInUse = (port: number): ConfigError =>
  new ConfigError({
    code: "app.usage",
    message: `--port: ${port} is in use`,
    hint: "name another one, or none for any that is free",
  });
