import { describe, expect, test } from "vitest";
import { errorIn, errorText } from "../../src/programs/program-failure.ts";

const shown = (printed: string): string | undefined => {
  const error = errorIn(printed);
  return error && errorText(error);
};

describe("the error in what a program printed", () => {
  test.each([
    [
      `Traceback (most recent call last):
  File "/a/train.py", line 3, in main
    fit()
  File "/v/lib/python3.11/site-packages/torch/nn.py", line 9, in fit
    raise RuntimeError("CUDA out of memory")
    ^^^^^^^^^
RuntimeError: CUDA out of memory
 more of it

Set the environment variable HYDRA_FULL_ERROR=1 for a complete stack trace.
`,
      "RuntimeError: CUDA out of memory (train.py:3)",
    ],
    [
      `Traceback (most recent call last):
  File "a.py", line 1, in <module>
KeyError: 'x'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "a.py", line 5, in <module>
    raise ValueError
ValueError
`,
      "ValueError (a.py:5)",
    ],
    [
      `  File "a.py", line 2\n    x = = 1\n        ^\nSyntaxError: invalid syntax\n`,
      "SyntaxError: invalid syntax (a.py:2)",
    ],
    [
      `/w/x.mjs:3
throw new TypeError("no");
^

TypeError: no
    at f (file:///w/x.mjs:3:7)
    at node:internal/modules/run_main:117:5

Node.js v20.19.0
`,
      "TypeError: no (x.mjs:3)",
    ],
    [
      `\nthread 'main' panicked at src/main.rs:2:5:\nno luck\nnote: run with ...\n`,
      "panicked: no luck (main.rs:2)",
    ],
    [`thread 'main' (7) panicked at 'old', src/main.rs:9:1\n`, "panicked: old (main.rs:9)"],
    [
      `panic: boom\n\ngoroutine 1 [running]:\nmain.main()\n\t/w/main.go:5 +0x1d\nexit status 2\n`,
      "panic: boom (main.go:5)",
    ],
    [
      `Exception in thread "main" java.lang.IllegalStateException: no\n\tat Main.main(Main.java:5)\n`,
      "java.lang.IllegalStateException: no (Main.java:5)",
    ],
    [
      `terminate called after throwing an instance of 'std::runtime_error'\n  what():  bad\n`,
      "std::runtime_error: bad",
    ],
    ["\u001b[31merror: no such file\u001b[0m\n\n", "error: no such file"],
    [" 10%|#   |\r 20%|##  |\rfailed\n", "failed"],
    ["\n  \n", undefined],
    ["", undefined],
  ])("%j", (printed, expected) => {
    expect(shown(printed)).toBe(expected);
  });
});
