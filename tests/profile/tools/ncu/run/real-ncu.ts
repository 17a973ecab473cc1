import { execFileSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nsightEnvironment, nsightOrSkip } from "../../../../nsight.ts";
import { sharedOrSkip } from "../../../../shared.ts";
import { buildReport, type ResultSketch } from "./report-builder.ts";

/** The real ncu and a report to build others from; null after printing why not. */
export function realNcuOrSkip(what: string) {
  const ncu = nsightOrSkip("ncu", what);
  const shared = sharedOrSkip(what);
  if (ncu === null || shared === null) return null;
  const nsight = nsightEnvironment();
  const env = { ...process.env, ...nsight, LC_ALL: "C.UTF-8" };
  const home = nsight["HOME"] ?? "";
  const directory = mkdtempSync(join(tmpdir(), "hydraconf-real-ncu-"));
  const template = join(shared, "samples/nsight/mojo.ncu-rep");
  let reports = 0;
  return {
    path: ncu,
    env,
    home,
    template,
    /** Standard output and error of a call, whatever its exit code. */
    say: (...args: readonly string[]): string => {
      try {
        return execFileSync(ncu, args, { env, encoding: "utf8", stdio: "pipe", cwd: directory });
      } catch (error) {
        const { stdout, stderr } = error as { stdout?: string; stderr?: string };
        return `${stdout ?? ""}${stderr ?? ""}`;
      }
    },
    /** Which of some results the real matcher lets through. */
    matching: (results: readonly ResultSketch[]) => {
      const file = join(directory, `${++reports}.ncu-rep`);
      writeFileSync(file, buildReport(template, results));
      return (include: readonly string[], options: readonly string[] = []): readonly string[] => {
        const output = execFileSync(
          ncu,
          [
            ...["--import", file, "--csv", "--page", "raw", "--metrics", "gpu__time_duration.sum"],
            ...include.flatMap((expression) => ["--nvtx-include", expression]),
            ...options,
          ],
          { env, encoding: "utf8", stdio: "pipe" },
        );
        const names = new Set(results.map(({ kernel }) => kernel));
        return [...output.matchAll(/^.*"(kernel\d+)","1",/gm)].flatMap(([, name = ""]) =>
          names.has(name) ? [name] : [],
        );
      };
    },
  };
}
