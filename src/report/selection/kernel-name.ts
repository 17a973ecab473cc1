/** Which of a kernel's names patterns are matched against, as in ncu's `--kernel-name-base`. */
export type KernelNameBase = "function" | "demangled" | "mangled";

/** The known names of a kernel. */
export interface NamedKernel {
  /** Demangled, with parameters. */
  readonly kernelName: string;
  readonly functionName?: string;
  readonly mangledName?: string;
}

/** The name to match; the demangled one if the source has no mangled one. */
export function nameOf(kernel: NamedKernel, base: KernelNameBase): string {
  if (base === "mangled") return kernel.mangledName ?? kernel.kernelName;
  if (base === "demangled") return kernel.kernelName;
  return kernel.functionName ?? functionNameIn(kernel.kernelName);
}

/**
 * A demangled name without return type, namespaces, template arguments and parameters:
 * `void ns::gemm<float, 4>(float *)` is `gemm`.
 */
export function functionNameIn(demangled: string): string {
  let depth = 0;
  /** Where the name may begin; it continues after template arguments. */
  let from = 0;
  let name = "";
  const take = (to: number) => {
    if (to > from) name += demangled.slice(from, to);
  };
  let at = 0;
  for (; at < demangled.length; at++) {
    const character = demangled.charCodeAt(at);
    if (character === LESS) {
      if (depth++ === 0) take(at);
    } else if (character === GREATER && demangled.charCodeAt(at - 1) !== MINUS) {
      if (depth === 0) take(at);
      depth = Math.max(0, depth - 1);
      from = at + 1;
    } else if (depth > 0) continue;
    else if (character === OPENING) {
      const skipped = ANONYMOUS.find((text) => demangled.startsWith(text, at));
      if (skipped === undefined) break;
      take(at);
      at += skipped.length - 1;
      from = at + 1;
    } else if (character === BLANK || character === COLON) {
      name = "";
      from = at + 1;
    }
  }
  if (depth === 0) take(at);
  return name === "" ? demangled : name;
}

/** Parentheses that are not parameter lists. */
const ANONYMOUS = ["(anonymous namespace)", "(anonymous)"];

const [LESS, GREATER, MINUS, OPENING, BLANK, COLON] = [..."<>-( :"].map((one) => one.charCodeAt(0));
