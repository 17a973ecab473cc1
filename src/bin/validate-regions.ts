import picocolors from "picocolors";
import { tolerateClosedPipes } from "../app/closed-pipes.ts";
import { runValidateCommand } from "../report/validate-command.ts";

tolerateClosedPipes();
void runValidateCommand(process.argv.slice(2), {
  stdout: (text) => process.stdout.write(text),
  stderr: (text) => process.stderr.write(text),
  color: process.stdout.isTTY === true && picocolors.isColorSupported,
}).then((code) => {
  process.exitCode = code;
});
