import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { nsightEnvironment, nsightOrSkip } from "../../../../nsight.ts";
import { samplesOrSkip } from "../../../../shared.ts";
import { buildReport, type ResultSketch } from "./report-builder.ts";

/** What answers as the real ncu, and asks it each question once: the variables say where. */
export const CACHED_NCU = fileURLToPath(
  new URL("../../../../fixtures/programs/fake-ncu.sh", import.meta.url),
);

/** For `CACHED_NCU`: all test files share the answers. */
export function cachedNcuEnvironment(ncu: string) {
  const answers = join(tmpdir(), "ncu-answers");
  mkdirSync(answers, { recursive: true });
  return { FAKE_NCU_REAL: ncu, FAKE_NCU_ANSWERS: answers };
}

/** The real ncu and a report to build others from; null after printing why not. */
export function realNcuOrSkip(what: string) {
  const ncu = nsightOrSkip("ncu", what);
  const sample = samplesOrSkip(what);
  if (ncu === null || sample === null) return null;
  const nsight = nsightEnvironment();
  const env = { ...process.env, ...nsight, LC_ALL: "C.UTF-8" };
  const home = nsight["HOME"] ?? "";
  const directory = mkdtempSync(join(tmpdir(), "hydraconf-real-ncu-"));
  const template = sample("mojo.ncu-rep");
  const cached = join(directory, "ncu");
  const variables = Object.entries(cachedNcuEnvironment(ncu)).map(
    ([name, value]) => `${name}='${value}'`,
  );
  writeFileSync(cached, `#!/bin/sh\n${variables.join(" ")} exec '${CACHED_NCU}' "$@"\n`, {
    mode: 0o755,
  });
  let reports = 0;
  return {
    path: ncu,
    /** Path of a program that answers as it does, and asks it each question about the same report once. */
    cached,
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
