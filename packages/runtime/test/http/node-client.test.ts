import { execFile, execFileSync } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { Agent, type ClientRequest, createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { Agent as TlsAgent, createServer as createTlsServer } from "node:https";
import type { AddressInfo, LookupFunction, Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { ModelError } from "@keelson/protocol";
import { delay, http, HttpResponse } from "msw";
import { setupServer } from "msw/node";
import nock from "nock";
import { afterEach, describe, expect, it } from "vitest";
import { createOpenAiChatProvider } from "../../src/providers/openai-chat.ts";
import { infer, textOf } from "../../src/providers/infer.ts";
import type { ProviderOptions } from "../../src/providers/provider-options.ts";
import type { FetchLike } from "../../src/transport/index.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const SAID = `data: ${JSON.stringify({ model: "m", choices: [{ index: 0, delta: { content: "hello" }, finish_reason: "stop" }] })}\n\ndata: [DONE]\n\n`;
const VENDOR = "https://api.openai.com";
const PATH = "/v1/chat/completions";

async function ask(options: ProviderOptions, signal?: AbortSignal): Promise<string> {
  const provider = createOpenAiChatProvider({ apiKey: "k", ...options });
  const request = { model: "m", messages: [{ role: "user" as const, content: [{ type: "text" as const, text: "hi" }] }] };
  return textOf(await infer(provider, request, { ...(signal !== undefined && { signal }) }));
}

async function failureOf(asking: Promise<unknown>): Promise<ModelError["failure"]> {
  const error = await asking.catch((cause: unknown) => cause);
  if (!ModelError.is(error)) throw new Error("expected a ModelError", { cause: error });
  return error.failure;
}

const respond: RequestListener = (request, response) => {
  request.resume();
  response.writeHead(200, { "content-type": "text/event-stream" }).end(SAID);
};

async function listening(server: Server, where: string | undefined = undefined): Promise<number> {
  if (where === undefined) server.listen(0, "127.0.0.1");
  else server.listen(where);
  await once(server, "listening");
  cleanups.push(() => server.close());
  return where === undefined ? (server.address() as AddressInfo).port : 0;
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "keelson-http-"));
  cleanups.push(() => rmSync(path, { recursive: true }));
  return path;
}

/** For localhost, signed by itself. */
function certificate(path: string): { readonly key: Buffer; readonly cert: Buffer } {
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
  const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  const files = ["-keyout", join(path, "key"), "-out", join(path, "cert")];
  execFileSync("openssl", ["req", "-x509", ...kind, ...subject, ...files], { stdio: "ignore" });
  return { key: readFileSync(join(path, "key")), cert: readFileSync(join(path, "cert")) };
}

const openssl = ((): boolean => {
  try {
    execFileSync("openssl", ["version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();

describe("those who watch or intercept Node's client see a model call", () => {
  it("on its diagnostics channels, with request and response", async () => {
    const seen: string[] = [];
    const started = (message: unknown): void => {
      const { request } = message as { request: ClientRequest };
      seen.push(`start ${request.method} ${request.getHeader("host")} ${request.path}`);
    };
    const finished = (message: unknown): void => {
      const { request, response } = message as { request: ClientRequest; response: IncomingMessage };
      seen.push(`finish ${request.path} ${response.statusCode}`);
    };
    subscribe("http.client.request.start", started);
    subscribe("http.client.response.finish", finished);
    cleanups.push(
      () => unsubscribe("http.client.request.start", started),
      () => unsubscribe("http.client.response.finish", finished),
    );
    const port = await listening(createServer(respond));
    expect(await ask({ baseUrl: `http://127.0.0.1:${port}/v1`, proxyEnvironment: false })).toBe("hello");
    expect(seen).toEqual([`start POST 127.0.0.1:${port} ${PATH}`, `finish ${PATH} 200`]);
  });

  it("with nock: responses, refusals by status, connections that fail, and what nobody intercepts", async () => {
    cleanups.push(
      () => nock.cleanAll(),
      () => nock.enableNetConnect(),
      () => nock.restore(),
    );
    if (!nock.isActive()) nock.activate();
    nock.disableNetConnect();
    const bodies: unknown[] = [];
    const vendor = nock(VENDOR, { reqheaders: { authorization: "Bearer k" } });
    vendor.post(PATH, (body: unknown) => bodies.push(body) > 0).reply(200, SAID, { "content-type": "text/event-stream" });
    vendor.post(PATH).reply(429, { error: { message: "slow down" } }, { "retry-after": "7" });
    vendor.post(PATH).replyWithError(Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" }));
    expect(await ask({ proxyEnvironment: false })).toBe("hello");
    expect(bodies).toEqual([expect.objectContaining({ model: "m", stream: true })]);
    expect(await failureOf(ask({ proxyEnvironment: false }))).toMatchObject({ kind: "rate-limit", retryAfterMs: 7000 });
    expect(await failureOf(ask({ proxyEnvironment: false }))).toMatchObject({ kind: "server-error", code: "ECONNREFUSED" });
    expect(nock.isDone()).toBe(true);
    expect((await failureOf(ask({ proxyEnvironment: false }))).message).toContain("api.openai.com");
  });

  it("with msw: responses that stream, errors of the network, and calls that are cancelled", async () => {
    const server = setupServer();
    server.listen({ onUnhandledFrame: "error" });
    cleanups.push(() => server.close());
    const pieces = [SAID.slice(0, 20), SAID.slice(20, 70), SAID.slice(70)];
    const arrived = Promise.withResolvers<void>();
    server.use(
      http.post(`${VENDOR}${PATH}`, () => HttpResponse.error(), { once: true }),
      http.post(
        `${VENDOR}${PATH}`,
        async ({ request }) => {
          expect(await request.json()).toMatchObject({ model: "m", stream: true });
          const body = ReadableStream.from(pieces.map((piece) => new TextEncoder().encode(piece)));
          return new HttpResponse(body, { headers: { "content-type": "text/event-stream" } });
        },
        { once: true },
      ),
      http.post(`${VENDOR}${PATH}`, async () => {
        arrived.resolve();
        await delay("infinite");
        return HttpResponse.error();
      }),
    );
    expect(await failureOf(ask({ proxyEnvironment: false }))).toMatchObject({ kind: "server-error" });
    expect(await ask({ proxyEnvironment: false })).toBe("hello");
    const controller = new AbortController();
    const waiting = failureOf(ask({ proxyEnvironment: false }, controller.signal));
    await arrived.promise;
    controller.abort();
    expect((await waiting).kind).toBe("cancelled");
  });
});

describe("an agent of one's own", () => {
  it("carries calls over the connections that it keeps, of all whom it was given to", async () => {
    let connections = 0;
    const server = createServer(respond);
    server.on("connection", () => (connections += 1));
    const port = await listening(server);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    cleanups.push(() => agent.destroy());
    // Two providers share it.
    for (const name of ["one", "two"]) expect(await ask({ name, agent, baseUrl: `http://127.0.0.1:${port}/v1` })).toBe("hello");
    expect(connections).toBe(1);
  });

  it("looks names up, and connects from an address, as it was told", async () => {
    const from: (string | undefined)[] = [];
    const asked: (string | undefined)[] = [];
    const port = await listening(
      createServer((request, response: ServerResponse) => {
        from.push(request.socket.remoteAddress);
        asked.push(request.headers.host);
        respond(request, response as never);
      }),
    );
    const lookup: LookupFunction = (_hostname, options, done) =>
      options.all === true ? done(null, [{ address: "127.0.0.1", family: 4 }]) : done(null, "127.0.0.1", 4);
    // Every address of the loopback network is this machine's own on Linux alone.
    const localAddress = process.platform === "linux" ? "127.0.0.7" : "127.0.0.1";
    const agent = new Agent({ lookup, localAddress });
    cleanups.push(() => agent.destroy());
    expect(await ask({ agent, baseUrl: `http://models.internal:${port}/v1` })).toBe("hello");
    expect([asked, from]).toEqual([[`models.internal:${port}`], [localAddress]]);
  });

  it.skipIf(process.platform === "win32")("speaks to a socket of Unix (skipped on Windows)", async () => {
    const socketPath = join(folder(), "model.sock");
    await listening(createServer(respond), socketPath);
    // Node knows this option, its types do not.
    const options = { keepAlive: true, socketPath };
    const agent = new Agent(options);
    cleanups.push(() => agent.destroy());
    expect(await ask({ agent, baseUrl: "http://localhost/v1" })).toBe("hello");
  });

  it("goes before the proxies of the environment, of which it may have its own", async () => {
    const seen: (string | undefined)[] = [];
    const port = await listening(
      createServer((request, response) => {
        seen.push(request.url);
        respond(request, response);
      }),
    );
    const environment = { ...process.env };
    cleanups.push(() => (process.env = environment));
    process.env["HTTP_PROXY"] = "socks5://127.0.0.1:9";
    const direct = new Agent();
    expect(await ask({ agent: direct, baseUrl: `http://127.0.0.1:${port}/v1` })).toBe("hello");
    const proxied = new Agent({ proxyEnv: { http_proxy: `http://127.0.0.1:${port}` } });
    expect(await ask({ agent: proxied, baseUrl: "http://model.invalid/v1" })).toBe("hello");
    expect(seen).toEqual([PATH, `http://model.invalid${PATH}`]);
  });

  it.skipIf(!openssl)(
    "trusts the authorities that it was given, as do NODE_EXTRA_CA_CERTS and tls.ca (skipped where openssl is missing)",
    async () => {
      const path = folder();
      const made = certificate(path);
      const baseUrl = `https://localhost:${await listening(createTlsServer(made, respond))}/v1`;
      const agent = new TlsAgent({ ca: made.cert });
      cleanups.push(() => agent.destroy());
      expect(await ask({ agent, baseUrl })).toBe("hello");
      expect(await ask({ tls: { ca: made.cert }, proxyEnvironment: false, baseUrl })).toBe("hello");
      expect((await failureOf(ask({ proxyEnvironment: false, baseUrl }))).message).toContain("NODE_EXTRA_CA_CERTS");
      const program = `
      import { createOpenAiChatProvider } from "keelson/providers/openai-chat";
      import { infer, textOf } from "keelson/providers";
      const provider = createOpenAiChatProvider({ apiKey: "k", baseUrl: ${JSON.stringify(baseUrl)}, proxyEnvironment: false });
      console.log(textOf(await infer(provider, { model: "m", messages: [{ role: "user", content: [{ type: "text", text: "hi" }] }] })));`;
      const { stdout } = await promisify(execFile)(process.execPath, ["--conditions=source", "--input-type=module", "-e", program], {
        cwd: import.meta.dirname,
        env: { ...process.env, NODE_EXTRA_CA_CERTS: join(path, "cert") },
      });
      expect(stdout).toBe("hello\n");
    },
  );

  it("is told apart from what is none, and from options that would have no effect beside it", () => {
    const agent = new Agent();
    const fetch: FetchLike = () => Promise.reject(new Error("not asked"));
    const transport = { send: () => Promise.reject(new Error("not asked")), close: () => undefined };
    expect(() => createOpenAiChatProvider({ agent: { dispatch: () => true } as never })).toThrow("takes an Agent of node:http");
    expect(() => createOpenAiChatProvider({ agent: null as never })).toThrow("takes an Agent of node:http");
    for (const [name, beside] of Object.entries({ fetch, tls: {}, proxyEnvironment: false, transport }))
      expect(() => createOpenAiChatProvider({ agent, [name]: beside })).toThrow(`agent and ${name} were both given`);
    expect(() => createOpenAiChatProvider({ agent, tls: undefined, fetch: undefined })).not.toThrow();
  });

  it("of the other scheme is refused with the address that it can't serve", async () => {
    expect(await failureOf(ask({ agent: new Agent(), baseUrl: "https://localhost/v1" }))).toMatchObject({
      kind: "invalid-request",
      progress: "unsent",
      message: expect.stringContaining("localhost"),
    });
  });
});
