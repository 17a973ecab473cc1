import pc from "picocolors";
import { type Difference, pathText } from "../../compose/index.ts";
import { showBoth, showValue } from "../../schema/show-value.ts";
import type { ConfigNode } from "../../values/node.ts";
import { describeOrigin } from "../../values/origin.ts";
import { oneLine } from "./origins-text.ts";

/** What `--diff` prints: each differing key with both values and their origins; empty without differences. */
export function diffText(differences: readonly Difference[], color: boolean): string {
  const { bold, green, red } = pc.createColors(color);
  return differences
    .map((difference) => {
      const [before, after] = shown(difference);
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

function shown(difference: Difference): readonly [string | undefined, string | undefined] {
  switch (difference.kind) {
    case "changed":
      return showBoth(difference.before, difference.after);
    case "removed":
      return [showValue(difference.before), undefined];
    case "added":
      return [undefined, showValue(difference.after)];
  }
}
