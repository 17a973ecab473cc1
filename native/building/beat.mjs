// A thread that renews the time of a lock file, also while its process waits for a program and does nothing else.
import { utimesSync } from "node:fs";
import { workerData } from "node:worker_threads";

const { path, everyMs } = workerData;
setInterval(() => {
  const now = new Date();
  try {
    utimesSync(path, now, now);
  } catch {
    // It is not there any more, or the file system cannot be reached: then nobody else sees it, either.
  }
}, everyMs);
