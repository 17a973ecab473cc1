import { ConfigError } from "../values/errors.ts";

/**
 * Python's `string.Template`: `$name` and `${name}` stand for values, `$$` for a dollar sign.
 *
 * @throws ConfigError `app.help_template` for a name without a value and a dollar sign alone.
 */
export function fillTemplate(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(
    /\$(?:(\$)|([_a-zA-Z][_a-zA-Z0-9]*)|\{([_a-zA-Z][_a-zA-Z0-9]*)\})?/g,
    (whole, escaped?: string, plain?: string, braced?: string) => {
      if (escaped !== undefined) return "$";
      const name = plain ?? braced;
      if (name === undefined)
        throw failure(
          `Invalid placeholder in help template: a lone '${whole}'`,
          "write $$ for a $",
        );
      const value = Object.hasOwn(values, name) ? values[name] : undefined;
      if (value === undefined)
        throw failure(
          `Unknown placeholder '$${name}' in help template`,
          `known: ${Object.keys(values)
            .map((known) => `$${known}`)
            .join(", ")}`,
        );
      return value;
    },
  );
}

const failure = (message: string, hint: string): ConfigError =>
  new ConfigError({ code: "app.help_template", message, hint });
