import { ConfigError } from "../../values/errors.ts";

/**
 * Python's `string.Template`: `$name` and `${name}` stand for values, `$$` for a dollar sign.
 *
 * @throws ConfigError `app.help_template` for a name without a value and a dollar sign alone.
 */
export function fillTemplate(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(
    /\$(?:(\$)|([_a-zA-Z][_a-zA-Z0-9]*)|\{([_a-zA-Z][_a-zA-Z0-9]*)\})?/g,
    (
      _whole,
      escaped: string | undefined,
      plain: string | undefined,
      braced: string | undefined,
      offset: number,
    ) => {
      if (escaped !== undefined) return "$";
      const name = plain ?? braced;
      if (name === undefined)
        throw failure(
          `Invalid placeholder in string: ${placeIn(template, offset)}`,
          "in the help template, write $$ for a $",
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

/** The line and column of an offset, both from 1 as in Python. */
function placeIn(template: string, offset: number): string {
  const before = template.slice(0, offset).split("\n");
  return `line ${before.length}, col ${(before.at(-1) ?? "").length + 1}`;
}

const failure = (message: string, hint: string): ConfigError =>
  new ConfigError({ code: "app.help_template", message, hint });
