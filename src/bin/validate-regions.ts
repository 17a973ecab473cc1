import { runValidateCommand } from "../report/validation/validate-command.ts";
import { takesColor, tolerateClosedPipes } from "../system/standard-streams.ts";

tolerateClosedPipes();
void runValidateCommand(process.argv.slice(2), {
  stdin: () => process.stdin,
  stdout: (part) => process.stdout.write(part),
  stderr: (part) => process.stderr.write(part),
  color: takesColor(process.stdout, process.env),
}).then((code) => {
  process.exitCode = code;
});
