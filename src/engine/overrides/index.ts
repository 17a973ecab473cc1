/** Hydra's override language: texts such as `+db.port=1` or `lr=choice(0.1,0.2)`, and back. */
export type {
  ChoiceSweep,
  DictElement,
  DictEntry,
  Element,
  ElementScalar,
  ExtensionElement,
  GlobSweep,
  IntervalSweep,
  ListElement,
  Override,
  OverrideType,
  OverrideValue,
  PythonNumber,
  Quote,
  RangeSweep,
  ScalarElement,
  Span,
  Sweep,
  UnionPart,
  UnionSweep,
  ZipSweep,
} from "./ast.ts";
export { columnsOf, isSweepValue } from "./ast.ts";
export type { EvaluationOptions } from "./evaluate.ts";
export { overrideNode } from "./evaluate.ts";
export type { OverrideFunction } from "./functions/function.ts";
export { FUNCTIONS } from "./functions/function-table.ts";
export { isOverrideOfHydra, parseOverride, parseOverrides } from "./parser.ts";
export { elementToString, overrideKeyElement, overrideText, quoted } from "./print.ts";
export { type RangeSequence, rangeSequence } from "./range-values.ts";
export type { SweepOptions } from "./sweep.ts";
export {
  globMatches,
  isEndless,
  isSweep,
  leastValues,
  sweepOverrides,
  sweepStrings,
} from "./sweep.ts";
