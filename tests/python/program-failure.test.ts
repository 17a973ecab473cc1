import { describe, expect, test } from "vitest";
import { errorIn, errorText } from "../../src/python/program-failure.ts";

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
      `Error executing job with overrides: ['x=3']
Error: diverged
    at file:///w/prog.mjs:4:22

Set the environment variable HYDRA_FULL_ERROR=1 for a complete stack trace.
`,
      "Error: diverged (prog.mjs:4)",
    ],
    [
      `[2026-11-27 10:00:00][root][INFO] - start
In 'hydra/config': Could not find 'hydra/sweeper/optuna'

Available options in 'hydra/sweeper':
\tbasic
Config search path:
\tprovider=hydra, path=pkg://hydra.conf
\tprovider=main, path=file:///a/configs
\tprovider=schema, path=structured://

Set the environment variable HYDRA_FULL_ERROR=1 for a complete stack trace.
`,
      "In 'hydra/config': Could not find 'hydra/sweeper/optuna'",
    ],
    [
      `Could not override 'modle.lr'.
To append to your config use +modle.lr=1
Key 'modle' is not in struct
    full_key: modle
    object_type=dict

Set the environment variable HYDRA_FULL_ERROR=1 for a complete stack trace.
`,
      "Could not override 'modle.lr'.",
    ],
    [
      `In 'config': ValidationError raised while composing config:
Value 'abc' of type 'str' could not be converted to Integer
    full_key: db.port
    object_type=dict

Set the environment variable HYDRA_FULL_ERROR=1 for a complete stack trace.
`,
      "In 'config': ValidationError raised while composing config: Value 'abc' of type 'str' could not be converted to Integer",
    ],
    [
      `[2026-11-27 10:00:00,123][root][INFO] - start
db appears more than once in the final defaults list

Set the environment variable HYDRA_FULL_ERROR=1 for a complete stack trace.
`,
      "db appears more than once in the final defaults list",
    ],
    [
      `Error executing job with overrides: ['lr=1']
Traceback (most recent call last):
  File "/a/train.py", line 3, in main
    cfg.model
omegaconf.errors.ConfigAttributeError: Key 'model' is not in struct
    full_key: model
    object_type=dict

Set the environment variable HYDRA_FULL_ERROR=1 for a complete stack trace.
`,
      "omegaconf.errors.ConfigAttributeError: Key 'model' is not in struct (train.py:3)",
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
