import { runValidateCommand } from "../report/validation/validate-command.ts";
import { takesColor, tolerateClosedPipes } from "../system/standard-streams.ts";
import { writerTo } from "../text/printable.ts";

tolerateClosedPipes();
void runValidateCommand(process.argv.slice(2), {
  stdin: () => process.stdin,
  stdout: writerTo(process.stdout),
  stderr: writerTo(process.stderr),
  color: takesColor(process.stdout, process.env),
}).then((code) => {
  process.exitCode = code;
});
