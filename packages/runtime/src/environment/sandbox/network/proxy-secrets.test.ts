import { createServer as createHttpServer, type IncomingHttpHeaders, request as httpRequest } from "node:http";
import { connect, createServer, type AddressInfo, type Server } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createPlaceholderSecrets, type EdgeSecret } from "../../secrets/placeholder-secrets.ts";
import { createFilteringProxy, type FilteringProxy, type NetworkDecision } from "./filtering-proxy.ts";

const VALUE = "s3cret-value-of-the-service";
let target: Server;
let received: IncomingHttpHeaders[];
let decisions: NetworkDecision[];
const opened: (Server | FilteringProxy)[] = [];
beforeEach(async () => {
  [received, decisions] = [[], []];
  target = await listening(createHttpServer((request, response) => (received.push(request.headers), response.end("served"))));
});
afterEach(() => {
  for (const one of opened.splice(0)) one.close();
});

async function listening<S extends Server>(server: S): Promise<S> {
  opened.push(server);
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return server;
}
const portOf = (server: Server): number => (server.address() as AddressInfo).port;

/** A proxy in front of a server that stands for every host, and what commands find in their environment. */
async function world(allow: Partial<EdgeSecret> = {}) {
  let resolved = 0;
  const secrets = createPlaceholderSecrets({
    secrets: { resolve: async () => (resolved++, VALUE) },
    allow: [{ variable: "TOKEN", reference: "env:TOKEN", hosts: ["api.example.com"], allowPlainHttp: true, ...allow }],
  });
  const proxy = createFilteringProxy(
    { enabled: true, allowedDomains: ["api.example.com", "other.example.com"] },
    {
      secrets,
      resolve: async () => ["93.184.215.14"],
      dial: () => connect(portOf(target), "127.0.0.1"),
      onDecision: (decision) => void decisions.push(decision),
    },
  );
  opened.push(proxy);
  const entrance = await listening(createServer((socket) => proxy.accept(socket)));
  const ask = async (url: string, headers: { readonly [name: string]: string }) => {
    const { promise, resolve, reject } = Promise.withResolvers<{ readonly status: number; readonly text: string }>();
    const request = httpRequest(
      { host: "127.0.0.1", port: portOf(entrance), path: url, headers: { host: new URL(url).host, ...headers } },
      (response) => {
        let text = "";
        response
          .setEncoding("utf8")
          .on("data", (piece: string) => void (text += piece))
          .on("end", () => resolve({ status: response.statusCode ?? 0, text }));
      },
    );
    request.on("error", reject).end();
    return promise;
  };
  return { ask, token: secrets.env["TOKEN"] ?? "", resolutions: () => resolved };
}

describe("placeholders of secrets in requests of a sandbox", () => {
  it("arrive as values at the host that they are for, alone, in Bearer and in Basic credentials", async () => {
    const { ask, token } = await world();
    expect(token).not.toContain(VALUE);
    expect(await ask("http://api.example.com/items", { "authorization": `Bearer ${token}`, "x-other": "kept" })).toEqual({
      status: 200,
      text: "served",
    });
    await ask("http://api.example.com/items", { authorization: `Basic ${btoa(`user:${token}`)}` });
    expect(received.map(({ authorization }) => authorization)).toEqual([`Bearer ${VALUE}`, `Basic ${btoa(`user:${VALUE}`)}`]);
    expect(received[0]).toMatchObject({ "host": "api.example.com", "x-other": "kept" });
  });

  it("stop a request to another host that may be reached, and nothing is resolved or sent", async () => {
    const { ask, token, resolutions } = await world();
    const { status, text } = await ask("http://other.example.com/", { "x-key": token });
    expect([status, text]).toEqual([
      403,
      "Refused by the sandbox: The secret env:TOKEN was not sent to other.example.com: it is for api.example.com alone.\n",
    ]);
    expect([received, resolutions()]).toEqual([[], 0]);
    expect(decisions).toMatchObject([
      { host: "other.example.com", port: 80, refused: expect.stringContaining("it is for api.example.com alone") },
    ]);
  });

  it("stop a request over plain HTTP, unless the secret may be read on its way", async () => {
    const { ask, token } = await world({ allowPlainHttp: false });
    const { status, text } = await ask("http://api.example.com/", { authorization: `Bearer ${token}` });
    expect([status, text]).toEqual([403, expect.stringMatching(/plain HTTP can be read on its way\. Use HTTPS, or allowPlainHttp\./)]);
    expect(received).toEqual([]);
  });

  it("are asked for by nobody where the policy refuses the host, whatever the secret is for", async () => {
    const { ask, token, resolutions } = await world({ hosts: ["elsewhere.example.com"] });
    expect(await ask("http://elsewhere.example.com/", { authorization: `Bearer ${token}` })).toMatchObject({ status: 403 });
    expect([received, resolutions()]).toEqual([[], 0]);
  });

  it("leave requests without one as they are", async () => {
    const { ask, resolutions } = await world();
    await ask("http://other.example.com/", { authorization: "Bearer mine" });
    expect([received[0]?.authorization, resolutions()]).toEqual(["Bearer mine", 0]);
  });
});
