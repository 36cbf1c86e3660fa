import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { once } from "node:events";
import type { JsonObject } from "@keelson/protocol";
import { parseJson } from "../json/index.ts";
import { sendTurn } from "./model-server/send-turn.ts";
import { modelListing, SERVER_WIRES, serverRoute } from "./model-server/server-route.ts";
import { signersIn } from "./model-server/server-signature.ts";
import type { ServerRequest, ServerTurn } from "./model-server/server-turn.ts";
import { validateRequest } from "./request-validation/validate-request.ts";
import { checkOptionNames } from "../json/option-names.ts";

export type { Misbehaviour, ServerRequest, ServerToolCall, ServerTurn } from "./model-server/server-turn.ts";

/** The turns in order, or a function that responds to each request from what it asks. */
export type ServerScript =
  | readonly (ServerTurn | ((request: ServerRequest) => ServerTurn | Promise<ServerTurn>))[]
  | ((request: ServerRequest) => ServerTurn | Promise<ServerTurn>);

export interface ModelServerOptions {
  /** Default: one that is free. */
  readonly port?: number | undefined;
  /** Offered under `/v1/models`, `/v1beta/models` and `/api/tags`. */
  readonly models?: readonly string[] | undefined;
  /** Refuse, as the vendors do, what their APIs would not take. Default true. */
  readonly validate?: boolean | undefined;
}

export interface ModelServer extends AsyncDisposable {
  /** For `baseUrl` of the Anthropic, Gemini and Ollama providers. */
  readonly url: string;
  /** For `baseUrl` of the OpenAI providers, and of those that are compatible. */
  readonly openAiUrl: string;
  /** Every request for a response so far. */
  readonly requests: readonly ServerRequest[];
  /** What was wrong with requests that were refused, one line for each. */
  readonly refused: readonly string[];
  /** How many connections are open now. */
  readonly connections: number;
  /** How many responses the client left before their end. */
  readonly abandoned: number;
  /** Resolves when no connection is open any more. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

/**
 * A model server on the loopback interface that speaks from a script, streaming and not: Anthropic's Messages, OpenAI's Chat
 * Completions and Responses, Gemini's `generateContent` and `streamGenerateContent`, and Ollama's chat, each under its own path.
 * It can misbehave in every way a real one does. A request that the vendor would refuse, or that is past the end of the script,
 * gets status 400 and a message that says why.
 */
export async function startModelServer(script: ServerScript, options: ModelServerOptions = {}): Promise<ModelServer> {
  checkOptionNames("startModelServer", options, { port: true, models: true, validate: true });
  const { createServer } = process.getBuiltinModule("node:http");
  const requests: ServerRequest[] = [];
  const refused: string[] = [];
  const sockets = new Set<Socket>();
  const waiting: (() => void)[] = [];
  let abandoned = 0;

  const server = createServer((request, response) => {
    response.on("error", () => undefined);
    response.on("close", () => {
      if (!response.writableFinished) abandoned += 1;
    });
    serve(request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else reply(response, 500, { error: { type: "server_error", message: `the model server failed: ${String(error)}` } });
    });
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => {
      sockets.delete(socket);
      if (sockets.size === 0) for (const resolve of waiting.splice(0)) resolve();
    });
  });

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "http://localhost");
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const listing = request.method === "GET" ? modelListing(url.pathname, options.models ?? []) : undefined;
    if (listing !== undefined) {
      reply(response, 200, listing);
      return;
    }
    const route = serverRoute(url);
    if (route === undefined) {
      reply(response, 404, { error: { type: "not_found_error", message: `the model server has no ${url.pathname}` } });
      return;
    }
    const { wire } = route;
    const body = parseJson(Buffer.concat(chunks).toString("utf8")) as JsonObject;
    const form = route.stream(body);
    const asked: ServerRequest = {
      index: requests.length,
      wire,
      path: url.pathname,
      model: route.model(body),
      headers: Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)])),
      body,
      streamed: form !== undefined,
    };
    requests.push(asked);
    const refuse = (message: string): void => reply(response, 400, SERVER_WIRES[wire].error({ message }, 400, `req_${asked.index}`));
    const problems = options.validate === false ? [] : problemsOf(asked);
    if (problems.length > 0) {
      refused.push(`request ${asked.index + 1} (${wire}): ${problems.join("; ")}`);
      refuse(problems.join("; "));
      return;
    }
    const entry = typeof script === "function" ? script : script[asked.index];
    if (entry === undefined) {
      refuse(`the script of the model server has ${script.length} turns, and this is request ${asked.index + 1}`);
      return;
    }
    await sendTurn(typeof entry === "function" ? await entry(asked) : entry, asked, form, response);
  }

  server.listen(options.port ?? 0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = once(server, "close");
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  return {
    url,
    openAiUrl: `${url}/v1`,
    requests,
    refused,
    get connections() {
      return sockets.size;
    },
    get abandoned() {
      return abandoned;
    },
    idle: () => (sockets.size === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** What the vendor would refuse; signatures that another vendor gave are none to him. */
function problemsOf({ wire, model, body }: ServerRequest): readonly string[] {
  const problems = validateRequest(wire, body, { model }).map(({ path, message }) => (path === "" ? message : `${path}: ${message}`));
  for (const signer of signersIn(body)) if (signer !== wire) problems.push(`a signature of ${signer} is not valid here`);
  return problems;
}

function reply(response: ServerResponse, status: number, body: JsonObject): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}
