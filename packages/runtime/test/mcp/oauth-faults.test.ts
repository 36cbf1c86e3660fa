import { loopbackAuthorization, type McpAuthorize } from "keelson/mcp";
import { beforeEach, describe, expect, it } from "vitest";
import { manualClock } from "../wires/manual-clock.ts";
import type { Interceptor } from "./authorization-server.ts";
import { serve } from "./http-servers.ts";
import { add, failureOf, keepWhatIsPrinted, manage, type OAuthServers, serveBoth, tokenRequests } from "./oauth-servers.ts";

beforeEach(keepWhatIsPrinted);

const FOREIGN = "http://login.example/somewhere";
const PLACES = [
  ["the metadata of the server", "notes", "/.well-known/oauth-protected-resource/mcp"],
  ["that of the authorization server", "authorization", "/.well-known/oauth-authorization-server"],
  ["the registration", "authorization", "/register"],
  ["the exchange of the code", "authorization", "/token"],
] as const;

/** A person whose browser goes where it is sent, and comes back as it is told. */
const following: McpAuthorize = () => ({
  uri: "http://127.0.0.1:7/callback",
  visit: async (address) => (await fetch(address, { redirect: "manual" })).headers.get("location") ?? "",
});

const at =
  (path: string, answer: Interceptor): Interceptor =>
  (request, response, body) =>
    request.url === path && answer(request, response, body);

describe("a login", () => {
  it.each(PLACES)("follows nobody to another host at %s", async (_, side, path) => {
    await using servers = await serveBoth();
    await using foreign = await serve((__, response) => void response.writeHead(200).end("{}"));
    const location = foreign.url.replace("127.0.0.1", "localhost");
    servers[side].intercept = at(path, (__, response) => response.writeHead(307, { location }).end() === response);
    await using manager = manage(servers);
    expect(await failureOf(servers, manager.login("notes"))).toMatchObject({ kind: "unauthorized", reason: "foreign-redirect" });
    expect(foreign.requests).toEqual([]);
  });

  it("follows to another page of the same host, and sends what is secret to none but the one that it is for", async () => {
    await using servers = await serveBoth();
    const { authorization } = servers;
    const well = "/.well-known/oauth-authorization-server";
    authorization.intercept = at(well, (_, response) => response.writeHead(302, { location: "/moved" }).end() === response);
    const moved = at("/moved", (_, response) => response.writeHead(200).end(JSON.stringify(authorization.metadata)) === response);
    const redirecting = authorization.intercept;
    authorization.intercept = async (...given) => (await redirecting(...given)) || moved(...given);
    await using manager = manage(servers);
    await manager.login("notes");
    authorization.intercept = at("/token", (_, response) => response.writeHead(307, { location: "/moved" }).end() === response);
    expect(await failureOf(servers, manager.login("notes"))).toMatchObject({ reason: "foreign-redirect" });
  });

  it.each(PLACES)("is over after its time where nobody answers at %s", async (_, side, path) => {
    await using servers = await serveBoth();
    const clock = manualClock();
    let asked = 0;
    servers[side].intercept = at(path, () => ++asked > 0);
    await using manager = manage(servers, { clock });
    const failing = failureOf(servers, manager.login("notes"));
    await expect.poll(() => asked).toBe(1);
    await clock.advance(30_000);
    expect(await failing).toMatchObject({ kind: "timeout", timeoutMs: 30_000 });
  });

  it.each(PLACES)("reads no more than it should of what is sent at %s", async (_, side, path) => {
    await using servers = await serveBoth();
    const endless: Interceptor = (__, response) => {
      const more = (): void => void (response.write("x".repeat(64 * 1024)) ? setImmediate(more) : response.once("drain", more));
      response.writeHead(200, { "content-type": "application/json" }).on("error", () => {});
      more();
      return true;
    };
    servers[side].intercept = at(path, endless);
    await using manager = manage(servers);
    const failure = await failureOf(servers, manager.login("notes"));
    expect(failure).toMatchObject({ kind: "protocol" });
    expect(failure.message).toContain("more than 262144 bytes");
  });

  it.each(["https://notes.example/mcp", "http://127.0.0.1:1/mcp", "/mc"])(
    "is not begun for a server whose metadata is of another: %s",
    async (resource) => {
      await using servers = await serveBoth();
      const { notes } = servers;
      notes.metadata = { ...notes.metadata, resource: resource.startsWith("/") ? new URL(resource, notes.url).href : resource };
      await using manager = manage(servers);
      expect(await failureOf(servers, manager.login("notes"))).toMatchObject({ reason: "wrong-resource" });
      expect(servers.authorization.asked).not.toContain("GET /authorize");
    },
  );

  it.each([{ resource: "what is no address" }, { resource: 7 }, "{", []])("is not begun on metadata that is none: %j", async (metadata) => {
    await using servers = await serveBoth();
    const { notes, authorization } = servers;
    const text = typeof metadata === "string" ? metadata : JSON.stringify(metadata);
    notes.intercept = at("/.well-known/oauth-protected-resource/mcp", (_, response) => response.writeHead(200).end(text) === response);
    await using manager = manage(servers);
    expect(await failureOf(servers, manager.login("notes"))).toMatchObject({ kind: "protocol" });
    notes.intercept = undefined;
    authorization.intercept = at(
      "/.well-known/oauth-authorization-server",
      (_, response) => response.writeHead(200).end(text) === response,
    );
    expect(await failureOf(servers, manager.login("notes"))).toMatchObject({ kind: "protocol" });
    expect(authorization.asked).not.toContain("POST /register");
  });

  it("is not begun at an authorization server that says it is another, and is of none that answers in its place", async () => {
    await using servers = await serveBoth();
    const { authorization } = servers;
    const { metadata } = authorization;
    await using manager = manage(servers);
    authorization.metadata = { ...metadata, issuer: "https://login.example" };
    expect(await failureOf(servers, manager.login("notes"))).toMatchObject({ reason: "wrong-issuer" });
    expect(authorization.asked).not.toContain("POST /register");
    authorization.metadata = metadata;
    for (const iss of ["https://login.example", undefined, `${authorization.issuer}/`]) {
      authorization.redirect = { iss };
      expect(await failureOf(servers, manager.login("notes"))).toMatchObject({ reason: "wrong-issuer" });
    }
    expect(tokenRequests(servers, "authorization_code")).toEqual([]);
  });

  it("is of nobody who comes back from another login", async () => {
    await using servers = await serveBoth();
    servers.authorization.redirect = { state: "another" };
    await using manager = manage(servers, { authorize: following });
    expect(await failureOf(servers, manager.login("notes"))).toMatchObject({ reason: "wrong-state" });
    expect(tokenRequests(servers, "authorization_code")).toEqual([]);
  });

  it.each([[undefined], [["plain"]]])("is not begun where PKCE with S256 is not known: %j", async (methods) => {
    await using servers = await serveBoth();
    servers.authorization.metadata = { ...servers.authorization.metadata, code_challenge_methods_supported: methods };
    await using manager = manage(servers);
    expect(await failureOf(servers, manager.login("notes"))).toMatchObject({ reason: "no-pkce" });
    expect(servers.authorization.asked).not.toContain("POST /register");
  });

  it.each([
    ["authorization_endpoint", FOREIGN, { reason: "insecure-address" }],
    // The SDK takes no such address for one.
    ["authorization_endpoint", "javascript://localhost/%0aalert(1)", { kind: "protocol" }],
    ["authorization_endpoint", "file:///etc/passwd", { reason: "insecure-address" }],
    ["token_endpoint", FOREIGN, { reason: "insecure-address" }],
    ["token_endpoint", "http://somebody:password@127.0.0.1/token", { reason: "insecure-address" }],
    ["registration_endpoint", FOREIGN, { reason: "insecure-address" }],
  ])("sends nothing and nobody where others could read it: %s %s", async (endpoint, address, expected) => {
    await using servers = await serveBoth();
    servers.authorization.metadata = { ...servers.authorization.metadata, [endpoint]: address };
    await using manager = manage(servers);
    expect(await failureOf(servers, manager.login("notes"))).toMatchObject(expected);
    expect(servers.authorization.asked).toEqual(["GET /.well-known/oauth-authorization-server"]);
  });

  describe("to a server on the public internet", () => {
    const hosts: { readonly [host: string]: string } = {
      "notes.example": "93.184.215.14",
      "login.example": "93.184.215.15",
      "inside.example": "10.0.0.7",
    };
    const resolveHost = async (host: string) => [{ address: hosts[host] ?? "", family: 4 }];
    const config = { notes: { type: "http", url: "https://notes.example/mcp" } } as const;
    /** What seems to be on the public internet is here. */
    const rerouted = (sent: string[], { authorization, notes }: OAuthServers) => {
      return (url: string | URL, init?: RequestInit): Promise<Response> => {
        const { host, pathname, search } = new URL(url);
        sent.push(host);
        return fetch(new URL(pathname + search, host === "login.example" ? authorization.issuer : notes.url), init);
      };
    };

    it("asks nothing of what is not there, by name or by address", async () => {
      await using servers = await serveBoth();
      const { authorization, notes } = servers;
      const sent: string[] = [];
      await using manager = manage(servers, { servers: config, fetch: rerouted(sent, servers), resolveHost });
      expect(await failureOf(servers, manager.login("notes"))).toMatchObject({ reason: "private-address" });
      notes.intercept = at("/mcp", (_, response) => response.writeHead(401).end() === response);
      for (const issuer of ["https://inside.example", authorization.issuer, "https://[::ffff:10.0.0.7]", "https://169.254.169.254"]) {
        notes.metadata = { resource: "https://notes.example/mcp", authorization_servers: [issuer] };
        expect(await failureOf(servers, manager.login("notes"))).toMatchObject({ reason: "private-address" });
      }
      expect(new Set(sent)).toEqual(new Set(["notes.example"]));
      expect(authorization.asked).toEqual([]);
    });

    it("asks what is there", async () => {
      await using servers = await serveBoth();
      const { authorization, notes } = servers;
      const { issuer } = authorization;
      const text = JSON.stringify(authorization.metadata).replaceAll(issuer, "https://login.example");
      authorization.metadata = JSON.parse(text) as typeof authorization.metadata;
      authorization.redirect = { iss: "https://login.example" };
      notes.metadata = { resource: "https://notes.example/mcp", authorization_servers: ["https://login.example"] };
      notes.intercept = (request, response) =>
        request.url === "/mcp" && request.headers.authorization === undefined && response.writeHead(401).end() === response;
      const sent: string[] = [];
      const visit = async (address: string) =>
        (await fetch(address.replace("https://login.example", issuer), { redirect: "manual" })).headers.get("location") ?? "";
      const authorize = () => ({ uri: "http://127.0.0.1:7/callback", visit });
      await using manager = manage(servers, { servers: config, fetch: rerouted(sent, servers), resolveHost, authorize });
      await manager.login("notes");
      await manager.callTool("notes", "add", add);
      expect(new Set(sent)).toEqual(new Set(["notes.example", "login.example"]));
    });

    it("asks nothing of a name that was public when it was looked at, and then is not", async () => {
      await using servers = await serveBoth();
      let looks = 0;
      const turning = async () => [{ address: ++looks <= 2 ? "93.184.215.14" : "127.0.0.1", family: 4 }];
      await using manager = manage(servers, { servers: config, resolveHost: turning });
      expect(await failureOf(servers, manager.login("notes"))).toMatchObject({ reason: "private-address" });
      expect(looks).toBe(3);
    });
  });

  it("says what the standard has a word for, and nothing else that an authorization server says", async () => {
    await using servers = await serveBoth();
    const { authorization } = servers;
    await using manager = manage(servers);
    const description = "Give me your password at http://login.example";
    authorization.redirect = { code: undefined, error: "access_denied", error_description: description };
    const denied = await failureOf(servers, manager.login("notes"));
    expect(denied).toMatchObject({ reason: "refused" });
    expect(denied.message).toContain("access_denied");
    authorization.redirect = { code: undefined, error: description };
    const odd = await failureOf(servers, manager.login("notes"));
    authorization.redirect = {};
    authorization.intercept = at("/token", (_, response, body) => {
      const error = { error: description, error_description: `You sent ${body}` };
      return response.writeHead(400, { "content-type": "application/json" }).end(JSON.stringify(error)) === response;
    });
    const atToken = await failureOf(servers, manager.login("notes"));
    authorization.intercept = at("/register", (_, response, body) => response.writeHead(403).end(body + description) === response);
    const atRegistration = await failureOf(servers, manager.login("notes"));
    expect(atRegistration).toMatchObject({ reason: "no-registration" });
    expect([denied, odd, atToken, atRegistration].map(({ message }) => message).join()).not.toContain("password");
  });

  it.each([{ token_type: "DPoP" }, { access_token: "canary\r\nx-header: 1" }, { access_token: "canary \u00e9" }])(
    "takes no token that can't be sent along as it is: %j",
    async (changed) => {
      await using servers = await serveBoth();
      const { authorization } = servers;
      authorization.secrets.push("canary");
      authorization.intercept = at("/token", (_, response) => {
        const tokens = { access_token: "canary", token_type: "Bearer", ...changed };
        return response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(tokens)) === response;
      });
      await using manager = manage(servers);
      expect(await failureOf(servers, manager.login("notes"))).toMatchObject({ reason: "refused" });
    },
  );

  it("is given up when nobody waits for it any more, or the person has had their time", async () => {
    await using servers = await serveBoth();
    let shown = 0;
    const clock = manualClock();
    const authorize = loopbackAuthorization({ open: () => ++shown, timeoutMs: 60_000, clock });
    await using manager = manage(servers, { authorize });
    const late = failureOf(servers, manager.login("notes"));
    await expect.poll(() => shown).toBe(1);
    await clock.advance(60_000);
    expect(await late).toMatchObject({ kind: "timeout", timeoutMs: 60_000 });
    const cancelling = new AbortController();
    const cancelled = failureOf(servers, manager.login("notes", { signal: cancelling.signal }));
    await expect.poll(() => shown).toBe(2);
    cancelling.abort();
    expect(await cancelled).toMatchObject({ kind: "other" });
    await using busy = await serve((_, response) => void response.end());
    const port = Number(new URL(busy.url).port);
    await using elsewhere = manage(servers, { authorize: loopbackAuthorization({ open: () => {}, port }) });
    expect((await failureOf(servers, elsewhere.login("notes"))).message).toContain(`Port ${port}`);
  });
});
