import { spawnSync } from "node:child_process";

const CANDIDATES = ["python3", "/usr/bin/python3"];

/** Ends with 0 where both can be imported. */
const HAS_OPTUNA =
  "import importlib.util as u, sys; sys.exit(not all(map(u.find_spec, ('optuna', 'cmaes'))))";

/** Ends with 0 where NumPy computes with OpenBLAS. */
const HAS_OPENBLAS =
  "import sys, numpy.linalg; sys.exit('openblas' not in open('/proc/self/maps').read())";

const succeeds = (python: string, program: string): boolean =>
  spawnSync(python, ["-c", program], { stdio: "ignore" }).status === 0;

/**
 * A Python that has Optuna; null after printing which tests are skipped without one. `HYDRACONF_REQUIRE_OPTUNA=1` (CI)
 * makes that an error.
 *
 * @param isExact whether the last digits matter: other linear algebra than OpenBLAS rounds differently
 */
export function optunaOrSkip(what: string, isExact = false): string | null {
  const python = CANDIDATES.find((one) => succeeds(one, HAS_OPTUNA));
  if (python !== undefined && (!isExact || succeeds(python, HAS_OPENBLAS))) return python;
  const reason =
    python === undefined
      ? "no Python here has optuna and cmaes (Debian: python3-optuna, python3-cmaes)"
      : `NumPy of ${python} does not use OpenBLAS (Debian: libopenblas0-pthread)`;
  if (process.env["HYDRACONF_REQUIRE_OPTUNA"] === "1")
    throw new Error(`Optuna is required here: ${reason}`);
  console.warn(`SKIPPED ${what}: ${reason}`);
  return null;
}
