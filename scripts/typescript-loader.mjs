// node --import ./scripts/typescript-loader.mjs FILE.ts: runs TypeScript with nothing added to it. tsx, for comparison,
// wraps every function to keep its name, which takes up to half of the time that benchmarks would measure.
import { readFileSync } from "node:fs";
import { register } from "node:module";
import { fileURLToPath } from "node:url";
import { isMainThread } from "node:worker_threads";
import { transform } from "esbuild";
import { isTextFile, textModule } from "./text-files.mjs";

if (isMainThread) register(import.meta.url);

/** Node runs its hooks in a thread of their own; this file is both sides. */
export async function load(url, context, next) {
  if (url.startsWith("file:") && isTextFile(url)) {
    const source = textModule(readFileSync(fileURLToPath(url), "utf8"));
    return { format: "module", source, shortCircuit: true };
  }
  if (!url.startsWith("file:") || !url.endsWith(".ts")) return next(url, context);
  const { code } = await transform(readFileSync(fileURLToPath(url), "utf8"), {
    loader: "ts",
    target: "node20.19",
    sourcefile: fileURLToPath(url),
    sourcemap: "inline",
  });
  return { format: "module", source: code, shortCircuit: true };
}
