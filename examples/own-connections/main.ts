// A model server that only its own agent reaches: over a socket of Unix, under a name that no name server knows, with every request
// counted where Node tells of it. What arrived is checked.
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAgent, createRunner } from "keelson";
import { createModelRegistry } from "keelson/providers";
import { startModelServer } from "keelson/testing";

await using server = await startModelServer([{ text: "I am at hand." }, { text: "So am I." }]);
const port = Number(new URL(server.url).port);

// Stands for a server on this machine that listens on a socket of Unix, as proxies of containers do.
const folder = await mkdtemp(join(tmpdir(), "keelson-socket-"));
const path = process.platform === "win32" ? "\\\\.\\pipe\\keelson-model" : join(folder, "model.sock");
const socketServer = createServer((socket) => socket.pipe(connect(port, "127.0.0.1")).pipe(socket)).listen(path);
await once(socketServer, "listening");

// #region agent
import { Agent } from "node:http";
import { createOpenAiChatProvider } from "keelson/providers/openai-chat";

const socket = { keepAlive: true, socketPath: path }; // an option of the agent, of which its types say nothing
const local = createOpenAiChatProvider({ name: "local", apiKey: "none", baseUrl: "http://localhost/v1", agent: new Agent(socket) });

const inside = new Agent({
  keepAlive: true,
  lookup: (_hostname, options, found) =>
    options.all === true ? found(null, [{ address: "127.0.0.1", family: 4 }]) : found(null, "127.0.0.1", 4),
});
const named = createOpenAiChatProvider({ name: "named", apiKey: "none", baseUrl: `http://models.internal:${port}/v1`, agent: inside });
// #endregion

const requests: string[] = [];
// #region watch
import { subscribe } from "node:diagnostics_channel";
import type { ClientRequest, IncomingMessage } from "node:http";

subscribe("http.client.response.finish", (message) => {
  const { request, response } = message as { request: ClientRequest; response: IncomingMessage };
  requests.push(`${request.method} ${request.host}${request.path} ${response.statusCode}`);
});
// #endregion

const models = createModelRegistry({ providers: { local, named } });
for (const model of ["local/m", "named/m"]) {
  const agent = createAgent({ name: "caller", model });
  const { text } = await createRunner({ agent, models }).run("Are you there?").outcome;
  console.log(`${model}: ${text}`);
}
assert.deepEqual(requests, ["POST localhost/v1/chat/completions 200", "POST models.internal/v1/chat/completions 200"]);
socketServer.close();
await rm(folder, { recursive: true });
