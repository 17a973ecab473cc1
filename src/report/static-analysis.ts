import { escapeMarkdown, markdownTable } from "./markdown.ts";

/** Work of one layer, computed from its shape: what it must do, not what was measured. */
export interface LayerWork {
  readonly name: string;
  /** Operation and shapes, e.g. `conv2d 4x16x64x64 -> 4x16x64x64 k3`. */
  readonly operation: string;
  /** The NVTX range around it. */
  readonly range: string;
  /** Floating-point operations per forward pass; a multiply-add is two. */
  readonly flops: number;
  /** Bytes read and written per forward pass if nothing stayed in a cache. */
  readonly bytes: number;
}

/** The layers with their arithmetic intensity, the number that places them on a roofline. */
export function staticAnalysisTable(layers: readonly LayerWork[]): string {
  const flops = layers.reduce((sum, layer) => sum + layer.flops, 0);
  const bytes = layers.reduce((sum, layer) => sum + layer.bytes, 0);
  const row = (name: string, operation: string, range: string, work: Work) => [
    escapeMarkdown(name),
    escapeMarkdown(operation),
    escapeMarkdown(range),
    (work.flops / 1e6).toFixed(3),
    (work.bytes / 1e6).toFixed(3),
    work.bytes === 0 ? "–" : (work.flops / work.bytes).toFixed(2),
  ];
  return markdownTable(
    [
      { heading: "Layer" },
      { heading: "Operation" },
      { heading: "Region" },
      { heading: "MFLOP", align: "right" },
      { heading: "MB", align: "right" },
      { heading: "FLOP/byte", align: "right" },
    ],
    [
      ...layers.map((layer) => row(layer.name, layer.operation, layer.range, layer)),
      row("all", "", "", { flops, bytes }),
    ],
  );
}

type Work = Pick<LayerWork, "flops" | "bytes">;
