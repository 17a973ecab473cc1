import { describe, expect, it } from "vitest";
import type { NcuResult } from "../../../../../src/profiler/model/counters.ts";
import { streamNcuCsv } from "../../../../../src/profiler/tools/ncu/csv/read-csv.ts";

const HEADERS = [
  ...["ID", "Process ID", "Process Name", "Host Name"],
  "thread Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg",
  "Id:Domain:Start/Stop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg",
  ...["Kernel Name", "Context", "Stream", "Block Size", "Grid Size", "Device", "CC"],
  "gpu__time_duration.sum",
];

/** As ncu prints it: every cell in quotes, and those inside as they are. */
const line = (cells: readonly string[]): string => `"${cells.join('","')}"\n`;

const row = (pushPop: string, startEnd: string, kernel: string): string =>
  line([
    ...["0", "12", "app", "127.0.0.1", pushPop, startEnd, kernel],
    ...["1", "7", "(32, 1, 1)", "(1, 1, 1)", "0", "9.0", "1500"],
  ]);

async function read(text: string) {
  const results: NcuResult[] = [];
  const units = HEADERS.map((name) => (name.startsWith("gpu__") ? "nsecond" : ""));
  const bytes = Buffer.from(`${line(HEADERS)}${line(units)}${text}`);
  const { notes } = await streamNcuCsv(
    (async function* () {
      yield bytes;
    })(),
    (result) => results.push(result),
  );
  expect(notes).toEqual([]);
  expect(results).toHaveLength(1);
  return results[0];
}

const pushPopCell = (...entries: readonly string[]): string =>
  `7  ${entries.map((entry) => `""${entry}""`).join("  ")} `;

describe("what looks like the end of a cell", () => {
  it("is none inside a kernel's name", async () => {
    const name = 'void tagged<"a","b">(float *)';
    const result = await read(row("", "", name));
    expect(result).toMatchObject({ kernelName: name, context: "1", stream: "7" });
    expect([...(result?.values ?? [])]).toEqual([1500]);
  });

  it("is none where another program doubled the quotes of a name, which are single again", async () => {
    const name = `void run<[lambda() ""quoted"" (instance 1)]>(float *)`;
    expect(await read(row("", "", name))).toMatchObject({
      kernelName: `void run<[lambda() "quoted" (instance 1)]>(float *)`,
      context: "1",
    });
  });

  it("is none in the name of a range, where a quote, a space and a number follow", async () => {
    const named = '<default domain>:say "no" ","1":none:none:none:none:none:none';
    const result = await read(row(pushPopCell(named), "", "k(int)"));
    expect(result?.nvtx.pushPop).toEqual([{ domain: "", name: 'say "no" ","1"' }]);
    expect(result?.kernelName).toBe("k(int)");
  });

  it.each(["n/a", ""])("is one of a kernel's name where the context is '%s'", async (context) => {
    const cells = ["0", "12", "app", "127.0.0.1", "", "", 'f<"q">', context, "7"];
    const text = line([...cells, "(32, 1, 1)", "(1, 1, 1)", "0", "9.0", "1500"]);
    expect(await read(text)).toMatchObject({ kernelName: 'f<"q">', context: null, stream: "7" });
  });

  it("is none inside the NVTX state, even where a number seems to follow", async () => {
    const payload = '{"a":"x","1":["y","2"]}';
    const attributed = `<default domain>:js:Json:${payload}:none:none:ASCII:js`;
    const named = '<default domain>:say "no","1":none:none:none:none:none:none';
    const started = `""1:<default domain>:S1:Json:${payload}:none:none:ASCII:S1"" `;
    const result = await read(row(pushPopCell(attributed, named), started, "k(int)"));
    expect(result).toMatchObject({
      kernelName: "k(int)",
      nvtx: {
        pushPop: [
          { domain: "", name: "js" },
          { domain: "", name: 'say "no","1"' },
        ],
        startEnd: [{ domain: "", name: "S1" }],
      },
    });
  });
});

it("a kernel may be called range, in tables without blocks, too", async () => {
  const old = ["ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Kernel Time"];
  const headers = [...old, "Context", "Stream", "gpu__time_duration.sum"];
  const units = [...Array(8).fill(""), "nsecond"];
  const cells = ["0", "12", "app", "127.0.0.1", "range", "2022-Aug-08 11:03:25", "1", "7", "1500"];
  const results: NcuResult[] = [];
  const bytes = Buffer.from([headers, units, cells].map(line).join(""));
  const text = (async function* () {
    yield bytes;
  })();
  await streamNcuCsv(text, (result) => results.push(result));
  expect(results.map(({ kind, stream }) => [kind, stream])).toEqual([["kernel", "7"]]);
});

it("a kernel may be called range, whose stream is not known", async () => {
  const cells = ["0", "12", "app", "127.0.0.1", "", "", "range", "1", "n/a"];
  const text = line([...cells, "(32, 1, 1)", "(1, 1, 1)", "0", "9.0", "1500"]);
  expect(await read(text)).toMatchObject({ kind: "kernel", stream: null });
});
