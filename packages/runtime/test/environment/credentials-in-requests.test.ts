import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createAgent, createRunner, defineTool } from "keelson";
import { createOpenAiChatProvider } from "keelson/providers/openai-chat";
import { createClientCredentials } from "keelson/secrets";
import { scriptedModel } from "keelson/testing";
import { afterEach, beforeEach, expect, it } from "vitest";

let url: string;
let issued: number;
let letIn: (string | undefined)[];
const server = createServer((request, response) => void respond(request, response));
beforeEach(async () => {
  [issued, letIn] = [0, []];
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  server.closeAllConnections();
  return new Promise<void>((resolve) => void server.close(() => resolve()));
});

/** A token server, a server of a model, and one of a tool. */
function respond(request: IncomingMessage, response: ServerResponse): void {
  request.resume();
  const send = (status: number, body: object): void =>
    void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  if (request.url === "/token") return send(200, { access_token: `access-${++issued}`, token_type: "Bearer", expires_in: 3600 });
  letIn.push(request.headers.authorization);
  // The first token does not hold any more, whatever its issuer said.
  if (request.headers.authorization === "Bearer access-1") return send(401, { error: { message: "expired" } });
  return send(200, {
    id: "1",
    model: "m",
    choices: [{ index: 0, message: { role: "assistant", content: "served" }, finish_reason: "stop" }],
  });
}

const credentialsOf = () => createClientCredentials({ tokenUrl: `${url}/token`, clientId: "keelson", clientSecret: "secret" });

it("credentials let the requests of a provider in: each asks for the token that holds now", async () => {
  const credentials = credentialsOf();
  const model = createOpenAiChatProvider({ apiKey: () => credentials.token(), baseUrl: url, defaultModel: "m" });
  const ask = () => createRunner({ agent: createAgent({ name: "a", model, settings: {} }) }).run("go").outcome;
  expect((await ask()).reason).toBe("error");
  credentials.refused("access-1");
  expect((await ask()).error?.message ?? "").not.toContain("access-");
  expect(letIn).toEqual(["Bearer access-1", "Bearer access-2"]);
});

it("credentials let the requests of a tool in, which says so when its token was refused, and the model sees none", async () => {
  const credentials = credentialsOf();
  const look = defineTool({
    name: "look",
    description: "Looks at a server.",
    effect: "read",
    input: { type: "object" },
    async execute(_input, { signal }) {
      const ask = async () => fetch(`${url}/items`, { headers: { ...(await credentials.headers({ signal })) }, signal });
      const token = await credentials.token({ signal });
      let response = await ask();
      if (response.status === 401) {
        credentials.refused(token);
        response = await ask();
      }
      return `status ${response.status}`;
    },
  });
  const model = scriptedModel([{ toolCalls: [{ name: "look" }] }, "done"]);
  await createRunner({ agent: createAgent({ name: "a", model, tools: [look] }) }).run("go").outcome;
  expect(letIn).toEqual(["Bearer access-1", "Bearer access-2"]);
  expect(JSON.stringify(model.requests)).toContain("status 200");
  expect(JSON.stringify(model.requests)).not.toContain("access-");
});
