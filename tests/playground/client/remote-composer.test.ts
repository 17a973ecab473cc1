/** The composer of the page, with workers that answer, fail and fall silent. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import {
  type StartedWorker,
  startComposer,
  type WorkerListener,
} from "../../../src/playground/client/remote-composer.ts";
import { createReplier, type Message } from "../../../src/playground/model/requests.ts";
import { treeOf } from "../sample.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const FILES = new Map([["config.yaml", "lr: 1\n"]]);
const view = (...overrides: readonly string[]) => ({
  call: { configName: "config", overrides },
  resolve: false,
  compared: undefined,
  defaults: undefined,
});

/** Workers that answer until they are told to be silent. */
function setUp() {
  const started: { ended: boolean; readonly listener: WorkerListener }[] = [];
  const messages: Message[] = [];
  const state = { silent: false };
  const start = (listener: WorkerListener): StartedWorker => {
    const worker = { ended: false, listener };
    const replyTo = createReplier();
    started.push(worker);
    return {
      send(message) {
        messages.push(message);
        if (!state.silent) queueMicrotask(() => listener.onReply(replyTo(message)));
      },
      end() {
        worker.ended = true;
      },
    };
  };
  const composer = startComposer(start);
  const { files: _, ...about } = treeOf(Object.fromEntries(FILES));
  composer.setFiles(about, FILES);
  return { composer, messages, started, state };
}

const outcome = (answer: Promise<unknown>) =>
  answer.then(
    () => "answered",
    (error: Error) => error.message,
  );

test("a worker that falls silent is replaced by one with all files, and the page is told", async () => {
  const { composer, messages, started, state } = setUp();
  expect((await composer.ask("view", view())).problems).toEqual([]);
  state.silent = true;
  const lost = Promise.all([1, 2].map(() => outcome(composer.ask("view", view("lr=2")))));
  await vi.advanceTimersToNextTimerAsync();
  for (const text of await lost) {
    expect(text).toContain("has not answered for 60 seconds");
    expect(text).toContain("change the overrides or a file");
  }
  expect(started.map(({ ended }) => ended)).toEqual([true, false]);
  expect(vi.getTimerCount()).toBe(0);
  state.silent = false;
  const again = await composer.ask("view", view("lr=3"));
  expect(again.config?.lines.map(({ text }) => text)).toEqual(["lr: 3"]);
  expect(messages.at(-1)?.files?.changed).toEqual([...FILES]);
});

test("a worker with nothing to answer is left alone, and each answer gives it time for the next", async () => {
  const { composer, started } = setUp();
  await composer.ask("view", view());
  expect(vi.getTimerCount()).toBe(0);
  const answers = Promise.all([composer.ask("view", view()), composer.ask("view", view("lr=2"))]);
  expect(vi.getTimerCount()).toBe(1);
  await answers;
  expect([vi.getTimerCount(), started.length]).toEqual([0, 1]);
});

test("an error of a worker refuses what it was asked, and for good where it never started", async () => {
  const { composer, started, state } = setUp();
  state.silent = true;
  const refused = outcome(composer.ask("view", view()));
  started[0]?.listener.onError("");
  expect(await refused).toBe("the browser refused to start a worker");
  expect(await outcome(composer.ask("view", view()))).toBe("the browser refused to start a worker");
  expect(vi.getTimerCount()).toBe(0);
});
