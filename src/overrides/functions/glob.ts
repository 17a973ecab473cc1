import type { OverrideValue } from "../ast.ts";
import { STRING_LIST_OR_NULL, STRING_OR_LIST } from "./accept.ts";
import type { OverrideFunction } from "./function.ts";

/** `glob(include,exclude)`: a sweep over the options of the override's config group. */
export const glob: OverrideFunction = {
  name: "glob",
  parameters: {
    named: [
      { name: "include", accepts: STRING_OR_LIST, required: true },
      { name: "exclude", accepts: STRING_LIST_OR_NULL },
    ],
  },
  evaluate: (args, { span }) => ({
    kind: "glob",
    include: asList(args.get("include")),
    exclude: asList(args.get("exclude")),
    span,
  }),
};

function asList(value: OverrideValue | undefined): readonly OverrideValue[] {
  if (value === undefined || (value.kind === "scalar" && value.value === null)) return [];
  return value.kind === "list" ? value.items : [value];
}
