import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { expect, it } from "vitest";
import { answersLast } from "./answers-last.ts";

it("lets what was told before an answer be looked at before it, though both come at once", async () => {
  class Arriving implements Transport {
    onmessage?: Transport["onmessage"];
    async start() {}
    async close() {}
    async send() {
      this.onmessage?.({ jsonrpc: "2.0", method: "notifications/progress", params: {} } as JSONRPCMessage);
      this.onmessage?.({ jsonrpc: "2.0", id: 1, result: {} });
    }
  }
  const transport = answersLast(new Arriving());
  const heard: string[] = [];
  const { promise: answered, resolve } = Promise.withResolvers<void>();
  transport.onmessage = (message) => {
    if ("method" in message) void Promise.resolve().then(() => heard.push("progress"));
    else resolve(void heard.push("answer"));
  };
  await transport.send();
  await answered;
  expect(heard).toEqual(["progress", "answer"]);
  expect(transport).toBeInstanceOf(Arriving);
});
