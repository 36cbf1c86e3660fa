import { createMcpServer, serveMcpHttp } from "keelson/mcp";
import { defineTool } from "keelson/tools";
import { describe, expect, it } from "vitest";

interface Result {
  readonly resultType?: string;
  readonly inputRequests?: { readonly [key: string]: { readonly method: string } };
  readonly requestState?: string;
  readonly content?: readonly { readonly text: string }[];
  readonly isError?: boolean;
}

interface Answer {
  readonly result?: Result;
  readonly error?: { readonly code: number; readonly message: string };
}

const REVISION = "2026-07-28";

/** A request of the stateless revision as it goes over the wire, so that a test can bend what goes back. */
async function call(url: string, name: string, more: object = {}, token?: string): Promise<Answer> {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": REVISION,
    "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } },
  };
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "accept": "application/json, text/event-stream",
      "mcp-protocol-version": REVISION,
      "mcp-method": "tools/call",
      "mcp-name": name,
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: {}, ...more, _meta } }),
  });
  return (await response.json()) as Answer;
}

const yes = (key: string) => ({ inputResponses: { [key]: { action: "accept", content: {} } } });

/** A tool that asks twice, and counts how often it was begun and how often it came to its end. */
function asking(name: string, effect: "read" | "write") {
  const times = { begun: 0, done: 0 };
  const tool = defineTool({
    name,
    description: "Asks.",
    effect,
    input: { type: "object" },
    async execute(_input, call) {
      times.begun += 1;
      const answers = [await call.ask?.({ message: "One?" }), await call.ask?.({ message: "Two?" })];
      times.done += 1;
      return answers.map((answer) => answer?.type).join(" ");
    },
  });
  return { tool, times };
}

describe("what a client brings back with an answer", () => {
  const key = new Uint8Array(32).fill(7);
  const newServer = (tools: Parameters<typeof createMcpServer>[0]["tools"], more: object = {}) =>
    createMcpServer({ name: "test", version: "1", tools, stateKey: key, ...more });

  it("is refused where it was changed, is of another request or of another client", async () => {
    const [look, peek] = [asking("look", "read"), asking("peek", "read")];
    await using http = await serveMcpHttp(newServer([look.tool, peek.tool]), { authenticate: (token) => ({ id: token }) });
    const first = (await call(http.url, "look", {}, "ada")).result;
    expect(first).toMatchObject({ resultType: "input_required", inputRequests: { "question-1": { method: "elicitation/create" } } });
    const requestState = first?.requestState ?? "";
    const back = { ...yes("question-1"), requestState };
    for (const refused of [
      await call(http.url, "look", { ...back, requestState: `${requestState.slice(0, -2)}AA` }, "ada"),
      await call(http.url, "look", { ...back, requestState: "x" }, "ada"),
      await call(http.url, "peek", back, "ada"),
      await call(http.url, "look", { ...back, arguments: { other: 1 } }, "ada"),
      await call(http.url, "look", back, "bob"),
    ])
      expect(refused.error?.code).toBe(-32602);
    expect((await call(http.url, "look", back, "ada")).result?.inputRequests).toHaveProperty("question-2");
  });

  it("is good in another process with the same key, for what may be repeated", async () => {
    const [here, there] = [asking("look", "read"), asking("look", "read")];
    await using one = await serveMcpHttp(newServer([here.tool]));
    await using two = await serveMcpHttp(newServer([there.tool]));
    const first = (await call(one.url, "look")).result;
    const second = (await call(two.url, "look", { ...yes("question-1"), requestState: first?.requestState })).result;
    const third = (await call(one.url, "look", { ...yes("question-2"), requestState: second?.requestState })).result;
    expect(third?.content).toMatchObject([{ text: "provided provided" }]);
    expect([here.times, there.times]).toEqual([
      { begun: 2, done: 1 },
      { begun: 1, done: 0 },
    ]);
  });

  it("does not have a write done again where the process that held it is gone: what became of it is said to be unknown", async () => {
    const [here, there] = [asking("send", "write"), asking("send", "write")];
    await using one = await serveMcpHttp(newServer([here.tool]));
    await using two = await serveMcpHttp(newServer([there.tool]));
    const first = (await call(one.url, "send")).result;
    const lost = (await call(two.url, "send", { ...yes("question-1"), requestState: first?.requestState })).result;
    expect(lost).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("is not known") }] });
    expect(there.times.begun).toBe(0);
  });

  it("comes too late for a write that was held as long as it may be: its questions were closed then", async () => {
    const send = asking("send", "write");
    await using http = await serveMcpHttp(newServer([send.tool], { approvalWaitMs: 1 }));
    const first = (await call(http.url, "send")).result;
    while (send.times.done === 0) await new Promise((resolve) => setImmediate(resolve));
    const late = (await call(http.url, "send", { ...yes("question-1"), requestState: first?.requestState })).result;
    expect(late).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("is not known") }] });
    expect(send.times).toEqual({ begun: 1, done: 1 });
  });

  it("is asked for again where it is no answer, and leaves out what nobody asked", async () => {
    const look = asking("look", "read");
    await using http = await serveMcpHttp(newServer([look.tool]));
    for (const inputResponses of [{ "question-1": {} }, { "question-1": { action: "perhaps" } }, { other: { action: "accept" } }]) {
      const again = (await call(http.url, "look", { inputResponses })).result;
      expect(Object.keys(again?.inputRequests ?? {})).toEqual(["question-1"]);
    }
  });
});
