/** Which of a kernel's names patterns are matched against; as ncu's `--kernel-name-base`. */
export type KernelNameBase = "function" | "demangled" | "mangled";

/** What is known of a kernel's names. */
export interface NamedKernel {
  /** Demangled, with parameters. */
  readonly kernelName: string;
  readonly functionName?: string;
  readonly mangledName?: string;
}

/** The name to match; where a source has no mangled one, the demangled one takes its place. */
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
  let name = "";
  for (let at = 0; at < demangled.length; at++) {
    const character = demangled[at] ?? "";
    // `(anonymous namespace)::` is no list of parameters.
    const bracket = /^(?:\(anonymous namespace\)|\(anonymous\))/.exec(demangled.slice(at, at + 24));
    if (depth === 0 && bracket !== null) {
      at += bracket[0].length - 1;
      continue;
    }
    if (character === "<") depth++;
    else if (character === ">" && demangled[at - 1] !== "-") depth = Math.max(0, depth - 1);
    else if (depth > 0) continue;
    else if (character === "(") break;
    else if (character === " ") name = "";
    else if (character === ":") name = "";
    else name += character;
  }
  return name === "" ? demangled : name;
}
