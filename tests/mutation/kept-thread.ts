/**
 * The worker of `npm run mutation`: one thread runs the tests of all changes, with the modules that it has loaded. Vitest ends its
 * threads after each run, and to load everything again would take most of the time of thousands of runs.
 */
import { type PoolRunnerInitializer, ThreadsPoolWorker, type WorkerRequest } from "vitest/node";

type StartRequest = Extract<WorkerRequest, { readonly type: "start" }>;
type Listener = (value: unknown) => void;

export function keptThread(): PoolRunnerInitializer {
  let thread: ThreadsPoolWorker | null = null;
  return {
    name: "kept-thread",
    createPoolWorker(options) {
      const listeners: { readonly event: string; readonly listener: Listener }[] = [];
      let isNew = false;
      let started: StartRequest | undefined;
      const threadOf = (): ThreadsPoolWorker => {
        if (thread === null) throw new Error("the worker has not been started");
        return thread;
      };
      /** In place of the thread, which neither starts nor stops with a run. */
      const answer = (type: "started" | "stopped"): void =>
        queueMicrotask(() => {
          for (const { event, listener } of [...listeners])
            if (event === "message") listener({ type, __vitest_worker_response__: true });
        });
      return {
        name: "kept-thread",
        deserialize: (data) => data,
        async start() {
          if (thread !== null) return;
          const own = new ThreadsPoolWorker(options);
          await own.start();
          own.on("exit", () => {
            thread = null;
          });
          thread = own;
          isNew = true;
        },
        on(event, listener) {
          listeners.push({ event, listener });
          threadOf().on(event, listener);
        },
        off(event, listener) {
          const at = listeners.findIndex((one) => one.event === event && one.listener === listener);
          if (at >= 0) listeners.splice(at, 1);
          thread?.off(event, listener);
        },
        send(message) {
          if (message.type === "start") {
            started = message;
            if (isNew) threadOf().send(message);
            else answer("started");
          } else if (message.type === "stop") answer("stopped");
          else if (message.type === "run") {
            // Which tests of a file run is in the configuration, which a thread otherwise gets as it starts.
            const context = { ...message.context, config: started?.context.config };
            threadOf().send({ ...message, context });
          } else threadOf().send(message);
        },
        async stop() {
          for (const { event, listener } of listeners.splice(0)) thread?.off(event, listener);
        },
      };
    },
  };
}
