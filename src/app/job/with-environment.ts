/** What a job changes in its process while it runs. */
export interface ProcessSettings {
  /** Variables to set (`hydra.job.env_set`). */
  readonly env?: Readonly<Record<string, string>>;
  /** Directory to work in (`hydra.job.chdir`). */
  readonly cwd?: string;
}

/** Runs something with other variables or another directory, and puts both back afterwards. */
export async function withEnvironment<T>(
  settings: ProcessSettings,
  run: () => Promise<T>,
): Promise<T> {
  const variables = Object.entries(settings.env ?? {});
  const before = variables.map(([name]) => [name, process.env[name]] as const);
  const cwd = process.cwd();
  for (const [name, value] of variables) process.env[name] = value;
  if (settings.cwd !== undefined) process.chdir(settings.cwd);
  try {
    return await run();
  } finally {
    if (settings.cwd !== undefined) process.chdir(cwd);
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
}
