import { spawn } from "node:child_process";

/** How long what is told to end has for it, in milliseconds: compilers and make remove what they have not finished. */
const GRACE_MS = 5_000;

/**
 * Runs a program without a shell; `code` is null where it could not be started. With a `signal` it has a process group
 * of its own, which is ended when that aborts: then the promise rejects, once nothing of the group runs any more.
 */
export async function run(program, args, { cwd, env = process.env, signal }) {
  signal?.throwIfAborted();
  const child = spawn(program, args, {
    cwd,
    env,
    stdio: ["ignore", "pipe", "pipe"],
    detached: signal !== undefined,
  });
  const release = endOnAbort(child, signal);
  try {
    const result = await outcomeOf(child);
    signal?.throwIfAborted();
    return result;
  } finally {
    release();
  }
}

function outcomeOf(child) {
  return new Promise((done) => {
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text) => {
      output += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text) => {
      output += text;
    });
    child.on("error", () => done({ code: null, output }));
    // Not `exit`: what the program started may still run, and holds its output open.
    child.on("close", (code, signal) => done({ code: code ?? (signal ? 1 : 0), output }));
  });
}

function endOnAbort(child, signal) {
  if (signal === undefined || child.pid === undefined) return () => {};
  let timer;
  const end = () => {
    signalGroup(child.pid, "SIGTERM");
    timer = setTimeout(() => signalGroup(child.pid, "SIGKILL"), GRACE_MS);
  };
  signal.addEventListener("abort", end, { once: true });
  return () => {
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
  };
}

function signalGroup(pid, name) {
  try {
    process.kill(-pid, name);
  } catch (error) {
    // It ended by itself meanwhile.
    if (error.code !== "ESRCH") throw error;
  }
}
