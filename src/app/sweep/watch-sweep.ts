/** The page of a sweep while it runs, for browsers of this machine. */
import { isConfigError } from "../../engine/values/errors.ts";
import {
  type AskedPage,
  openLoopbackServer,
  type PageAnswer,
} from "../../foundation/system/loopback-server.ts";
import { readPageAssets } from "../../pages/html.ts";
import { sweepFolder } from "../record/layout.ts";
import { readFacts } from "../record/manifest.ts";
import { judgementOfPage, type PageJudgement } from "./best.ts";
import { sweepPageData } from "./page/build-page-data.ts";
import { renderSweepPage } from "./page/render-sweep-page.ts";
import type { SweepPageData } from "./page/sweep-page-data.ts";
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
 * Serves the page until nothing of the sweep runs any more, or the signal aborts.
 *
 * @throws ConfigError `app.sweep_record` if there is no sweep, and the error of the system for a port in use
 */
export async function watchSweep(request: WatchRequest): Promise<void> {
  const { directory, env, port, onAddress } = request;
  const broken = new AbortController();
  const signal = AbortSignal.any([request.signal, broken.signal]);
  const assets = readPageAssets("sweep");
  const facts = readFacts(sweepFolder(directory));
  const judgement = judgementOfPage(directory, facts, env);
  let isOver = false;
  let lastAsked = Number.NEGATIVE_INFINITY;
  let onLastLook: (() => void) | undefined;
  let latest: { readonly time: number; readonly data: Promise<SweepPageData> } | undefined;
  const dataNow = (): Promise<SweepPageData> => {
    const now = performance.now();
    if (latest === undefined || isOver || now - latest.time > FRESH_MS)
      latest = { time: now, data: dataOf(request, judgement, !isOver) };
    return latest.data;
  };
  const answer = async ({ name }: AskedPage): Promise<PageAnswer | undefined> => {
    if (name !== "" && name !== "data.json") return undefined;
    lastAsked = performance.now();
    const wasOver = isOver;
    const data = await dataNow();
    const isPage = name === "";
    return {
      type: isPage ? "text/html; charset=utf-8" : "application/json",
      text: isPage ? renderSweepPage(pageTitle(directory), data, assets) : JSON.stringify(data),
      onSent() {
        if (wasOver) onLastLook?.();
      },
    };
  };
  const onError = (error: unknown) => {
    if (!isConfigError(error)) broken.abort(error);
  };
  const server = await openLoopbackServer({ port, answer, onError });
  try {
    onAddress(server.address);
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
  }
}

async function dataOf(
  { directory, env, launchers, signal }: WatchRequest,
  judgement: PageJudgement,
  isLive: boolean,
): Promise<SweepPageData> {
  const { rows } = await readSweepStatus({ directory, env, launchers, signal });
  return sweepPageData([pageSweep(directory, rows, judgement)], isLive ? { isLive } : {});
}
