import { ConfigError } from "../values/errors.ts";

/** A wrong command line. */
export const usage = (message: string, hint?: string): ConfigError =>
  new ConfigError({ code: "app.usage", message, hint });

/** What a command prints about a wrong command line: two lines. */
export function usageText(command: string, { details }: ConfigError): string {
  const { message, nearest, hint } = details;
  const meant = nearest === undefined ? "" : ` (did you mean ${nearest}?)`;
  return [
    `${command}: error: ${message}${meant}`,
    `  ${hint ?? `${command} --help shows what it takes`}`,
    "",
  ].join("\n");
}
