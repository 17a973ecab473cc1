import pc from "picocolors";
import { type Difference, pathText } from "../compose/index.ts";
import { showValue } from "../schema/show-value.ts";
import type { ConfigNode } from "../values/node.ts";
import { describeOrigin } from "../values/position.ts";
import { oneLine } from "./origins-text.ts";

/** What `--diff` prints: each key with both values and where they come from; nothing if all agree. */
export function diffText(differences: readonly Difference[], color: boolean): string {
  const { bold, green, red } = pc.createColors(color);
  return differences
    .map((difference) => {
      const before = "before" in difference ? showValue(difference.before) : undefined;
      const after = "after" in difference ? showValue(difference.after) : undefined;
      const width = Math.max(before?.length ?? 0, after?.length ?? 0);
      const side = (sign: string, text: string, node: ConfigNode) =>
        `  ${sign} ${text.padEnd(width)}  # ${oneLine(describeOrigin(node.origin))}\n`;
      return [
        `${bold(`${difference.kind} ${pathText(difference.path)}`)}\n`,
        before !== undefined && "before" in difference
          ? red(side("-", before, difference.before))
          : "",
        after !== undefined && "after" in difference
          ? green(side("+", after, difference.after))
          : "",
      ].join("");
    })
    .join("");
}
