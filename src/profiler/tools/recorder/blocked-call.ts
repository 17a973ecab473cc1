/**
 * What a thread waits in, from the system call in which Linux shows it (`/proc/PID/task/TID/syscall`, proc(5)). Numbers of
 * system calls are those of x86-64 and of the table that arm64 shares with most others.
 */
import type { ThreadState } from "../../model/timeline.ts";

type Numbers = Readonly<Record<number, Call>>;

/** `descriptor`: what its first argument is open on decides. */
type Call = ThreadState | "futex" | "descriptor";

const X64: Numbers = {
  ...callNumbers("descriptor", [0, 1, 17, 18, 19, 20, 40, 295, 296, 327, 328]),
  // open, msync, fsync, fdatasync, ftruncate, rename, unlink, sync, openat, sync_file_range, fallocate, statx, ...
  ...callNumbers(
    "file",
    [2, 4, 5, 6, 26, 74, 75, 76, 77, 78, 82, 83, 84, 87, 162, 206, 208, 217, 257],
  ),
  ...callNumbers("file", [262, 263, 277, 285, 306, 316, 332, 426]),
  ...callNumbers("poll", [7, 23, 34, 127, 128, 130, 232, 270, 271, 281, 441]),
  ...callNumbers("sleep", [35, 230]),
  ...callNumbers("socket", [42, 43, 44, 45, 46, 47, 288, 299, 307]),
  ...callNumbers("child", [58, 61, 247]),
  // semop, fcntl, flock, semtimedop
  ...callNumbers("lock", [65, 72, 73, 220]),
  ...callNumbers("futex", [202]),
  ...callNumbers("device", [16]),
};

const GENERIC: Numbers = {
  ...callNumbers("descriptor", [63, 64, 65, 66, 67, 68, 69, 70, 71, 286, 287]),
  ...callNumbers(
    "file",
    [2, 4, 35, 38, 45, 46, 47, 56, 61, 79, 80, 81, 82, 83, 84, 227, 267, 276, 291],
  ),
  ...callNumbers("file", [426]),
  ...callNumbers("poll", [22, 72, 73, 133, 137, 441]),
  ...callNumbers("sleep", [101, 115]),
  ...callNumbers("socket", [202, 203, 206, 207, 211, 212, 242, 243, 269]),
  ...callNumbers("child", [95, 260]),
  ...callNumbers("lock", [25, 32, 192, 193]),
  ...callNumbers("futex", [98]),
  ...callNumbers("device", [29]),
};

function callNumbers(call: Call, numbers: readonly number[]): Numbers {
  return Object.fromEntries(numbers.map((number) => [number, call]));
}

// futex(2): the operation, and the flags that stand beside it.
const FUTEX_WAIT = 0;
const FUTEX_LOCK_PI = 6;
const FUTEX_WAIT_BITSET = 9;
const FUTEX_LOCK_PI2 = 13;
const FUTEX_FLAGS = 128 | 256;
const FUTEX_PRIVATE = 128;

/** Whether `syscall` says that the thread runs: it tells no call, also of a thread whose wait ended just now. */
export const tellsNoCall = (line: string | null): boolean => line?.startsWith("running") === true;

/**
 * Of a thread that its `stat` showed to wait.
 *
 * @param line the contents of `syscall`: the number of the call and its arguments; null where the kernel refuses it
 * @param isUninterruptible whether the thread waits for a device (state D)
 * @param targetOf what a descriptor of the process is open on, as /proc/PID/fd shows it; null if unknown
 */
export function stateInCall(
  line: string | null,
  isUninterruptible: boolean,
  targetOf: (descriptor: number) => string | null,
  architecture: string = process.arch,
): ThreadState {
  if (line === null) return isUninterruptible ? "file" : "unknown";
  // Short waits are over before both files are read: to call them running would make them vanish.
  if (tellsNoCall(line)) return isUninterruptible ? "file" : "other";
  const [number = "", ...args] = line.split(" ");
  const argument = (index: number) => Number(args[index] ?? "0x0");
  const call = (architecture === "x64" ? X64 : GENERIC)[Number(number)];
  if (call === "futex") return futexState(argument(1), argument(2), argument(3));
  if (isUninterruptible) return call === "device" ? "device" : "file";
  if (call === "descriptor") return targetState(targetOf(argument(0)));
  return call ?? "other";
}

/**
 * As the C library of GNU waits: a mutex and a barrier in FUTEX_WAIT, a condition variable, a semaphore and the end of a
 * thread in FUTEX_WAIT_BITSET, the last of these on a number that the kernel clears, which is not private.
 */
function futexState(operation: number, value: number, timeout: number): ThreadState {
  const command = operation & ~FUTEX_FLAGS;
  if ([FUTEX_WAIT, FUTEX_LOCK_PI, FUTEX_LOCK_PI2].includes(command)) return "lock";
  if (command !== FUTEX_WAIT_BITSET) return "condition";
  if ((operation & FUTEX_PRIVATE) === 0 && value > 1) return "join";
  return timeout === 0 ? "condition" : "timed_condition";
}

function targetState(target: string | null): ThreadState {
  if (target === null) return "other";
  if (target.startsWith("pipe:")) return "pipe";
  if (target.startsWith("socket:")) return "socket";
  if (target.startsWith("anon_inode:")) return "poll";
  return target.startsWith("/dev/") ? "device" : "file";
}
