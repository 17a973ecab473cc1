/** A callback: says how a sweep went. `hydra.callbacks.summary` in conf/config.yaml names it. */
export const summary = ({ digits = 2 }) => ({
  onMultirunEnd: ({ results }) => {
    for (const { overrides, returnValue, status } of results)
      console.log(
        `${overrides.join(" ").padEnd(30)} ${status === "failed" ? status : returnValue.toExponential(digits)}`,
      );
  },
});
