/** How python3, make and a C++17 compiler, which the native part is built with, are installed on a system. */
interface BuildTools {
  /** Of /etc/os-release, in `ID` or `ID_LIKE`. */
  readonly systems: readonly string[];
  readonly command: string;
}

const BUILD_TOOLS: readonly BuildTools[] = [
  { systems: ["debian", "ubuntu"], command: "apt-get install python3 make g++" },
  { systems: ["alpine"], command: "apk add build-base python3" },
  { systems: ["fedora", "rhel", "centos", "amzn"], command: "dnf install gcc-c++ make python3" },
  { systems: ["suse", "opensuse", "sles"], command: "zypper install gcc-c++ make python3" },
  { systems: ["arch"], command: "pacman -S gcc make python" },
];

/** All three are in Apple's command line tools. */
const MACOS_COMMAND = "xcode-select --install";

/**
 * What to do where a tool of the build is missing, in words, with the command of this system where it is a known one.
 *
 * @param platform as Node names it: `linux`
 * @param osRelease the text of /etc/os-release; null where there is none
 */
export function buildToolsHint(platform: string, osRelease: string | null): string {
  const what = "install python3, make and a C++17 compiler";
  const command = platform === "darwin" ? MACOS_COMMAND : linuxCommand(osRelease ?? "");
  return command === undefined ? what : `${what}: ${command}`;
}

/** A system's own name counts before those that it is like, nearest first. */
function linuxCommand(osRelease: string): string | undefined {
  const names = [...wordsOf(osRelease, "ID"), ...wordsOf(osRelease, "ID_LIKE")];
  return names
    .map((name) => BUILD_TOOLS.find(({ systems }) => systems.includes(name)))
    .find((found) => found !== undefined)?.command;
}

/** `ID_LIKE="rhel fedora"`: quotes are optional. */
function wordsOf(osRelease: string, key: string): string[] {
  const line = osRelease.split("\n").find((one) => one.startsWith(`${key}=`)) ?? "";
  return line
    .slice(key.length + 1)
    .split(/[\s"']+/)
    .filter((word) => word !== "");
}
