import { isRangeMode, type NcuConfig, namesOf, type ReplayMode } from "../../config/ncu-config.ts";
import type { MeasuredSelection } from "../../regions/index.ts";
import type { NvtxRequest } from "./pass-plan.ts";

/** Which regions a config asks ncu for. */
export function nvtxRequest({ gating_nvtx, native_nvtx, ncu_cli }: NcuConfig): NvtxRequest {
  const include = namesOf(ncu_cli.nvtx.include);
  const exclude = namesOf(ncu_cli.nvtx.exclude);
  const isLabel = (text: string) => !isExpression(text);
  return {
    include: include.filter(isLabel),
    exclude: exclude.filter(isLabel),
    native: { include: include.filter(isExpression), exclude: exclude.filter(isExpression) },
    gating: gating_nvtx,
    filtering: native_nvtx,
  };
}

/**
 * Whether a text is written in ncu's own grammar: `regex:...`, `A/` (a push/pop range, also chains of them),
 * `A]` and `[A` (at the top or the bottom of the stack). All else is a label or a glob, so also
 * `br[0]`, `model/forward`, and a label that ends with a slash when that is written `\/`.
 */
export function isExpression(text: string): boolean {
  if (text.startsWith("regex:") || /(?:^|[^\\])\/$/.test(text)) return true;
  const opening = text.split("[").length;
  const closing = text.split("]").length;
  return (text.endsWith("]") && closing > opening) || (text.startsWith("[") && opening > closing);
}

/** Whether what is measured can be told by labels alone. */
export const isByLabels = ({ native }: NvtxRequest): boolean =>
  native.include.length + native.exclude.length === 0;

/** What passes as `planPasses` makes them let ncu measure; null where that is everything. */
export function measuredSelection(
  mode: ReplayMode,
  request: NvtxRequest,
): MeasuredSelection | null {
  const { include, exclude, native, gating, filtering } = request;
  if (!gating) return null;
  if (!isRangeMode(mode))
    return filtering && (include.length + exclude.length > 0 || !isByLabels(request))
      ? { patterns: { include, exclude }, expressions: native }
      : null;
  const isEveryLabel = include.length > 0 ? !filtering : native.include.length === 0;
  if (isEveryLabel) return null;
  // Passes over ranges exclude nothing: patterns do that in the report, where no expression is in their way.
  return {
    patterns: { include, exclude: isByLabels(request) ? exclude : [] },
    expressions: { include: native.include, exclude: [] },
  };
}
