/** The entry point of the command `validate-regions`. */
import { standardStream, takesColor } from "../foundation/system/standard-streams.ts";
import { writerTo } from "../foundation/text/printable.ts";
import { runValidateCommand } from "../profiler/cli/validate-command.ts";

const stdout = standardStream("stdout");
void runValidateCommand(process.argv.slice(2), {
  stdin: () => process.stdin,
  stdout: writerTo(stdout),
  stderr: writerTo(standardStream("stderr")),
  color: takesColor(stdout, process.env),
}).then((code) => {
  process.exitCode = code;
});
