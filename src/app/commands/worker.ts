import type { WorkerRequest } from "../worker/worker-request.ts";
import type { Command } from "./command.ts";

/** What a program does that a launcher started: one job of a sweep. */
export const workerCommand = (request: WorkerRequest): Command => ({
  isAsked: () => true,
  execute: async (session) => (await import("../worker/run-worker.ts")).runWorker(session, request),
});
