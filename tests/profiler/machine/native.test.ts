import { expect, it } from "vitest";
import { buildToolsHint } from "../../../src/profiler/machine/native.ts";

const hint = (osRelease: string | null) => buildToolsHint("linux", osRelease);
const WHAT = "install python3, make and a C++17 compiler";

it.each([
  [
    "Debian",
    'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nID=debian\n',
    "apt-get install python3 make g++",
  ],
  ["Mint", 'ID=linuxmint\nID_LIKE="ubuntu debian"\n', "apt-get install python3 make g++"],
  ["Alpine", 'NAME="Alpine Linux"\nID=alpine\nVERSION_ID=3.22.1\n', "apk add build-base python3"],
  ["Fedora", "ID=fedora\n", "dnf install gcc-c++ make python3"],
  ["Rocky", 'ID="rocky"\nID_LIKE="rhel centos fedora"\n', "dnf install gcc-c++ make python3"],
  ["Amazon Linux", 'ID="amzn"\nID_LIKE="fedora"\r\n', "dnf install gcc-c++ make python3"],
  [
    "openSUSE",
    "ID='opensuse-leap'\nID_LIKE='suse opensuse'\n",
    "zypper install gcc-c++ make python3",
  ],
  ["Arch", "ID=arch\n", "pacman -S gcc make python"],
])("names what %s installs them with", (_, osRelease, command) => {
  expect(hint(osRelease)).toBe(`${WHAT}: ${command}`);
});

it("takes a system's own name before those that it is like", () => {
  expect(hint('ID_LIKE="debian"\nID=alpine\n')).toBe(`${WHAT}: apk add build-base python3`);
});

it("names no command for a system that it does not know", () => {
  for (const osRelease of [null, "", "ID=\n", "ID=nixos\n", "VERSION_ID=debian\n", "# ID=debian\n"])
    expect(hint(osRelease), String(osRelease)).toBe(WHAT);
  expect(buildToolsHint("freebsd", null)).toBe(WHAT);
});

it("names Apple's tools on macOS, whatever else lies there", () => {
  for (const osRelease of [null, "ID=debian\n"])
    expect(buildToolsHint("darwin", osRelease)).toBe(`${WHAT}: xcode-select --install`);
});
