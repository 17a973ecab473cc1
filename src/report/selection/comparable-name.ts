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
    .replaceAll("(anonymous namespace)", ANONYMOUS)
    .replaceAll("<unnamed>", ANONYMOUS)
    // Lambdas are told apart by their numbers: `{lambda(int)#2}`, `[lambda(int) (instance 2)]`.
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

const ANONYMOUS = "{anonymous}";

/** Without parenthesized parts: the parameters of the kernel and of functions in its name. */
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
