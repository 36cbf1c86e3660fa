import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { createOpenAiChatProvider } from "keelson/providers/openai-chat";
import { describe, expect, it } from "vitest";
import { askProviders, type Answer } from "./ask-providers.ts";
import { withAnswer } from "./doctor.ts";

const KEY = "0123456789abcdef-this-is-a-key";

async function answerOf(handler: RequestListener, limitMs?: number): Promise<Answer | undefined> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    handler(request, response);
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  try {
    const answers = await askProviders({ openai: createOpenAiChatProvider({ apiKey: KEY, baseUrl }) }, limitMs);
    expect(seen).toEqual(["GET /v1/models"]);
    return answers.get("openai");
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const found = { what: "openai", state: "ok", detail: "OPENAI_API_KEY is set" } as const;
const json =
  (status: number, body: object): RequestListener =>
  (_request, response) =>
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));

describe("a provider that is asked for its models", () => {
  it("works when it lists them", async () => {
    const answer = await answerOf(json(200, { data: [{ id: "a" }, { id: "b" }] }));
    expect(withAnswer(found, answer)).toEqual({ ...found, detail: "OPENAI_API_KEY is set; it answers, with 2 models" });
  });

  it("is broken by its key when that is refused, and the key is not told", async () => {
    const answer = await answerOf(json(401, { error: { message: `Incorrect API key provided: ${KEY}` } }));
    expect(answer).toMatchObject({ type: "refused" });
    const { state, detail } = withAnswer(found, answer);
    expect([state, detail]).toEqual(["broken", expect.stringContaining("it is refused: Incorrect API key provided: [redacted]")]);
  });

  it("is broken by its server when that fails, hangs, says nonsense or is not there", async () => {
    expect(withAnswer(found, await answerOf(json(500, { error: "down" })))).toMatchObject({
      state: "broken",
      detail: expect.stringContaining("the server can't be used"),
    });
    expect(await answerOf(() => {}, 50)).toEqual({ type: "unreachable", reason: "no answer within 0.05 s" });
    expect(await answerOf((_request, response) => response.end("<html>a login page</html>"))).toMatchObject({ type: "unreachable" });
    const nowhere = createOpenAiChatProvider({ apiKey: KEY, baseUrl: "http://127.0.0.1:9/v1" });
    expect((await askProviders({ openai: nowhere })).get("openai")).toMatchObject({
      type: "unreachable",
      reason: expect.stringContaining("127.0.0.1:9"),
    });
  });

  it("is left untried where it has no such list", async () => {
    const answer = await answerOf(json(404, { error: "no such page" }));
    expect(withAnswer(found, answer)).toEqual({ ...found, detail: "OPENAI_API_KEY is set; not tried, as it has no list of models" });
    expect(withAnswer({ ...found, state: "missing" }, undefined)).toEqual({ ...found, state: "missing" });
  });
});
