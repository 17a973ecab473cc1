import { canProfile, examine } from "../doctor/examine.ts";
import { thisMachine } from "../doctor/machine.ts";
import { renderFindings, renderSummary } from "../doctor/render.ts";
import { requireOpenFiles } from "../machine/open-files.ts";
import { type CommandLine, usage } from "./arguments.ts";
import { subcommand } from "./subcommand.ts";

export const COMMAND: CommandLine = {
  name: "doctor",
  positionals: "",
  about: `Shows in ten lines what is installed, what is allowed, and which ways to profile will work on this
machine, with the remedy if something is missing. It changes nothing.`,
  options: {
    verbose: { short: "v", help: "one line per finding, with its remedy below" },
    json: { help: "print the findings as JSON" },
  },
  epilogue: "Exit code: 0 some way to profile works, 1 none does, 2 wrong usage.",
};

/** `deep-profile doctor`. */
export const runDoctor = subcommand(COMMAND, async (command, io) => {
  if (command.positionals.length > 0) throw usage("doctor takes no arguments");
  requireOpenFiles();
  const findings = await examine(thisMachine(io.env));
  const render = command.has("verbose") ? renderFindings : renderSummary;
  io.console.stdout(
    command.has("json")
      ? `${JSON.stringify(findings, null, 2)}\n`
      : render(findings, { color: io.console.stdoutColor === true }),
  );
  return canProfile(findings) ? 0 : 1;
});
