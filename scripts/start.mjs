// `npm start`: sets up what is missing, then profiles; arguments after `--` go to deep-profile.
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { join } from "node:path";
import {
  buildNativePart,
  buildTypeScript,
  installDependencies,
  requireNode,
  root,
} from "./setup.mjs";

requireNode();
await installDependencies();
await buildTypeScript();
buildNativePart();

const command = join(root, "dist", "bin", "deep-profile.js");
const child = spawn(process.execPath, [command, ...process.argv.slice(2)], { stdio: "inherit" });
// The command handles what stops it itself (it stops the workload and still writes its report): wait.
for (const signal of ["SIGINT", "SIGQUIT", "SIGTERM", "SIGHUP"])
  process.on(signal, () => child.kill(signal));
child.on("exit", (code, signal) =>
  process.exit(signal === null ? code : 128 + constants.signals[signal]),
);
