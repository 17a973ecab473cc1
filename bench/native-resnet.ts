/**
 * Speed of the native convolution beside the machine's multiply-add rate, both measured in one run:
 * tsx bench/native-resnet.ts. The goal stands in `GOAL`.
 */
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { buildNative } from "../native/build.mjs";

/** Least fraction of the multiply-add rate that the residual blocks' convolution should reach. */
const GOAL = 0.25;

interface Measurement {
  readonly isa: string;
  readonly threads: number;
  readonly convolutions: readonly {
    readonly name: string;
    readonly input: readonly number[];
    readonly out_channels: number;
    readonly gflops_per_second: number;
    readonly fma_gflops_per_second: number;
    readonly fraction: number;
  }[];
}

/** One table per number of threads: 1, and all processors. */
export async function benchNativeResnet(print: (line: string) => void): Promise<boolean> {
  const root = fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, "");
  const { binDir } = await buildNative({ root, log: print });
  let reached = true;
  for (const args of [["--threads", "1"], []]) {
    const { stdout } = await execa(`${binDir}/convolution_benchmark`, args);
    const measured = JSON.parse(stdout) as Measurement;
    for (const line of table(measured)) print(line);
    reached &&= measured.convolutions.every(
      ({ name, fraction }) => name !== "block" || fraction >= GOAL,
    );
  }
  print(`goal: ${GOAL * 100} % of the FMA rate for "block": ${reached ? "reached" : "MISSED"}`);
  return reached;
}

function table({ isa, threads, convolutions }: Measurement): string[] {
  const head = `3x3 convolution, ${isa}, ${threads} thread${threads === 1 ? "" : "s"}`;
  const rows = convolutions.map((row) => {
    const shape = `${row.input.join("x")} -> ${row.out_channels} channels`;
    return [
      row.name.padEnd(18),
      shape.padEnd(28),
      row.gflops_per_second.toFixed(1).padStart(9),
      row.fma_gflops_per_second.toFixed(1).padStart(9),
      `${(row.fraction * 100).toFixed(0)} %`.padStart(6),
    ].join("");
  });
  const titles = `${"".padEnd(46)}${"GFLOP/s".padStart(9)}${"FMA".padStart(9)}`;
  return [head, titles, ...rows, ""];
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  process.exitCode = (await benchNativeResnet(console.log)) ? 0 : 1;
