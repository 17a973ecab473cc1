import { Writable } from "node:stream";

/**
 * A stream that copies to the terminal (or whatever reads our output) as long as that takes it. A
 * reader that goes away (`| head`) ends the copy and nothing else: the workload must not notice.
 */
export function terminalCopy(target: Writable): Writable {
  let open = true;
  target.once("error", () => {
    open = false;
  });
  return new Writable({
    write(chunk, _encoding, done) {
      if (!open || target.destroyed) {
        done();
        return;
      }
      target.write(chunk, (error) => {
        if (error) open = false;
        done();
      });
    },
  });
}
