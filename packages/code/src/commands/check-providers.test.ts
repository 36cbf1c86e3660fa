import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { createOpenAiChatProvider } from "keelson/providers/openai-chat";
import { describe, expect, it } from "vitest";
import { checkProviders, type ProviderCheck } from "./check-providers.ts";
import { withCheck } from "./doctor.ts";

const KEY = "0123456789abcdef-this-is-a-key";

async function checkOf(handler: RequestListener, limitMs?: number): Promise<ProviderCheck | undefined> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    handler(request, response);
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  try {
    const checks = await checkProviders({ openai: createOpenAiChatProvider({ apiKey: KEY, baseUrl }) }, limitMs);
    expect(seen).toEqual(["GET /v1/models"]);
    return checks.get("openai");
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
    const check = await checkOf(json(200, { data: [{ id: "a" }, { id: "b" }] }));
    expect(withCheck(found, check)).toEqual({ ...found, detail: "OPENAI_API_KEY is set; it responds, with 2 models" });
  });

  it("is broken by its key when that is refused, and the key is not told", async () => {
    const check = await checkOf(json(401, { error: { message: `Incorrect API key provided: ${KEY}` } }));
    expect(check).toMatchObject({ type: "refused" });
    const { state, detail } = withCheck(found, check);
    expect([state, detail]).toEqual(["broken", expect.stringContaining("it is refused: Incorrect API key provided: [redacted]")]);
  });

  it("is broken by its server when that fails, hangs, says nonsense or is not there", async () => {
    expect(withCheck(found, await checkOf(json(500, { error: "down" })))).toMatchObject({
      state: "broken",
      detail: expect.stringContaining("the server can't be used"),
    });
    expect(await checkOf(() => {}, 50)).toEqual({ type: "unreachable", reason: "no response within 0.05 s" });
    expect(await checkOf((_request, response) => response.end("<html>a login page</html>"))).toMatchObject({ type: "unreachable" });
    const nowhere = createOpenAiChatProvider({ apiKey: KEY, baseUrl: "http://127.0.0.1:9/v1" });
    expect((await checkProviders({ openai: nowhere })).get("openai")).toMatchObject({
      type: "unreachable",
      reason: expect.stringContaining("127.0.0.1:9"),
    });
  });

  it("is left untried where it has no such list", async () => {
    const check = await checkOf(json(404, { error: "no such page" }));
    expect(withCheck(found, check)).toEqual({ ...found, detail: "OPENAI_API_KEY is set; not tried, as it has no list of models" });
    expect(withCheck({ ...found, state: "missing" }, undefined)).toEqual({ ...found, state: "missing" });
  });
});
