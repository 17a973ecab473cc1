/** Patterns of kernel names. */
import { ConfigError } from "../../engine/values/errors.ts";
import { compilePattern, describeProblem } from "../../engine/values/user-pattern.ts";
import { matchesGlob, parseGlob } from "../../foundation/text/glob.ts";

/**
 * A pattern of kernel names: `regex:EXPR` matches anywhere in a name, like ncu's own expressions; a text with `*` or
 * `?` is a glob for the whole name; any other text is the whole name.
 */
export interface KernelPattern {
  /** The text of the pattern. */
  readonly text: string;
  readonly matches: (name: string) => boolean;
}

/** The prefix of an expression. */
export const REGEX = "regex:";

/**
 * @param key the config key of the pattern, for messages
 * @throws ConfigError `profile.input` for an expression that cannot be used
 */
export function parseKernelPattern(text: string, key: string): KernelPattern {
  if (text.startsWith(REGEX)) {
    const { pattern, problem } = compilePattern(text.slice(REGEX.length));
    if (problem === undefined) return { text, matches: pattern.test };
    const { message, hint } = describeProblem(text, problem);
    const literal =
      "escape literal characters: regex:gemm\\(float\\); without regex:, * and ? are wildcards";
    throw new ConfigError({
      code: "profile.input",
      key,
      message: `${key}: ${message}`,
      hint: problem.kind === "syntax" ? literal : hint,
    });
  }
  if (!/[*?]/.test(text)) return { text, matches: (name) => name === text };
  const tokens = parseGlob(text);
  return { text, matches: (name) => matchesGlob(tokens, name) };
}

/** The form of a kernel's name that patterns are matched against, as in ncu's `--kernel-name-base`. */
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
  /** The earliest start of the name, which continues after template arguments. */
  let from = 0;
  let name = "";
  const take = (to: number) => {
    if (to > from) name += demangled.slice(from, to);
  };
  let index = 0;
  for (; index < demangled.length; index++) {
    const character = demangled.charCodeAt(index);
    if (character === LESS) {
      if (depth++ === 0) take(index);
    } else if (character === GREATER && demangled.charCodeAt(index - 1) !== MINUS) {
      if (depth === 0) take(index);
      depth = Math.max(0, depth - 1);
      from = index + 1;
    } else if (depth > 0) continue;
    else if (character === OPENING) {
      const skipped = ANONYMOUS.find((text) => demangled.startsWith(text, index));
      if (skipped === undefined) break;
      take(index);
      index += skipped.length - 1;
      from = index + 1;
    } else if (character === BLANK || character === COLON) {
      name = "";
      from = index + 1;
    }
  }
  if (depth === 0) take(index);
  return name === "" ? demangled : name;
}

/** Parentheses that are not parameter lists. */
const ANONYMOUS = ["(anonymous namespace)", "(anonymous)"];

const [LESS, GREATER, MINUS, OPENING, BLANK, COLON] = [..."<>-( :"].map((character) =>
  character.charCodeAt(0),
);

/**
 * A form of a demangled name that is the same for all tools. CUPTI gives mangled names, which the recorder
 * demangles with the program's C++ library; ncu and nsys use NVIDIA's demangler. For one kernel they say
 * `ns::(anonymous namespace)::k<float, 64u, true>(float const*)` and
 * `void ns::<unnamed>::k<float, (unsigned int)64, (bool)1>(const T1 *)`.
 *
 * Parameters, result types, `const` and spaces are removed: kernels that differ only in these look
 * the same. A name that is not C++ is returned without its spaces.
 */
export function comparableName(name: string): string {
  const plain = name
    .replaceAll("(anonymous namespace)", ANONYMOUS_NAMESPACE)
    .replaceAll("<unnamed>", ANONYMOUS_NAMESPACE)
    // The numbers of lambdas distinguish them: `{lambda(int)#2}`, `[lambda(int) (instance 2)]`.
    .replaceAll("{lambda", "[lambda")
    .replaceAll(/#(\d+)\}| \(instance (\d+)\)\]/g, "#$1$2]")
    // Casts of numbers; then the type suffix after them.
    .replaceAll(/\([A-Za-z_][\w: ]*\)(?=-?\d)/g, "")
    .replaceAll(/\b(\d+)(?:ull|ul|u|ll|l)\b/g, "$1")
    .replaceAll(/\btrue\b/g, "1")
    .replaceAll(/\bfalse\b/g, "0")
    .replaceAll(/\bconst\b/g, "");
  return withoutParentheses(plain)
    .replaceAll(/\bvoid (?=[\w{:])/g, "")
    .replace(/^(?:[\w:]+ )+(?=\S)/, "")
    .replaceAll(/\s+/g, "");
}

const ANONYMOUS_NAMESPACE = "{anonymous}";

/** The name without parenthesized parts: the parameters of the kernel and of functions in its name. */
function withoutParentheses(name: string): string {
  let depth = 0;
  let left = "";
  for (const character of name) {
    if (character === "(") depth++;
    else if (character === ")") depth = Math.max(0, depth - 1);
    else if (depth === 0) left += character;
  }
  return left;
}
