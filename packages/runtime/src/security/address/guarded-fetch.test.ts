import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ResolveHost } from "../../transport/resolve-public.ts";
import { AddressRefused, guardedLookup } from "./guarded-lookup.ts";
import { createGuardedFetch } from "./guarded-fetch.ts";

let server: Server;
let port: number;
const seen: { url: string; headers: IncomingMessage["headers"]; method: string; body: string }[] = [];

beforeAll(async () => {
  server = createServer((incoming, response) => void answer(incoming, response));
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => void (server.closeAllConnections(), server.close()));

async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = "";
  for await (const chunk of incoming) body += String(chunk);
  const { pathname, searchParams } = new URL(incoming.url ?? "", "http://x");
  seen.push({ url: incoming.url ?? "", headers: incoming.headers, method: incoming.method ?? "", body });
  if (pathname === "/go")
    return void response.writeHead(Number(searchParams.get("status") ?? 302), { location: searchParams.get("to") ?? "" }).end();
  if (pathname === "/gzip") return void response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync("unpacked"));
  if (pathname === "/bomb") return void response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(Buffer.alloc(5_000_000)));
  if (pathname === "/none") return void response.writeHead(204).end();
  response.writeHead(200, { "set-cookie": ["a=1", "b=2"] }).end(`hello ${incoming.method} ${body}`);
}

const inside = ["public.test"];
/** Names of a small internet of which this machine is a part. */
const resolve: ResolveHost = async (host) => {
  const addresses: { readonly [host: string]: readonly string[] } = {
    "public.test": ["127.0.0.1"],
    "other.test": ["127.0.0.1"],
    "rebind.test": ["93.184.215.14", "127.0.0.1"],
    "metadata.test": ["169.254.169.254"],
  };
  return (addresses[host] ?? []).map((address) => ({ address, family: 4 }));
};
const fetching = createGuardedFetch({ resolve, inside });

async function refusal(work: Promise<Response>): Promise<string> {
  const error: unknown = await work.then(
    (response) => expect.fail(`it answered ${response.status}`),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(TypeError);
  expect((error as Error).cause, String(error)).toBeInstanceOf(AddressRefused);
  return ((error as Error).cause as Error).message;
}

describe("a guarded fetch", () => {
  it("refuses this machine, its network and its cloud in every spelling, and sends them nothing", async () => {
    const before = seen.length;
    const guarded = createGuardedFetch();
    for (const host of [
      "localhost",
      "LOCALHOST",
      "127.0.0.1",
      "127.1",
      "2130706433",
      "0x7f000001",
      "0177.0.0.1",
      "127.0.0.1.",
      "127。0。0。1",
      "0",
      "0.0.0.0",
      "[::1]",
      "[::]",
      "[::ffff:127.0.0.1]",
      "[::ffff:7f00:1]",
      "[64:ff9b::7f00:1]",
      "[0:0:0:0:0:0:0:1]",
      "10.0.0.1",
      "172.16.0.1",
      "192.168.0.1",
      "169.254.169.254",
      "[fd00:ec2::254]",
      "[fe80::1]",
      "224.0.0.1",
    ])
      await refusal(guarded(`http://${host}:${port}/`));
    expect(seen.length).toBe(before);
  });

  it("refuses what is no web address, and users and passwords in one", async () => {
    for (const address of [
      "file:///etc/passwd",
      "ftp://public.test/",
      "data:text/plain,x",
      "gopher://public.test/",
      "http://u:p@public.test/",
    ])
      await refusal(fetching(address));
  });

  it("resolves a name once and connects to what it judged", async () => {
    const asked: string[] = [];
    // A second answer would lead elsewhere.
    const rebinding: ResolveHost = async (host) => {
      asked.push(host);
      return [{ address: asked.length === 1 ? "127.0.0.1" : "127.0.0.99", family: 4 }];
    };
    const response = await createGuardedFetch({ resolve: rebinding, inside: ["127.0.0.1"] })(`http://rebind.test:${port}/`);
    expect([response.status, asked]).toEqual([200, ["rebind.test"]]);
    expect(await refusal(createGuardedFetch({ resolve })(`http://rebind.test:${port}/`))).toContain("127.0.0.1");
  });

  it("judges each redirect", async () => {
    const go = (to: string) => fetching(`http://public.test:${port}/go?to=${encodeURIComponent(to)}`);
    for (const to of [
      "http://metadata.test/",
      "http://169.254.169.254/",
      "http://[::1]/",
      "//10.0.0.1/",
      "file:///etc/passwd",
      `http://other.test:${port}/`,
    ])
      await refusal(go(to));
    const response = await go("/there");
    expect([response.status, response.redirected, response.url]).toEqual([200, true, `http://public.test:${port}/there`]);
    await expect(go(`/go?to=${encodeURIComponent("/go?to=x")}`).then((end) => end.status)).resolves.toBe(200);
    const endless = createGuardedFetch({ resolve, inside, maxRedirects: 3 })(`http://public.test:${port}/go?to=${encodeURIComponent("")}`);
    await expect(endless).rejects.toThrow(/more than 3 redirects/);
    const manual = await fetching(`http://public.test:${port}/go?to=%2Fx`, { redirect: "manual" });
    expect([manual.status, manual.headers.get("location")]).toEqual([302, "/x"]);
    await expect(fetching(`http://public.test:${port}/go?to=%2Fx`, { redirect: "error" })).rejects.toThrow(TypeError);
  });

  it("tells another origin no credentials, and posts again only where that was asked for", async () => {
    const both = createGuardedFetch({ resolve, inside: ["public.test", "other.test"] });
    const post = async (status: number, to: string) => {
      seen.length = 0;
      const headers = { "authorization": "Bearer x", "cookie": "a=1", "x-kept": "1", "content-type": "text/plain" };
      await both(`http://public.test:${port}/go?status=${status}&to=${encodeURIComponent(to)}`, { method: "POST", body: "hi", headers });
      return seen[1];
    };
    const elsewhere = await post(307, `http://other.test:${port}/x`);
    expect(elsewhere).toMatchObject({ method: "POST", body: "hi", headers: { "x-kept": "1", "host": `other.test:${port}` } });
    expect(elsewhere?.headers).not.toHaveProperty("authorization");
    expect(elsewhere?.headers).not.toHaveProperty("cookie");
    const same = await post(302, "/x");
    expect(same).toMatchObject({ method: "GET", body: "", headers: { authorization: "Bearer x" } });
    expect(same?.headers).not.toHaveProperty("content-type");
  });

  it("fetches from listed hosts and ports alone, where there are lists", async () => {
    const listed = createGuardedFetch({ resolve, inside: ["public.test", "other.test"], hosts: ["*.test"], ports: [port] });
    expect((await listed(`http://public.test:${port}/`)).status).toBe(200);
    expect((await listed(`http://other.test.:${port}/`).catch((error: unknown) => error)) instanceof Error).toBe(true);
    for (const address of ["http://example.com/", "http://test/", "http://eviltest/", `http://public.test:${port + 1}/`])
      await refusal(listed(address));
  });

  it("is a fetch otherwise: headers, unpacked bodies within their bound, no body where there is none", async () => {
    const response = await fetching(`http://public.test:${port}/`, { method: "PUT", body: new TextEncoder().encode("bytes") });
    expect([await response.text(), response.headers.getSetCookie(), response.ok]).toEqual(["hello PUT bytes", ["a=1", "b=2"], true]);
    expect(await (await fetching(`http://public.test:${port}/gzip`)).text()).toBe("unpacked");
    expect(await (await fetching(`http://public.test:${port}/none`)).text()).toBe("");
    const small = createGuardedFetch({ resolve, inside, maxBytes: 1_000_000 });
    await expect(small(`http://public.test:${port}/bomb`).then((bomb) => bomb.arrayBuffer())).rejects.toThrow();
    await expect(fetching(`http://public.test:${port}/`, { signal: AbortSignal.abort() })).rejects.toThrow(/abort/i);
  });
});

describe("a guarded lookup", () => {
  it("keeps clients of one's own from addresses that aren't public", async () => {
    const connect = (host: string, lookup = guardedLookup({ resolve })) =>
      new Promise(
        (done) =>
          void request({ host, port, lookup, agent: false }, (response) => (response.resume(), done(response.statusCode)))
            .on("error", done)
            .end(),
      );
    expect(await connect("rebind.test")).toBeInstanceOf(AddressRefused);
    expect(await connect("nowhere.test")).toBeInstanceOf(AddressRefused);
    expect(await connect("public.test", guardedLookup({ resolve, mayUse: () => true }))).toBe(200);
  });
});
