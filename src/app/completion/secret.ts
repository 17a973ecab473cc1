/** Whether a text holds one of the secrets. */
export const holdsSecret = (text: string, secrets: readonly string[]): boolean =>
  secrets.some((secret) => secret !== "" && text.includes(secret));

/** Whether a candidate's value does: a key is no secret, whatever it reads like. */
export const showsSecret = (candidate: string, secrets: readonly string[]): boolean =>
  candidate.includes("=") && holdsSecret(candidate.slice(candidate.indexOf("=") + 1), secrets);
