/** Arithmetic as Python computes it, and its expressions, for the resolvers that a settings file may name. */

/** What an expression computes with: ints are `bigint`, floats `number`. */
export type Value = bigint | number | boolean | string | null;
type Numeric = bigint | number;
type Evaluation = () => Value;

/** Larger numbers occur in no configuration, and take long to compute. */
const MOST_BITS = 13_000;
const LONGEST_EXPRESSION = 10_000;
const DEEPEST_NESTING = 100;

const TOKEN =
  /\s*(?:(\d[\d_]*(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)|([A-Za-z_]\w*)|'([^'\\]*)'|"([^"\\]*)"|(\*\*|\/\/|[<>=!]=|[-+*/%<>(),]))/y;

interface Token {
  readonly kind: "number" | "word" | "text" | "sign" | "end";
  readonly text: string;
}

function tokensOf(text: string): readonly Token[] {
  if (text.length > LONGEST_EXPRESSION) throw new Error("the expression is too long");
  const source = text.trimEnd();
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < source.length) {
    const index = TOKEN.lastIndex;
    const [, number, word, single, double, sign] = TOKEN.exec(source) ?? [];
    if (number !== undefined) tokens.push({ kind: "number", text: number.replaceAll("_", "") });
    else if (word !== undefined) tokens.push({ kind: "word", text: word });
    else if (sign !== undefined) tokens.push({ kind: "sign", text: sign });
    else if (single !== undefined || double !== undefined)
      tokens.push({ kind: "text", text: single ?? double ?? "" });
    else throw notArithmetic(source.slice(index).trim());
  }
  return [...tokens, { kind: "end", text: "" }];
}

const notArithmetic = (found: string): Error =>
  new SyntaxError(
    found === ""
      ? "the expression ends too early"
      : `'${found}' is no arithmetic; Python's own eval is python:builtins.eval`,
  );

/**
 * Evaluates an arithmetic expression as Python would: numbers, texts, True, False, None, the operators of arithmetic,
 * comparison and logic, `a if b else c`, and calls of min, max, abs, round, int, float and bool. Other names are
 * refused, so the expression cannot run any code.
 * @throws Error for a text that is no such expression, or that cannot be computed
 */
export function evaluateArithmetic(text: string): Value {
  const tokens = tokensOf(text);
  let position = 0;
  let depth = 0;
  const peek = (): Token => tokens[position] as Token;
  const takes = (...texts: readonly string[]): string | undefined => {
    const { kind, text: found } = peek();
    if ((kind !== "sign" && kind !== "word") || !texts.includes(found)) return undefined;
    position++;
    return found;
  };
  const expect = (sign: string): void => {
    if (takes(sign) === undefined) throw notArithmetic(peek().text);
  };
  const binary =
    (operand: () => Evaluation, operators: Readonly<Record<string, Operator>>) =>
    (): Evaluation => {
      let left = operand();
      for (let sign = takes(...Object.keys(operators)); sign; ) {
        const [a, b, apply] = [left, operand(), operators[sign] as Operator];
        left = () => apply(a(), b());
        sign = takes(...Object.keys(operators));
      }
      return left;
    };

  function conditional(): Evaluation {
    if (++depth > DEEPEST_NESTING) throw new Error("the expression is nested too deeply");
    const value = either();
    if (takes("if") !== undefined) {
      const condition = either();
      expect("else");
      const other = conditional();
      depth--;
      return () => (isTrue(condition()) ? value() : other());
    }
    depth--;
    return value;
  }
  function either(): Evaluation {
    let left = both();
    while (takes("or") !== undefined) {
      const [a, b] = [left, both()];
      left = () => {
        const value = a();
        return isTrue(value) ? value : b();
      };
    }
    return left;
  }
  function both(): Evaluation {
    let left = negation();
    while (takes("and") !== undefined) {
      const [a, b] = [left, negation()];
      left = () => {
        const value = a();
        return isTrue(value) ? b() : value;
      };
    }
    return left;
  }
  function negation(): Evaluation {
    let isNegated: boolean | undefined;
    while (takes("not") !== undefined) isNegated = isNegated !== true;
    const value = comparison();
    return isNegated === undefined ? value : () => isTrue(value()) !== isNegated;
  }
  /** `1 < x < 3` holds if both comparisons do. */
  function comparison(): Evaluation {
    const operands = [sum()];
    const signs: string[] = [];
    for (let sign = takes(...COMPARISONS); sign !== undefined; sign = takes(...COMPARISONS)) {
      signs.push(sign);
      operands.push(sum());
    }
    if (signs.length === 0) return operands[0] as Evaluation;
    return () => {
      let left = (operands[0] as Evaluation)();
      for (const [index, sign] of signs.entries()) {
        const right = (operands[index + 1] as Evaluation)();
        if (!compares(left, sign, right)) return false;
        left = right;
      }
      return true;
    };
  }
  const product = binary(signed, { "*": multiply, "/": divide, "//": floorDivide, "%": modulo });
  const sum = binary(product, {
    "+": (a, b) => (typeof a === "string" && typeof b === "string" ? a + b : add(a, b)),
    "-": (a, b) => add(a, negative(b)),
  });
  function signed(): Evaluation {
    const sign = takes("-", "+");
    if (sign === undefined) return power();
    if (++depth > DEEPEST_NESTING) throw new Error("the expression is nested too deeply");
    const value = signed();
    depth--;
    return sign === "-" ? () => negative(value()) : () => numeric(value());
  }
  function power(): Evaluation {
    const base = primary();
    if (takes("**") === undefined) return base;
    const exponent = signed();
    return () => raise(base(), exponent());
  }
  function primary(): Evaluation {
    const { kind, text: word } = peek();
    position++;
    if (kind === "text") return () => word;
    if (kind === "number") {
      if (/^0+[1-9]\d*$/.test(word)) throw notArithmetic(word);
      const value = /[.eE]/.test(word) ? Number(word) : BigInt(word);
      return () => value;
    }
    if (kind === "sign" && word === "(") {
      const value = conditional();
      expect(")");
      return value;
    }
    if (kind === "word" && Object.hasOwn(CONSTANTS, word)) {
      const value = CONSTANTS[word] as Value;
      return () => value;
    }
    if (kind === "word" && Object.hasOwn(FUNCTIONS, word)) {
      const call = FUNCTIONS[word] as (...args: readonly Value[]) => Value;
      const args = callArguments();
      return () => call(...args.map((argument) => argument()));
    }
    throw notArithmetic(word);
  }
  function callArguments(): readonly Evaluation[] {
    expect("(");
    const args: Evaluation[] = [];
    while (takes(")") === undefined) {
      if (args.length > 0) expect(",");
      args.push(conditional());
    }
    return args;
  }

  const whole = conditional();
  if (peek().kind !== "end") throw notArithmetic(peek().text);
  return whole();
}

type Operator = (a: Value, b: Value) => Value;

const CONSTANTS: Readonly<Record<string, Value>> = {
  True: true,
  False: false,
  None: null,
  // As OmegaConf writes these floats.
  inf: Number.POSITIVE_INFINITY,
  nan: Number.NaN,
};
const COMPARISONS = ["==", "!=", "<=", ">=", "<", ">"];

/** As Python's `bool()`. */
export const isTrue = (value: Value): boolean =>
  typeof value === "number" ? value !== 0 : Boolean(value);

/** True and False are the ints 1 and 0. */
function numeric(value: Value): Numeric {
  if (typeof value === "boolean") return value ? 1n : 0n;
  if (typeof value === "bigint" || typeof value === "number") return value;
  throw new TypeError(`${value === null ? "None" : `'${value}'`} is not a number`);
}

function float(value: Numeric): number {
  const converted = Number(value);
  if (typeof value === "bigint" && !Number.isFinite(converted))
    throw new RangeError("int too large to convert to float");
  return converted;
}

/** Two ints give an int, otherwise the result is a float. */
const arithmetic =
  (ofInts: (a: bigint, b: bigint) => Numeric, ofFloats: (a: number, b: number) => number) =>
  (a: Value, b: Value): Numeric => {
    const [x, y] = [numeric(a), numeric(b)];
    return typeof x === "bigint" && typeof y === "bigint"
      ? ofInts(x, y)
      : ofFloats(float(x), float(y));
  };

const bits = (value: bigint): number => value.toString(2).length;

function bounded(bitCount: number): void {
  if (bitCount > MOST_BITS) throw new RangeError("the result has too many digits");
}

function nonZero<T extends Numeric>(value: T): T {
  if (!value) throw new RangeError("division by zero");
  return value;
}

const add = arithmetic(
  (a, b) => a + b,
  (a, b) => a + b,
);
const negative = (value: Value): Numeric => -numeric(value);
export const multiply = arithmetic(
  (a, b) => {
    bounded(bits(a) + bits(b));
    return a * b;
  },
  (a, b) => a * b,
);
export const divide = arithmetic(
  (a, b) => float(a) / float(nonZero(b)),
  (a, b) => a / nonZero(b),
);
/** The remainder has the sign of the divisor. */
const modulo = arithmetic(
  (a, b) => {
    const rest = a % nonZero(b);
    return rest !== 0n && rest < 0n !== b < 0n ? rest + b : rest;
  },
  (a, b) => {
    const rest = a % nonZero(b);
    return rest !== 0 && rest < 0 !== b < 0 ? rest + b : rest;
  },
);
const floorDivide = arithmetic(
  (a, b) => (a - (modulo(a, b) as bigint)) / b,
  (a, b) => Math.floor((a - (modulo(a, b) as number)) / b + 0.5),
);
const raise = arithmetic(
  (a, b) => {
    if (b < 0n) return float(nonZero(a)) ** float(b);
    // 0, 1 and -1 stay small.
    if (a < -1n || a > 1n) bounded(bits(a) * Number(b));
    return a ** b;
  },
  (a, b) => {
    if (a === 0 && b < 0) throw new RangeError("0.0 cannot be raised to a negative power");
    if (a < 0 && !Number.isInteger(b) && Number.isFinite(b))
      throw new RangeError("a root of a negative number");
    const result = a ** b;
    if (!Number.isFinite(result) && Number.isFinite(a) && Number.isFinite(b))
      throw new RangeError("the result is too large");
    return result;
  },
);

/** Python's `==`: an int equals a float of the same value. */
export function equals(a: Value, b: Value): boolean {
  const isNumber = (value: Value) => value !== null && typeof value !== "string";
  // biome-ignore lint/suspicious/noDoubleEquals: an int equals a float of the same value.
  return isNumber(a) && isNumber(b) ? numeric(a) == numeric(b) : a === b;
}

function compares(a: Value, sign: string, b: Value): boolean {
  if (sign === "==") return equals(a, b);
  if (sign === "!=") return !equals(a, b);
  const areTexts = typeof a === "string" && typeof b === "string";
  const [x, y] = areTexts ? [a, b] : [numeric(a), numeric(b)];
  if (sign === "<") return x < y;
  if (sign === ">") return x > y;
  return sign === "<=" ? x <= y : x >= y;
}

function toInt(value: Value = 0n): bigint {
  if (typeof value === "string") {
    if (/^\s*[+-]?\d+(_\d+)*\s*$/.test(value))
      return BigInt(value.replaceAll("_", "").trim().replace(/^\+/, ""));
    throw new TypeError(`'${value}' is not an int`);
  }
  const number = numeric(value);
  if (typeof number === "bigint") return number;
  if (!Number.isFinite(number)) throw new RangeError(`cannot convert ${number} to an int`);
  return BigInt(Math.trunc(number));
}

/** Ties are rounded to the even neighbour, as in Python. */
function round(value: Value = null, digits: Value = null): Numeric {
  const number = numeric(value);
  const places = digits === null ? 0 : Number(toInt(digits));
  if (places < 0) throw new RangeError("round takes no negative number of digits here");
  if (typeof number === "bigint") return number;
  if (digits === null && !Number.isFinite(number))
    throw new RangeError(`cannot convert ${number} to an int`);
  const isFine = !Number.isFinite(number) || Math.abs(number) >= 1e21 || places > 22;
  const rounded = isFine ? number : roundedHalfEven(number, places);
  return digits === null ? BigInt(rounded) : rounded;
}

function roundedHalfEven(number: number, places: number): number {
  // All digits of the double, so that ties are detected exactly.
  const exact = Math.abs(number).toFixed(100);
  const cut = exact.indexOf(".") + 1 + places;
  const isTie = /^50*$/.test(exact.slice(cut));
  const below = exact.slice(0, cut);
  const isEven = /[02468]\.?$/.test(below);
  const magnitude = isTie && isEven ? Number(below) : Number(Math.abs(number).toFixed(places));
  return number < 0 || Object.is(number, -0) ? -magnitude : magnitude;
}

/** The first of the best values. */
const best =
  (isBetter: "<" | ">") =>
  (...values: readonly Value[]): Value => {
    if (values.length < 2) throw new TypeError("min and max take at least two numbers");
    return values.reduce((found, value) => (compares(value, isBetter, found) ? value : found));
  };

const FUNCTIONS: Readonly<Record<string, (...args: readonly Value[]) => Value>> = {
  abs: (value = null) => {
    const number = numeric(value);
    return number < 0 ? -number : number;
  },
  bool: (value = false) => isTrue(value),
  float: (value = 0n) => {
    if (typeof value !== "string") return float(numeric(value));
    if (value.trim() === "" || Number.isNaN(Number(value)))
      throw new TypeError(`'${value}' is not a float`);
    return Number(value);
  },
  int: toInt,
  max: best(">"),
  min: best("<"),
  round,
};
