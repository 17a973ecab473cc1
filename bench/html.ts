/**
 * The HTML page of a large report, beside writing the same report as JSON in the same run:
 * `npm run bench html`
 */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { renderHtmlReport } from "../src/report/render/report-page.ts";
import { largeBundle } from "../tests/report/bundles.ts";
import { median, timeOf } from "./measure.ts";
import { createScore, ms } from "./score.ts";

const REGIONS = 1_000;
const KERNELS_PER_REGION = 100;
const MOST_MS = 3_000;
const MOST_MB = 500;
const MOST_BYTES = 1_000_000;
/** The page may take this many times what the report takes as indented JSON. */
const MOST_TIMES_JSON = 8;

interface Measured {
  readonly jsonMs: number;
  readonly pageMs: number;
  readonly bytes: number;
  readonly peakMb: number;
}

/** In a process of its own: the peak of memory is a process's, and the first time is what users get. */
function measureHere(): Measured {
  const bundle = largeBundle(REGIONS, KERNELS_PER_REGION);
  let page = "";
  const pageMs = timeOf(() => {
    page = renderHtmlReport(bundle, { title: "Report", files: ["report.json"] });
  });
  const peakMb = process.resourceUsage().maxRSS / 1024;
  const jsonMs = timeOf(() => JSON.stringify(bundle, null, 2));
  return { jsonMs, pageMs, bytes: Buffer.byteLength(page), peakMb };
}

const self = fileURLToPath(import.meta.url);

function measureApart(): Measured {
  const loader = fileURLToPath(new URL("../scripts/typescript-loader.mjs", import.meta.url));
  const args = ["--import", loader, self, "here"];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" })) as Measured;
}

export async function benchHtml(print: (line: string) => void): Promise<boolean> {
  const score = createScore(print);
  const runs = Array.from({ length: 3 }, measureApart);
  const middle = (of: (run: Measured) => number) => median(runs.map(of));
  const pageMs = middle((run) => run.pageMs);
  const jsonMs = middle((run) => run.jsonMs);
  score.atMost("the page beside indented JSON", pageMs / jsonMs, MOST_TIMES_JSON, "x", ms(jsonMs));
  score.atMost("time", pageMs, MOST_MS, "ms");
  score.atMost(
    "memory of the process",
    middle((run) => run.peakMb),
    MOST_MB,
    "MB",
  );
  score.atMost(
    "size of the page",
    middle((run) => run.bytes),
    MOST_BYTES,
    "bytes",
  );
  return score.reached();
}

if (process.argv[1] === self) {
  if (process.argv[2] === "here") console.log(JSON.stringify(measureHere()));
  else process.exitCode = (await benchHtml(console.log)) ? 0 : 1;
}
