import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parseFileHeader } from "../../src/profiler/tools/recorder/format.ts";
import { availableClients, buildFixture, type Client } from "./fixtures.ts";
import { outline } from "./outline.ts";
import { record } from "./record.ts";

/** full_api.c is C over NVIDIA's headers, and C++ over our stand-in for them. */
const fullApi = (client: Client): Promise<string> =>
  client === "own client"
    ? buildFixture("full_api.c", client, ["-xc++", "-std=c++17", "-DOWN_C_API"])
    : buildFixture("full_api.c", client, ["-xc", "-std=c11"]);

const clients = availableClients("the recorder's events");

describe.each(clients)("the recorder, called through the %s", (client) => {
  test("answers as NVTX defines: levels from 0 per thread and domain, unique ids", async () => {
    const { outcome } = await record(await fullApi(client));
    expect(outcome).toMatchObject({ code: 0, stderr: "" });
    expect(outcome.stdout.split("\n")).toEqual([
      "same domain for the same name 1",
      "push outer 0",
      "push inner 1",
      "pop inner 1",
      "pop outer 0",
      "pop nothing 1",
      "push io 0",
      "push math 0",
      "push io again 1",
      "pop math 0",
      "pop io 1",
      "pop io 0",
      "same handle for the same text 1",
      "worker level 1",
      "ids differ 1",
      "push nameless 1",
    ]);
  });

  test("names the machine's start, of which its clock counts", async () => {
    const { directory } = await record(await fullApi(client));
    const [file = ""] = readdirSync(directory);
    const bootId = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    expect(parseFileHeader(readFileSync(join(directory, file)), file)?.bootId).toBe(
      bootId.replaceAll("-", ""),
    );
  });

  test("records push/pop ranges per thread and domain, with their nesting", async () => {
    const { timeline } = await record(await fullApi(client));
    expect(outline(timeline)).toEqual([
      "main outer(inner) recurse(recurse(recurse)) wide range λ decorated waiting in default(in nameless) pushed, never popped",
      "main io step(step) registered",
      "main mäth step decorated",
      "other in worker(nested in worker)",
    ]);
  });

  test("records start/end ranges that overlap and end on other threads", async () => {
    const { timeline } = await record(await fullApi(client));
    const [process] = timeline.processes;
    const ranges = process?.ranges.filter((range) => range.kind === "start_end") ?? [];
    expect(ranges.map(({ name, domain }) => `${domain}@${name}`)).toEqual([
      "@handed over",
      "@first",
      "io@second",
      "@second",
      "mäth@started, never ended",
    ]);
    const [handedOver, first, second, , unclosed] = ranges;
    expect(handedOver?.threadId).toBe(process?.pid);
    expect(handedOver?.endThreadId).not.toBe(process?.pid);
    expect(first?.endNs).toBeGreaterThan(second?.startNs ?? Number.NaN);
    expect(first?.endNs).toBeLessThanOrEqual(second?.endNs ?? Number.NaN);
    expect(unclosed).toMatchObject({ endNs: null, endThreadId: null });
  });

  test("keeps texts verbatim, whatever way they came", async () => {
    const { timeline } = await record(await fullApi(client));
    const marks = timeline.processes[0]?.marks ?? [];
    expect(marks.slice(0, 8).map(({ name, domain }) => [domain, name])).toEqual([
      ["io", ""],
      ["", ""],
      ["", 'naïve 漢字 🚀 "quoted"\nsecond line'],
      ["", "wide ü 漢 🚀"],
      ["", "wide attribute"],
      ["io", "registered wide é"],
      ["", "buffer 0"],
      ["", "buffer 1"],
    ]);
  });

  test("cuts long texts between characters and says so", async () => {
    const { timeline } = await record(await fullApi(client));
    const [process] = timeline.processes;
    const long = process?.marks.filter(({ name }) => name.length > 1000) ?? [];
    expect(long.map(({ name }) => [name.length, Buffer.byteLength(name)])).toEqual([
      [65536, 65536],
      [32768, 65535],
    ]);
    expect(process?.notes.join("\n")).toContain("names cut at 64 KiB: 2");
  });

  test("keeps payloads of every type to the last bit", async () => {
    const { timeline } = await record(await fullApi(client));
    const marks = timeline.processes[0]?.marks.filter(({ name }) => name === "payload") ?? [];
    expect(marks.map(({ payload }) => payload)).toEqual([
      18446744073709551615n,
      7,
      -9223372036854775808n,
      0.1,
      4294967295,
      -2,
      -0.5,
    ]);
  });

  test("takes of attributes that are cut off what is there whole", async () => {
    const { timeline } = await record(await fullApi(client));
    const [process] = timeline.processes;
    const cut = process?.marks.filter(({ category }) => category === 7) ?? [];
    expect(cut.map(({ name, color, payload }) => [name, color, payload])).toEqual([
      ["", 0xff112233, 0x1111111122222222n],
      ["", 0xff112233, null],
      ["", null, null],
    ]);
    // The last one has not even its category.
    expect(process?.marks.at(-1)).toMatchObject({ name: "", category: null });
  });

  test("keeps colours, categories, and the names of categories and threads", async () => {
    const { timeline } = await record(await fullApi(client));
    const [process] = timeline.processes;
    const decorated = process?.ranges.filter(({ name }) => name === "decorated") ?? [];
    expect(decorated.map(({ category, color, payload }) => ({ category, color, payload }))).toEqual(
      [
        { category: 3, color: 0xff00ff80, payload: -42 },
        { category: 3, color: null, payload: -42 },
      ],
    );
    expect(process?.categoryNames).toEqual([
      { domain: "", category: 3, name: "three" },
      { domain: "", category: 4, name: "four ④" },
      { domain: "mäth", category: 3, name: "three of math" },
    ]);
    expect([...(process?.threadNames ?? [])]).toEqual([
      [1, "first thread"],
      [2, "second thread ②"],
    ]);
  });

  test("notes what found no partner", async () => {
    const { timeline } = await record(await fullApi(client));
    const [process] = timeline.processes;
    const prefix = /^process \d+ \(full_api\.c-\w+\): /;
    expect(process?.finished).toBe(true);
    expect(process?.notes.map((note) => note.replace(prefix, ""))).toEqual([
      "pops without an open range: 1",
      "names cut at 64 KiB: 2",
      "ends of ranges that were never started: 1",
    ]);
  });

  test("nvtx.hpp offers the same ranges over both clients", async () => {
    const { outcome, timeline } = await record(await buildFixture("nvtx_hpp.cc", client));
    expect(outcome).toEqual({ code: 0, stdout: client, stderr: "" });
    expect(outline(timeline)).toEqual([
      "main outer(inner)",
      "main fixture outer",
      "other fixture in thread",
    ]);
    const [process] = timeline.processes;
    expect(process?.marks.map(({ name, domain }) => [domain, name])).toEqual([
      ["", "now"],
      ["fixture", "end"],
    ]);
    expect(process?.ranges.find(({ name }) => name === "over there")).toMatchObject({
      kind: "start_end",
      domain: "fixture",
      threadId: process?.pid,
    });
  });
});

describe.runIf(clients.includes("nvtx3 headers"))("our description of the protocol", () => {
  test("agrees with NVIDIA's headers in every number", async () => {
    // Its static assertions are the test.
    await expect(buildFixture("protocol_check.cc", "nvtx3 headers", ["-c"])).resolves.toBeTruthy();
  });
});

describe("processor time", () => {
  const program = (client: Client) => buildFixture("processor_time.cc", client);

  test.each(clients)("is that of the thread, called through the %s", async (client) => {
    const { timeline } = await record(await program(client), []);
    const [process] = timeline.processes;
    const of = (name: string) => process?.ranges.find((range) => range.name === name);
    const ms = (name: string) => (of(name)?.cpuNs ?? Number.NaN) / 1e6;
    expect(ms("work")).toBeGreaterThanOrEqual(20);
    // The clock of the program ran until 20 ms: beyond that is what the recorder and the scheduler take.
    expect(ms("work")).toBeLessThan(25);
    expect(ms("sleep")).toBeLessThan(5);
    expect(ms("both")).toBeGreaterThanOrEqual(ms("work"));
    expect(of("on a thread")?.cpuNs).toBeGreaterThan(0);
    expect(of("handed over")?.cpuNs).toBeNull();
    expect(of("started")?.cpuNs).toBeGreaterThan(0);
    expect(process?.ranges.every(({ counts }) => counts === null)).toBe(true);
  });

  async function counted(built: string) {
    const { outcome, timeline } = await record(built, [], { HYDRACONF_RECORDER_CPU: "counts" });
    const of = (name: string) =>
      timeline.processes[0]?.ranges.find((range) => range.name === name)?.counts;
    return { of, outcome };
  }

  test("comes with page faults and context switches where asked for, and not at all where not", async () => {
    const [client] = clients;
    if (client === undefined) return;
    const built = await program(client);
    const { of } = await counted(built);
    expect(of("faults")?.[0]).toBeGreaterThanOrEqual(100);
    expect(of("sleep")?.[2]).toBeGreaterThanOrEqual(1);
    const without = await record(built, [], { HYDRACONF_RECORDER_CPU: "off" });
    const ranges = without.timeline.processes[0]?.ranges ?? [];
    expect(ranges.length).toBeGreaterThan(0);
    expect(ranges.every(({ cpuNs, counts }) => cpuNs === null && counts === null)).toBe(true);
  });

  test("comes with disk blocks where asked for", async ({ skip }) => {
    const [client] = clients;
    if (client === undefined) return;
    const { of, outcome } = await counted(await program(client));
    // The program writes into its working directory, that of the repository.
    const [inside = Number.NaN, around = Number.NaN] = outcome.stdout.split(" to ").map(Number);
    skip(inside === 0, "the working directory is not on a disk: the system counts no block");
    // Pages of the recording that are first written to count as well, unless its directory is in memory.
    expect(of("writes")?.[5]).toBeGreaterThanOrEqual(inside);
    expect(of("writes")?.[5]).toBeLessThanOrEqual(around);
  });
});

describe.runIf(clients.includes("nvtx3 headers"))("ranges of the payload extension", () => {
  test("have names out of their structures, and their pops close no others", async () => {
    const program = await buildFixture("payload_ranges.c", "nvtx3 headers", ["-xc", "-std=c11"]);
    const { outcome, timeline } = await record(program);
    expect(outcome).toEqual({ code: 0, stdout: "levels 0 1 1 0\nenabled 1", stderr: "" });
    const [process] = timeline.processes;
    expect(process?.ranges.map(({ kind, domain, name }) => `${kind} ${domain}@${name}`)).toEqual([
      "push_pop @outer",
      "push_pop io@send",
      "push_pop io@by pointer",
      "push_pop @inside!!",
      // Without a name in the structure, or with half of it: that of the schema. None of an unknown one.
      "push_pop io@the schema's name",
      "push_pop io@message",
      "push_pop io@",
      "start_end io@send",
    ]);
    const [outer, ...inner] = process?.ranges ?? [];
    for (const { endNs } of inner) expect(endNs).toBeLessThanOrEqual(outer?.endNs ?? 0);
    expect(process?.marks.map(({ name }) => name)).toEqual(["send"]);
    expect(process?.notes).toEqual([]);
  });
});
