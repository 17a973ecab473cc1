/** The entry point of the command `validate-regions`. */
import { takesColor, tolerateClosedPipes } from "../foundation/system/standard-streams.ts";
import { writerTo } from "../foundation/text/printable.ts";
import { runValidateCommand } from "../profiler/cli/validate-command.ts";

tolerateClosedPipes();
void runValidateCommand(process.argv.slice(2), {
  stdin: () => process.stdin,
  stdout: writerTo(process.stdout),
  stderr: writerTo(process.stderr),
  color: takesColor(process.stdout, process.env),
}).then((code) => {
  process.exitCode = code;
});
