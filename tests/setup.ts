// Properties that do not say how many cases they want take more in the nightly script, too.
if (process.env["HYDRACONF_PROPERTY_FACTOR"] !== undefined) {
  const { configureGlobal } = await import("fast-check");
  const { runs } = await import("./runs.ts");
  configureGlobal({ numRuns: runs(100) });
}
