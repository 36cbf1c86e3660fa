import { once } from "node:events";
import { connect } from "node:http2";
import { createConnection } from "node:net";
import { createAgent, createRunner } from "keelson";
import { scriptedModel } from "keelson/testing";
import { describe, expect, it } from "vitest";
import { serveRestate } from "./serve-restate.ts";

const runner = createRunner({ agent: createAgent({ name: "a", model: scriptedModel([]) }) });

/** What an endpoint answers to whoever asks what it serves. */
async function discover(url: string): Promise<{ readonly status: number; readonly body: string }> {
  const client = connect(url);
  try {
    const request = client.request({ ":path": "/discover", "accept": "application/vnd.restate.endpointmanifest.v4+json" });
    const status = new Promise<number>((resolve, reject) => {
      request.once("response", (headers) => resolve(Number(headers[":status"])));
      request.once("error", reject);
    });
    request.setEncoding("utf8").end();
    let body = "";
    for await (const chunk of request) body += String(chunk);
    return { status: await status, body };
  } finally {
    client.close();
  }
}

describe("an endpoint for Restate", () => {
  it("serves sessions as objects and what is asked of runs as a service, at a loopback address, with policies of its own", async () => {
    await using endpoint = await serveRestate(runner, { port: 0, name: "orders", turnTimeoutMs: 60_000, logger: () => {} });
    expect(endpoint.url).toBe(`http://127.0.0.1:${endpoint.port}`);
    const { status, body } = await discover(endpoint.url);
    expect(status).toBe(200);
    const { services } = JSON.parse(body) as { readonly services: readonly Record<string, unknown>[] };
    expect(services.map(({ name, ty }) => [name, ty])).toEqual([
      ["orders-session", "VIRTUAL_OBJECT"],
      ["orders", "SERVICE"],
    ]);
    expect(services[0]).toMatchObject({
      inactivityTimeout: 2000,
      abortTimeout: 60_000,
      journalRetention: 3_600_000,
      retryPolicyInitialInterval: 100,
      retryPolicyMaxInterval: 5000,
      retryPolicyMaxAttempts: 50,
      retryPolicyOnMaxAttempts: "PAUSE",
    });
    expect(services[1]).toMatchObject({ retryPolicyOnMaxAttempts: "KILL" });
  });

  it("answers nobody whose requests the keys do not vouch for", async () => {
    const identityKeys = ["publickeyv1_w7YHemBctH5Ck2nQRQ47iBBqhNHy4FV7t2Usbye2A6f"];
    await using endpoint = await serveRestate(runner, { port: 0, identityKeys, logger: () => {} });
    expect((await discover(endpoint.url)).status).toBe(401);
  });

  it("refuses a port that is taken, and options that it does not have", async () => {
    await using endpoint = await serveRestate(runner, { port: 0, logger: () => {} });
    await expect(serveRestate(runner, { port: endpoint.port, logger: () => {} })).rejects.toMatchObject({ code: "EADDRINUSE" });
    await expect(serveRestate(runner, { prot: 1 } as never)).rejects.toThrow('no option "prot"');
  });

  it("closes once, also while somebody is connected who asks nothing", async () => {
    const endpoint = await serveRestate(runner, { port: 0, logger: () => {} });
    const client = connect(endpoint.url);
    await new Promise<void>((resolve) => client.once("connect", () => resolve()));
    await Promise.all([endpoint.close(), endpoint.close()]);
    client.destroy();
    const [refused] = await once(createConnection({ port: endpoint.port, host: "127.0.0.1" }), "error");
    expect(refused).toMatchObject({ code: "ECONNREFUSED" });
  });
});
