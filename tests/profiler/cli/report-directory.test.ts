import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { openCommand, openPage } from "../../../src/profiler/cli/report-directory.ts";
import { until } from "../../wait.ts";

const directory = mkdtempSync(join(tmpdir(), "hydraconf open-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const PAGE = `${directory}/it's a "page" $HOME; x.html`;

/** More than an opener needs that only says whether it can open the file. */
const LONG_MS = 600_000;

/** A desktop whose opener does this. */
function desktopWith(script: string) {
  const opener = join(directory, "xdg-open");
  writeFileSync(opener, `#!/bin/sh\n${script}\n`);
  chmodSync(opener, 0o755);
  return { platform: "linux", env: { DISPLAY: ":0", PATH: directory } } as const;
}

describe("openCommand", () => {
  it.each([
    ["linux", { DISPLAY: ":0" }, "xdg-open"],
    ["linux", { WAYLAND_DISPLAY: "wayland-0" }, "xdg-open"],
    ["linux", { WSL_DISTRO_NAME: "Debian" }, "xdg-open"],
    ["linux", {}, undefined],
    ["linux", { DISPLAY: "" }, undefined],
    ["linux", { DISPLAY: ":0", CI: "true" }, undefined],
    ["darwin", {}, "open"],
    ["darwin", { CI: "1" }, undefined],
    ["win32", {}, "explorer.exe"],
  ] as const)("on %s with %j is %s", (platform, env, program) => {
    const command = openCommand("a b.html", { platform, env });
    expect(command?.[0]).toBe(program);
    if (command !== null) expect(command.slice(1)).toEqual(["a b.html"]);
  });
});

describe.skipIf(process.platform === "win32")("openPage", () => {
  it("gives the file to the opener as one argument, whatever its name", async () => {
    const seen = join(directory, "seen");
    const desktop = desktopWith(`printf '%s\\n' "$#" "$1" > '${seen}'`);
    expect(await openPage(PAGE, desktop, LONG_MS)).toBeNull();
    expect(readFileSync(seen, "utf8")).toBe(`1\n${PAGE}\n`);
  });

  it("does not wait for a browser that stays open, and leaves it open", async () => {
    const ended = join(directory, "ended");
    const gate = join(directory, "gate");
    const desktop = desktopWith(
      `while [ ! -e '${gate}' ]; do /bin/sleep 0.05; done; : > '${ended}'`,
    );
    expect(await openPage(PAGE, desktop, 20)).toBeNull();
    writeFileSync(gate, "");
    await until(() => existsSync(ended));
  });

  it("says in words why it was not opened", async () => {
    const failing = desktopWith("exit 4");
    expect(await openPage(PAGE, failing, LONG_MS)).toBe("xdg-open ended with exit code 4");
    const nowhere = { platform: "linux", env: { DISPLAY: ":0", PATH: "/nonexistent" } } as const;
    expect(await openPage(PAGE, nowhere, LONG_MS)).toBe("xdg-open could not be started");
    expect(await openPage(PAGE, { platform: "linux", env: {} })).toBe("there is no display");
    expect(await openPage(PAGE, { platform: "linux", env: { CI: "1", DISPLAY: ":0" } })).toBe(
      "CI is set",
    );
  });
});
