// Builds the native part: node scripts/native.mjs [--afresh] [--own-nvtx] [--out DIR] [--sanitize LIST] [--quiet] [--quiet-when-ready]
import { readFileSync } from "node:fs";
import { constants } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { buildNative, NativeBuildError, nativeStatus } from "../native/build.mjs";

export { buildNative, NativeBuildError, nativeStatus };

/** The command; returns the exit code. */
async function main(args, signal) {
  const { values } = parseArgs({
    args,
    options: {
      afresh: { type: "boolean", default: false },
      "own-nvtx": { type: "boolean", default: false },
      out: { type: "string" },
      sanitize: { type: "string" },
      quiet: { type: "boolean", default: false },
      "quiet-when-ready": { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) {
    const [about = ""] = readFileSync(fileURLToPath(import.meta.url), "utf8").split("\n", 1);
    console.log(about.slice("// ".length));
    return 0;
  }
  const root = fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, "");
  const { built, binDir, info } = await buildNative({
    root,
    signal,
    quiet: values.quiet,
    afresh: values.afresh,
    ownNvtx: values["own-nvtx"],
    ...(values.out === undefined ? {} : { out: values.out }),
    ...(values.sanitize === undefined ? {} : { sanitize: values.sanitize }),
  });
  if (!values.quiet && (built || !values["quiet-when-ready"]))
    console.error(
      built
        ? `built ${info.outputs.join(", ")} in ${binDir}`
        : `native part is up to date (${info.summary})`,
    );
  return 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const stop = new AbortController();
  for (const name of ["SIGINT", "SIGQUIT", "SIGTERM", "SIGHUP"])
    process.on(name, () => stop.abort(name));
  try {
    process.exitCode = await main(process.argv.slice(2), stop.signal);
  } catch (error) {
    if (stop.signal.aborted) {
      console.error(`stopped by ${stop.signal.reason} while the native part was built`);
      process.exit(128 + constants.signals[stop.signal.reason]);
    }
    const usage = typeof error.code === "string" && error.code.startsWith("ERR_PARSE_ARGS");
    if (!usage && !(error instanceof NativeBuildError)) throw error;
    console.error(error.message);
    process.exitCode = usage ? 2 : 1;
  }
}
