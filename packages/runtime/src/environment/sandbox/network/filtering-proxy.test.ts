import { once } from "node:events";
import { createServer as createHttpServer, type ServerResponse } from "node:http";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { connect as tlsConnect } from "node:tls";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import type { NetworkPolicyConfig } from "../sandbox-policy.ts";
import { createFilteringProxy, type NetworkDecision } from "./filtering-proxy.ts";
import type { ResolveHost } from "./resolve-host.ts";

const PUBLIC = "93.184.216.34";
const NAMES: { readonly [host: string]: readonly string[] } = {
  "allowed.test": [PUBLIC],
  "www.allowed.test": [PUBLIC],
  "denied.test": [PUBLIC],
  "allowed.test.evil.test": [PUBLIC],
  "rebinds.test": ["127.0.0.1"],
  "mixed.test": [PUBLIC, "10.0.0.7"],
  "metadata.test": ["169.254.169.254"],
  "mapped.test": ["::ffff:127.0.0.1"],
  "translated.test": ["64:ff9b::7f00:1"],
  "unique-local.test": ["fd00:ec2::254"],
  "link-local.test": ["fe80::1"],
  "alias.test": [PUBLIC],
  "long.test": ["2606:2800:0220:0001:0248:1893:25C8:1946"],
};

const running: Server[] = [];
afterAll(() => {
  for (const server of running) server.close();
});
async function listen(server: Server): Promise<number> {
  running.push(server);
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

interface Proxied {
  /** Sends the bytes, and again after each response of `then`; resolves with all that came back until the connection ended or `until` was seen. */
  say(text: string | Buffer, until?: RegExp): Promise<string>;
  readonly port: number;
  readonly dialled: string[];
  readonly decisions: NetworkDecision[];
}

let web: number;
let raw: number;
const received: string[] = [];
beforeAll(async () => {
  web = await listen(
    createHttpServer((request, response) => {
      received.push(`${request.method} ${request.url} ${JSON.stringify(request.headers)}`);
      let body = "";
      request.on("data", (chunk) => (body += String(chunk))).on("end", () => response.setHeader("x-from", "web").end(`web ${body}`));
    }),
  );
  raw = await listen(
    createServer((socket) => socket.on("error", () => socket.destroy()).on("data", (bytes) => socket.write(`raw ${bytes.length}`))),
  );
});

async function proxied(policy: Partial<NetworkPolicyConfig>): Promise<Proxied> {
  const dialled: string[] = [];
  const decisions: NetworkDecision[] = [];
  const proxy = createFilteringProxy(
    { enabled: true, ...policy },
    {
      resolve: async (host) => NAMES[host] ?? Promise.reject(new Error(`${host} is not known`)),
      dial(address, port) {
        dialled.push(`${address}:${port}`);
        return connect(port === 80 ? web : raw, "127.0.0.1");
      },
      onDecision: (decision) => decisions.push(decision),
    },
  );
  const port = await listen(createServer((socket) => proxy.accept(socket)));
  return {
    port,
    dialled,
    decisions,
    say: (text, until) =>
      new Promise((resolve, reject) => {
        let said = "";
        const socket: Socket = connect(port, "127.0.0.1", () => socket.write(text));
        socket.on("data", (bytes) => {
          said += bytes.toString("latin1");
          if (until?.test(said) === true) socket.destroy();
        });
        socket.on("close", () => resolve(said)).on("error", reject);
      }),
  };
}

const tunnel = (to: string): string => `CONNECT ${to} HTTP/1.1\r\nhost: ${to}\r\n\r\n`;
const get = (address: string, more = ""): string =>
  `GET ${address} HTTP/1.1\r\nhost: ${URL.parse(address)?.host ?? "x"}\r\nconnection: close\r\n${more}\r\n`;
const status = (response: string): string => response.slice(9, 12);

describe("the proxy of a sandbox", () => {
  // Everything that must not be reached, in each spelling; by a tunnel and as plain HTTP.
  it.each([
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "017700000001",
    "0177.0.0.1",
    "127.0.0.1.",
    "0",
    "0.0.0.0",
    "[::1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[0:0:0:0:0:ffff:127.0.0.1]",
    "[::127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]",
    "[2001:0:7f00:1::]",
    "10.0.0.1",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "100.64.0.1",
    "169.254.169.254",
    "0xa9fea9fe",
    "2852039166",
    "[fe80::1]",
    "[fd00:ec2::254]",
    "[fec0::1]",
    "[ff02::1]",
    "168.63.129.16",
    "100.100.100.200",
    "224.0.0.1",
    "255.255.255.255",
    "192.0.2.1",
    "198.18.0.1",
    "localhost",
    "１２７.0.0.1",
    "rebinds.test",
    "mixed.test",
    "metadata.test",
    "mapped.test",
    "translated.test",
    "unique-local.test",
    "link-local.test",
    "RebindS.test.",
  ])("reaches nothing that isn't public: %s", async (host) => {
    const { say, dialled } = await proxied({});
    // Bytes of UTF-8 in a request line are what a client sends for other letters.
    expect(["400", "403"]).toContain(status(await say(tunnel(`${host}:443`))));
    expect(["400", "403"]).toContain(status(await say(get(`http://${host}/`))));
    expect(dialled).toEqual([]);
  });

  it("refuses names of which one address isn't public, and connects to the addresses that it has checked", async () => {
    const { say, dialled, decisions } = await proxied({});
    expect(await say(tunnel("mixed.test:443"))).toContain("mixed.test is 10.0.0.7, which is no public address");
    expect(status(await say(get("http://allowed.test/a?b")))).toBe("200");
    expect(dialled).toEqual([`${PUBLIC}:80`]);
    expect(decisions.map(({ host, refused }) => [host, refused === undefined])).toEqual([
      ["mixed.test", false],
      ["allowed.test", true],
    ]);
  });

  it("lets through every public host where none is named, and those alone that are named where some are [MC-12]", async () => {
    const open = await proxied({});
    expect(status(await open.say(get("http://allowed.test/")))).toBe("200");
    const closed = await proxied({ allowedDomains: ["allowed.test"] });
    expect(status(await closed.say(get("http://allowed.test/")))).toBe("200");
    for (const host of ["www.allowed.test", "allowed.test.evil.test", "denied.test", PUBLIC])
      expect(status(await closed.say(get(`http://${host}/`)))).toBe("403");
    expect(status(await (await proxied({ allowedDomains: [] })).say(get("http://allowed.test/")))).toBe("403");
  });

  it("lets a pattern stand for the names below, not for the name itself", async () => {
    const { say } = await proxied({ allowedDomains: ["*.allowed.test"] });
    expect(status(await say(get("http://www.allowed.test/")))).toBe("200");
    for (const host of ["allowed.test", "allowed.test.evil.test"]) expect(status(await say(get(`http://${host}/`)))).toBe("403");
  });

  it("denies a host however it is spelt, and though it is allowed too", async () => {
    const { say, dialled } = await proxied({ allowedDomains: ["denied.test", "*.test", PUBLIC], deniedDomains: ["denied.test", PUBLIC] });
    for (const host of ["denied.test", "DENIED.test", "denied.test.", "denied%2etest", PUBLIC, "1572395042", "0x5db8d822"])
      expect(["400", "403"]).toContain(status(await say(get(`http://${host}/`))));
    expect(dialled).toEqual([]);
  });

  it("denies a name that stands for a denied address, however the address is spelt", async () => {
    const { say, dialled } = await proxied({ deniedDomains: [PUBLIC, "2606:2800:220:1:248:1893:25c8:1946"] });
    expect(await say(get("http://alias.test/"))).toContain(`alias.test stands for ${PUBLIC}, which the policy denies`);
    expect(status(await say(get("http://long.test/")))).toBe("403");
    expect(dialled).toEqual([]);
  });

  // A body whose end is not told is read by the server as the next request.
  it.each([
    ["a length that the client's Connection header names", "GET", "connection: close, content-length\r\ncontent-length: SIZE\r\n\r\nBODY"],
    [
      "chunks of a request that has no body as a rule",
      "GET",
      "connection: close\r\ntransfer-encoding: chunked\r\n\r\nHEX\r\nBODY\r\n0\r\n\r\n",
    ],
    [
      "chunks that the Connection header names",
      "DELETE",
      "connection: close, transfer-encoding\r\ntransfer-encoding: chunked\r\n\r\nHEX\r\nBODY\r\n0\r\n\r\n",
    ],
  ])("hides no second request in a body: %s", async (_how, method, rest) => {
    const { say } = await proxied({ allowedDomains: ["allowed.test"] });
    const second = "GET /hidden HTTP/1.1\r\nhost: denied.test\r\n\r\n";
    const body = rest.replace("SIZE", String(second.length)).replace("HEX", second.length.toString(16)).replace("BODY", second);
    received.length = 0;
    const said = await say(`${method} http://allowed.test/ HTTP/1.1\r\nhost: allowed.test\r\n${body}`);
    expect(status(said)).toBe("200");
    expect(said).toContain("web GET /hidden");
    expect(received).toHaveLength(1);
  });

  it("sends no body on in a coding that it can't read", async () => {
    const { say, dialled } = await proxied({});
    const said = await say("POST http://allowed.test/ HTTP/1.1\r\nhost: allowed.test\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n");
    expect(["400", "403"]).toContain(status(said));
    expect(dialled).toEqual([]);
  });

  it("refuses ports that no rule names", async () => {
    const { say } = await proxied({ allowedDomains: ["allowed.test", "www.allowed.test:8443"] });
    for (const to of [
      "allowed.test:22",
      "allowed.test:8443",
      "allowed.test:0",
      "allowed.test:99999",
      "allowed.test",
      "www.allowed.test:443",
    ])
      expect(["400", "403"]).toContain(status(await say(tunnel(to))));
    expect(status(await say(get("http://allowed.test:25/")))).toBe("403");
    expect(await say(`${tunnel("www.allowed.test:8443")}anything`, /raw/)).toContain("raw 8");
  });

  it("ends a tunnel that does not begin with TLS for the host that was asked for", async () => {
    const { say, port, decisions } = await proxied({});
    for (const first of ["GET / HTTP/1.1\r\nhost: denied.test\r\n\r\n", "SSH-2.0-x\r\n", Buffer.from([22, 3, 1, 0, 4, 2, 0, 0, 0])]) {
      const said = await say(Buffer.concat([Buffer.from(tunnel("allowed.test:443")), Buffer.from(first)]));
      expect(said).not.toContain("raw");
    }
    const names = async (servername: string): Promise<string> => {
      const socket = connect(port, "127.0.0.1", () => socket.write(tunnel("allowed.test:443")));
      await new Promise((resolve) => socket.once("data", resolve));
      return new Promise((resolve) => {
        // What the server sends back is no TLS, so that the client gives up once the hello has gone through.
        const tls = tlsConnect({ socket, servername, rejectUnauthorized: false });
        tls.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
      });
    };
    expect(await names("allowed.test")).toMatch(/SSL|WRONG_VERSION/);
    expect(await names("denied.test")).toBe("ECONNRESET");
    expect(decisions.at(-1)?.refused).toBe("the tunnel to allowed.test begins with TLS for denied.test");
    expect(await names("")).toBe("ECONNRESET");
    expect(decisions.at(-1)?.refused).toBe("the tunnel to allowed.test begins with TLS for nobody");
  });

  it("refuses a Host header that names another host, and sends on the one that it connected to", async () => {
    const { say } = await proxied({});
    expect(status(await say("GET http://allowed.test/ HTTP/1.1\r\nhost: denied.test\r\nconnection: close\r\n\r\n"))).toBe("403");
    expect(["400", "403"]).toContain(
      status(await say("GET http://allowed.test/ HTTP/1.1\r\nhost: allowed.test\r\nhost: denied.test\r\n\r\n")),
    );
    expect(["400", "403"]).toContain(status(await say("GET / HTTP/1.1\r\nhost: allowed.test\r\nconnection: close\r\n\r\n")));
    for (const address of [
      "http://allowed.test@127.0.0.1/",
      "http://user:pw@allowed.test/",
      "https://allowed.test/",
      "ftp://allowed.test/",
      "http://allowed.test\\@127.0.0.1/",
    ])
      expect(["400", "403"]).toContain(status(await say(`GET ${address} HTTP/1.1\r\nhost: allowed.test\r\nconnection: close\r\n\r\n`)));
    expect(["400", "403"]).toContain(
      status(
        await say(
          "POST http://allowed.test/ HTTP/1.1\r\nhost: allowed.test\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        ),
      ),
    );
    received.length = 0;
    const answer = await say(
      "POST http://allowed.test/x HTTP/1.1\r\nhost: allowed.test\r\nproxy-authorization: secret\r\nx-hop: 1\r\nconnection: close, x-hop\r\ncontent-length: 2\r\n\r\nhi",
    );
    expect(answer).toContain("web hi");
    expect(received[0]).toMatch(/^POST \/x .*"host":"allowed.test"/);
    expect(received[0]).not.toMatch(/proxy-authorization|x-hop/);
  });

  it("says why it refuses", async () => {
    const { say } = await proxied({ allowedDomains: ["allowed.test"] });
    expect(await say(tunnel("denied.test:443"))).toContain("Refused by the sandbox: the policy does not allow denied.test.");
    expect(await say(get("http://nowhere.test/"))).toContain("the policy does not allow nowhere.test");
    expect(await (await proxied({})).say(get("http://nowhere.test/"))).toContain("nowhere.test is not known");
  });
});

describe("a connection through the proxy", () => {
  /** A proxy in front of a server of the test's own, and both ends of what was connected. */
  async function connected(server: Server) {
    const upstream = await listen(server);
    const dialled: Socket[] = [];
    const proxy = createFilteringProxy(
      { enabled: true, allowedDomains: ["allowed.test", "allowed.test:8443"] },
      {
        resolve: async () => [PUBLIC],
        dial() {
          const socket = connect(upstream, "127.0.0.1");
          dialled.push(socket);
          return socket;
        },
      },
    );
    const port = await listen(createServer((socket) => proxy.accept(socket)));
    const open = async (text: string): Promise<Socket> => {
      const client = connect(port, "127.0.0.1");
      await once(client, "connect");
      client.on("error", () => {}).write(text);
      return client;
    };
    return { proxy, dialled, open };
  }
  const silent = (): Server => createServer((socket) => void socket.on("error", () => {}).resume());
  const textOf = async (client: Socket): Promise<string> => {
    let text = "";
    for await (const bytes of client) text += String(bytes);
    return text;
  };

  it("does not become one of another protocol, whoever of both asks for it", async () => {
    const answers = createServer((socket) => {
      const answer = "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: other\r\n\r\nother words";
      socket.on("error", () => {}).once("data", () => socket.write(answer));
    });
    const { open, dialled } = await connected(answers);
    const asked = await textOf(
      await open("GET http://allowed.test/ HTTP/1.1\r\nhost: allowed.test\r\nconnection: upgrade\r\nupgrade: other\r\n\r\n"),
    );
    expect(status(asked)).toBe("403");
    expect(dialled).toEqual([]);
    const unasked = await textOf(await open(get("http://allowed.test/")));
    expect(status(unasked)).toBe("502");
    expect(unasked).not.toContain("other words");
    await vi.waitUntil(() => dialled[0]?.destroyed);
  });

  it("ends at both ends when either is gone, and says what came last", async () => {
    const leaves = await connected(silent());
    const client = await leaves.open(tunnel("allowed.test:8443"));
    await once(client, "data");
    client.write("anything");
    await vi.waitUntil(() => leaves.dialled[0]?.bytesWritten === 8);
    client.resetAndDestroy();
    await vi.waitUntil(() => leaves.dialled[0]?.destroyed);
    const breaks = await connected(
      createServer((socket) => void socket.on("error", () => {}).once("data", () => socket.resetAndDestroy())),
    );
    expect(await textOf(await breaks.open(`${tunnel("allowed.test:8443")}anything`))).toMatch(/established\r\n\r\n$/);
    const ends = await connected(createServer((socket) => void socket.on("error", () => {}).once("data", () => socket.end("farewell"))));
    const other = await ends.open(`${tunnel("allowed.test:8443")}anything`);
    expect(await textOf(other)).toMatch(/farewell$/);
  });

  it("ends in a tunnel whose first words never get to whom they mean", async () => {
    const { open, dialled } = await connected(silent());
    const client = await open(tunnel("allowed.test:443"));
    await once(client, "data");
    // A hello of 31 kB in records of one byte each, six bytes of the connection for each of the hello.
    const records = Array.from({ length: 6000 }, () => Buffer.from([22, 3, 1, 0, 1, 0]));
    client.write(Buffer.concat([Buffer.from([22, 3, 1, 0, 4, 1, 0, 0x7c, 0]), ...records]));
    await once(client, "close");
    expect(dialled[0]?.bytesWritten).toBe(0);
  });

  it("is not taken when there are 256, until one of these ends; and all end with the proxy", async () => {
    const { open, proxy } = await connected(silent());
    const clients = await Promise.all(Array.from({ length: 256 }, () => open("GET http")));
    const isTaken = async (): Promise<boolean> => status(await textOf(await open("no HTTP\r\n\r\n")).catch(String)) === "400";
    expect(await isTaken()).toBe(false);
    const [first, ...others] = clients;
    first?.destroy();
    await vi.waitUntil(isTaken);
    const ended = Promise.all(others.map((client) => new Promise((resolve) => client.resume().once("close", resolve))));
    proxy.close();
    await ended;
  });
});

describe("a client that takes its time", () => {
  afterEach(() => vi.useRealTimers());

  interface Taken {
    readonly client: Socket;
    /** The proxy's end of its connection. */
    readonly socket: Socket;
    /** Sends it, and waits until the proxy has it. */
    send(text: string): Promise<void>;
    /** What it was told, as soon as that matches. */
    told(answer: RegExp): Promise<string>;
  }

  async function taken({
    resolve = async () => [PUBLIC],
    upstream = web,
  }: { resolve?: ResolveHost; upstream?: number } = {}): Promise<Taken> {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const proxy = createFilteringProxy(
      { enabled: true, allowedDomains: ["allowed.test", "allowed.test:8443"] },
      { resolve, dial: (_address, port) => connect(port === 80 ? upstream : raw, "127.0.0.1") },
    );
    const accepted = Promise.withResolvers<Socket>();
    const port = await listen(createServer((socket) => (proxy.accept(socket), accepted.resolve(socket))));
    const client = connect(port, "127.0.0.1");
    client.on("error", () => {});
    let said = "";
    client.on("data", (bytes) => (said += String(bytes)));
    const socket = await accepted.promise;
    let sent = 0;
    return {
      client,
      socket,
      async send(text) {
        sent += text.length;
        client.write(text);
        while (socket.bytesRead < sent && !socket.destroyed) await new Promise(setImmediate);
        // What it makes of that, it makes at once.
        await new Promise(setImmediate);
      },
      async told(answer) {
        while (!answer.test(said) && !client.destroyed) await new Promise(setImmediate);
        return said;
      },
    };
  }

  /** A server that says when it was asked, and responds when it is told to. */
  async function slowServer() {
    const asked: ServerResponse[] = [];
    const port = await listen(createHttpServer((_request, response) => void asked.push(response)));
    return {
      port,
      async isAsked(): Promise<ServerResponse> {
        for (;;) {
          const response = asked.shift();
          if (response !== undefined) return response;
          await new Promise(setImmediate);
        }
      },
    };
  }

  const GET = "GET http://allowed.test/ HTTP/1.1\r\nHost: allowed.test\r\n\r\n";

  it.each([
    ["over the headers of its request", "", undefined, "GET http://allowed.test/ HTTP/1.1\r\nHost: allo"],
    ["over the next request", GET, /web/, "GET http"],
    ["over the first words in a tunnel", tunnel("allowed.test:443"), /established/, "\x16\x03\x01"],
    ["over plain HTTP in a tunnel", tunnel("allowed.test:80"), /established/, "GET /"],
    ["over the next request in a tunnel", `${tunnel("allowed.test:80")}GET / HTTP/1.1\r\nHost: allowed.test\r\n\r\n`, /web/, "GET /"],
  ] as const)("%s is let go", async (_what, before, answer, words) => {
    const { socket, send, told } = await taken();
    if (answer !== undefined) {
      await send(before);
      expect(await told(answer)).toMatch(answer);
    }
    await send(words);
    vi.advanceTimersByTime(59_000);
    expect(socket.destroyed).toBe(false);
    vi.advanceTimersByTime(2_000);
    expect(socket.destroyed).toBe(true);
  });

  it("is not let go while the server takes its time, nor while one of several requests is being answered", async () => {
    const slow = await slowServer();
    const { socket, send, told } = await taken({ upstream: slow.port });
    await send(GET);
    const first = await slow.isAsked();
    vi.advanceTimersByTime(61_000);
    expect(socket.destroyed).toBe(false);
    await send(GET);
    const second = await slow.isAsked();
    first.end("the first");
    expect(await told(/the first/)).toContain("the first");
    vi.advanceTimersByTime(61_000);
    expect(socket.destroyed).toBe(false);
    second.end("the second");
    expect(await told(/the second/)).toContain("the second");
  });

  it("is not let go while the name of its host is looked for, nor in a tunnel that has begun", async () => {
    const looking = Promise.withResolvers<readonly string[]>();
    const asked = Promise.withResolvers<void>();
    const { socket, send, told } = await taken({ resolve: () => (asked.resolve(), looking.promise) });
    await send(tunnel("allowed.test:8443"));
    await asked.promise;
    vi.advanceTimersByTime(61_000);
    expect(socket.destroyed).toBe(false);
    looking.resolve([PUBLIC]);
    expect(await told(/established/)).toContain("200");
    await send("anything");
    expect(await told(/raw 8/)).toContain("raw 8");
    vi.advanceTimersByTime(61_000);
    expect(socket.destroyed).toBe(false);
  });

  it("leaves no timer behind when it leaves, before its request or while that is answered", async () => {
    const silent = await taken();
    silent.client.destroy();
    await once(silent.socket, "close");
    expect(vi.getTimerCount()).toBe(0);
    const slow = await slowServer();
    const asking = await taken({ upstream: slow.port });
    await asking.send(GET);
    const response = await slow.isAsked();
    asking.client.destroy();
    // The proxy ends its own request when nobody waits for the response any more.
    await Promise.all([once(asking.socket, "close"), once(response, "close")]);
    expect(vi.getTimerCount()).toBe(0);
  });
});
