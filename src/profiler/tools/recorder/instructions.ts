/** Why instructions were not counted, and what helps. */
import { constants } from "node:os";
import { plural } from "../../../foundation/text/plural.ts";
import { errorName, type NoInstructionsEvent } from "./events.ts";

/** The reasons of the recorder: `native/region_recorder/instructions.hpp`. */
const reasons = { unsupported: 1, notOpened: 2, notMapped: 3, notReadable: 4 } as const;

/** The highest level of kernel.perf_event_paranoid at which every user may count what happens in user space. */
const ALLOWED_LEVEL = 2;

/**
 * One note for all processes of a run, with the first reason; empty if instructions were counted, or not wanted.
 *
 * @param refusals of each process
 */
export function noInstructionsNotes(
  refusals: readonly (readonly NoInstructionsEvent[])[],
): readonly string[] {
  const affected = refusals.filter((ofProcess) => ofProcess.length > 0);
  const [first] = affected.flat();
  if (first === undefined) return [];
  const count = affected.length;
  const whose = holdsForAll(first)
    ? plural(count, "process", "processes")
    : `${plural(affected.flat().length, "thread")} of ${plural(count, "process", "processes")}`;
  return [`the instructions of ${whose} were not counted: ${whyNot(first)}`];
}

/** Whether all threads of a process are refused alike: the recorder then asks once. */
const holdsForAll = ({ reason, errno }: NoInstructionsEvent): boolean =>
  reason !== reasons.notMapped && !isOneOf(errno, "EMFILE", "ENFILE", "ENOMEM", "EINTR");

function whyNot({ reason, errno, paranoidLevel }: NoInstructionsEvent): string {
  const name = errorName(errno);
  switch (reason) {
    case reasons.unsupported:
      return "this is possible on Linux on x86-64 alone, with a recorder that was built with the kernel's headers (linux/perf_event.h)";
    case reasons.notMapped:
      return `their counters could not be mapped (${name}): raise the limit of locked memory (ulimit -l) or kernel.perf_event_mlock_kb`;
    case reasons.notReadable:
      return "programs may not read the processor's counters here: as root, echo 1 > /sys/bus/event_source/devices/cpu/rdpmc";
    default:
      return whyNotOpened(errno, name, paranoidLevel);
  }
}

function whyNotOpened(errno: number, name: string, level: number | null): string {
  if (isOneOf(errno, "EACCES", "EPERM"))
    return level !== null && level > ALLOWED_LEVEL
      ? `the kernel refuses it (${name}), since kernel.perf_event_paranoid is ${level}: sysctl kernel.perf_event_paranoid=${ALLOWED_LEVEL} allows it`
      : `perf_event_open is refused (${name}${level === null ? "" : `, though kernel.perf_event_paranoid is ${level}`}), as in many containers: allow that system call, with docker run --cap-add PERFMON`;
  if (isOneOf(errno, "ENOENT", "ENODEV", "EOPNOTSUPP"))
    return `the processor offers no counter of them (${name}), as in most virtual machines: measure on a machine that does (perf stat -e instructions:u true tells)`;
  if (isOneOf(errno, "ENOSYS"))
    return `the kernel has no perf_event_open, or a sandbox hides it (${name})`;
  if (isOneOf(errno, "EMFILE", "ENFILE"))
    return `too many files were open (${name}): raise that limit (ulimit -n)`;
  return `perf_event_open failed (${name})`;
}

const isOneOf = (errno: number, ...names: readonly (keyof typeof constants.errno)[]): boolean =>
  names.some((name) => constants.errno[name] === errno);
