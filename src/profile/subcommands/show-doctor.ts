import type { ParsedCommand } from "../../command-line/parse.ts";
import { canProfile, examine } from "../doctor/examine.ts";
import { thisMachine } from "../doctor/machine.ts";
import { renderFindings, renderSummary } from "../doctor/render.ts";
import { requireOpenFiles } from "../machine/open-files.ts";
import type { SubcommandIo } from "./subcommand.ts";

/** What `deep-profile doctor` does. */
export async function showDoctor(command: ParsedCommand, io: SubcommandIo): Promise<number> {
  requireOpenFiles();
  const findings = await examine(thisMachine(io.env));
  const render = command.has("verbose") ? renderFindings : renderSummary;
  io.console.stdout(
    command.has("json")
      ? `${JSON.stringify(findings, null, 2)}\n`
      : render(findings, { color: io.console.stdoutColor === true }),
  );
  return canProfile(findings) ? 0 : 1;
}
