import { runValidateCommand } from "../report/validation/validate-command.ts";
import { tolerateClosedPipes } from "../system/closed-pipes.ts";
import { takesColor } from "../system/terminal.ts";

tolerateClosedPipes();
void runValidateCommand(process.argv.slice(2), {
  stdin: () => process.stdin,
  stdout: (part) => process.stdout.write(part),
  stderr: (part) => process.stderr.write(part),
  color: takesColor(process.stdout, process.env),
}).then((code) => {
  process.exitCode = code;
});
