// What is to be built in a place, and of what.
import { detect } from "./detection.mjs";
import { buildEnvironment } from "./environment.mjs";
import { NativeBuildError } from "./error.mjs";
import { sourcesFingerprint } from "./fingerprint.mjs";

/**
 * @param last what the last build there was made of; null to take what this machine and its environment say alone
 * @param gpus compute capabilities of GPUs that it is to be for
 */
export async function planBuild({ root, options, last, gpus, say, signal }) {
  const seen = [...new Set([...gpus, ...(last?.detected?.cuda?.gpus ?? [])])].sort((a, b) => a - b);
  const own = buildEnvironment();
  const planWith = async (environment) => ({
    environment,
    detected: await detect(root, { environment, gpus: seen, signal }),
    sources: await sourcesFingerprint(root, options, environment),
  });
  const remembering = buildEnvironment(last?.environment);
  try {
    return await planWith(remembering);
  } catch (error) {
    const isRemembered = JSON.stringify(remembering) !== JSON.stringify(own);
    if (!(error instanceof NativeBuildError) || !isRemembered) throw error;
    // What was there when it was built is not there any more: a toolkit of another node, say.
    say(`the native part is not built as it was: ${error.message}`);
    return planWith(own);
  }
}
