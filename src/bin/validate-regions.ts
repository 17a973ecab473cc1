import picocolors from "picocolors";
import { tolerateClosedPipes } from "../app/process/closed-pipes.ts";
import { runValidateCommand } from "../report/validation/validate-command.ts";

tolerateClosedPipes();
void runValidateCommand(process.argv.slice(2), {
  stdin: () => process.stdin,
  stdout: (part) => process.stdout.write(part),
  stderr: (part) => process.stderr.write(part),
  color: process.stdout.isTTY === true && picocolors.isColorSupported,
}).then((code) => {
  process.exitCode = code;
});
