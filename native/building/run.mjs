import { spawn } from "node:child_process";

/** Runs a program without a shell; `code` is null where it could not be started. */
export function run(program, args, { cwd, env = process.env }) {
  return new Promise((done) => {
    const child = spawn(program, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text) => {
      output += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text) => {
      output += text;
    });
    child.on("error", () => done({ code: null, output }));
    child.on("close", (code, signal) => done({ code: code ?? (signal ? 1 : 0), output }));
  });
}
