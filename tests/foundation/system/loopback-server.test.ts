import { request } from "node:http";
import { expect, test } from "vitest";
import { openLoopbackServer } from "../../../src/foundation/system/loopback-server.ts";

const put = (address: string, body: string) =>
  new Promise<number | undefined>((resolve, reject) => {
    const headers = { origin: new URL(address).origin, "content-type": "application/json" };
    request(address, { method: "PUT", headers, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on("error", reject)
      .end(body);
  });

test("without a size every PUT is refused, also one without a body", async () => {
  const statusOf = async (body: string, mostBytes?: number) => {
    const methods: string[] = [];
    const server = await openLoopbackServer({
      port: 0,
      async answer({ method }) {
        methods.push(method);
        return { type: "text/plain", text: "" };
      },
      onError(error) {
        throw error;
      },
      ...(mostBytes !== undefined && { mostBytes }),
    });
    try {
      return [await put(server.address, body), methods];
    } finally {
      server.close();
    }
  };
  expect(await statusOf("")).toEqual([404, []]);
  expect(await statusOf("{}")).toEqual([404, []]);
  expect(await statusOf("", 2)).toEqual([200, ["PUT"]]);
  expect(await statusOf("{}", 2)).toEqual([200, ["PUT"]]);
});
