/** Sweeps for pages: their rows as the record of a sweep gives them. */
import type { SweepRow } from "../../../../src/app/job/options.ts";
import { type PageSweep, sweepPageData } from "../../../../src/app/sweep/page/build-page-data.ts";
import { renderSweepPage } from "../../../../src/app/sweep/page/render-sweep-page.ts";
import { readPageAssets } from "../../../../src/pages/html.ts";

/** Numbers from 0 to 1, always the same ones. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** A search over `lr` (log), `layers`, `model` and `noise`, which does nothing; every eleventh job fails. */
export function searchRows(count: number, seed = 1): readonly SweepRow[] {
  const random = numbers(seed);
  return Array.from({ length: count }, (_, number): SweepRow => {
    const lr = Number((10 ** (-4 + 3 * random())).toPrecision(4));
    const layers = 2 + Math.floor(random() * 7);
    const model = ["resnet", "mlp", "transformer"][Math.floor(random() * 3)] ?? "";
    const noise = Number(random().toFixed(3));
    const isFailed = number % 11 === 7;
    const loss =
      (Math.log10(lr) + 2.5) ** 2 +
      0.05 * (layers - 5) ** 2 +
      (model === "mlp" ? 0.3 : 0) +
      0.1 * random();
    return {
      number,
      swept: {
        lr,
        layers,
        model,
        noise,
        epochs: 5,
        ...(model === "mlp" && { width: 16 * layers }),
      },
      status: isFailed ? "failed" : "completed",
      attempts: 1,
      started: new Date(Date.UTC(2026, 0, 2) + number * 1500).toISOString(),
      seconds: Number((1 + layers * random()).toFixed(3)),
      exit_code: isFailed ? 1 : 0,
      ended_by: { by: "itself" },
      error: isFailed ? "RuntimeError: CUDA out of memory, tried to allocate 2.00 GiB" : null,
      result: isFailed
        ? null
        : { val: { loss }, seconds_per_step: layers * 0.01 + 0.001 * random() },
      output_dir: `/s/${number}`,
      continues: null,
      left_out: false,
    };
  });
}

export const pageSweepOf = (rows: readonly SweepRow[], name = "search"): PageSweep => ({
  name,
  rows,
  judgement: [{ column: "val.loss", direction: "minimize" }],
  curvesOf: ({ number, status }) =>
    status === "failed"
      ? []
      : [
          {
            metric: "loss",
            steps: Array.from({ length: 20 }, (_, step) => step),
            values: Array.from({ length: 20 }, (_, step) => (number % 7) + 5 / (step + 1)),
          },
        ],
  linksOf: ({ number }) => ({
    files: String(number),
    log: `.sweep/jobs/${number}.log`,
    report: "",
  }),
});

export const pageOf = (...sweeps: readonly PageSweep[]): string =>
  renderSweepPage("Sweep search", sweepPageData(sweeps), readPageAssets("sweep"));
