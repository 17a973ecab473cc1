/** A console of a command, and what it was given. */
export function capturedConsole() {
  const out = { stdout: "", stderr: "" };
  const console = {
    stdout: (text: string) => {
      out.stdout += text;
    },
    stderr: (text: string) => {
      out.stderr += text;
    },
  };
  return { console, out };
}
