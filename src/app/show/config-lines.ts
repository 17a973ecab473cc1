import { type Config, leavesOf, pathText } from "../../compose/index.ts";
import { showValue } from "../../schema/show-value.ts";
import { describeOrigin } from "../../values/origin.ts";
import { oneLine } from "./origins-text.ts";

/** A config value for people: its text, and what set it. */
export interface ConfigLine {
  readonly key: string;
  readonly value: string;
  readonly origin: string;
}

/** All leaf values in the order of the tree, with their origins. */
export const configLines = ({ root }: Pick<Config, "root">): readonly ConfigLine[] =>
  leavesOf(root).map(({ path, node }) => ({
    key: oneLine(pathText(path)),
    value: oneLine(showValue(node)),
    origin: oneLine(describeOrigin(node.origin)),
  }));
