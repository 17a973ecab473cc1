import { draftBeside } from "../../../../src/foundation/system/atomic-write.ts";

/** `name FILE`: prints the draft beside it, of a process that then is no more. */
process.stdout.write(draftBeside(process.argv[2] ?? ""));
