import { AgentError } from "@keelson/protocol";
import { beforeEach, describe, expect, it } from "vitest";
import { manualClock } from "../wires/manual-clock.ts";
import { serveAuthorization } from "./authorization-server.ts";
import { answerOverSse } from "./http-servers.ts";
import { add, failureOf, keepWhatIsPrinted, manage, openStore, serveBoth, tokenRequests } from "./oauth-servers.ts";
import { serveProtected } from "./protected-server.ts";

beforeEach(keepWhatIsPrinted);

describe("a server that wants tokens of an authorization server", () => {
  it("says what to run where nobody has logged in, and asks nobody by itself", async () => {
    await using servers = await serveBoth();
    await using manager = manage(servers, { authorize: () => Promise.reject(new Error("nobody is to be asked")) });
    const failure = await failureOf(servers, manager.callTool("notes", "add", add));
    expect(failure).toMatchObject({ kind: "unauthorized", server: "notes", reason: "login-needed" });
    expect(failure.message).toContain("`keelson mcp login notes`");
    expect(manager.status("notes").problems).toEqual([failure.message]);
    expect(servers.authorization.asked).toEqual([]);
  });

  it("is used after a login, in which we register, prove who began it, and say what the token is for", async () => {
    await using servers = await serveBoth();
    await using manager = manage(servers);
    await manager.startAll();
    expect(manager.status("notes").state).toBe("reconnecting");
    await manager.login("notes");
    expect(manager.status("notes").state).toBe("connected");
    expect(await manager.callTool("notes", "add", add)).toMatchObject({ content: [{ text: "3" }] });
    expect(servers.authorization.asked).toEqual([
      "GET /.well-known/oauth-authorization-server",
      "POST /register",
      "GET /authorize",
      "POST /token authorization_code",
    ]);
    const token = servers.notes.requests.at(-1)?.authorization?.slice("Bearer ".length) ?? "";
    expect(servers.authorization.grantOf(token)).toEqual({ client: "client-0", scope: "read", resource: servers.notes.url });
  });

  it("sees one renewal where twenty calls find at once that the token is over", async () => {
    await using servers = await serveBoth();
    await using manager = manage(servers);
    await manager.login("notes");
    await manager.callTool("notes", "add", add);
    servers.authorization.expire();
    const results = await Promise.all(Array.from({ length: 20 }, (_, a) => manager.callTool("notes", "add", { a, b: 1 })));
    expect(results.map(({ content }) => content[0]?.["text"])).toEqual(Array.from({ length: 20 }, (_, a) => String(a + 1)));
    expect(tokenRequests(servers, "refresh_token")).toHaveLength(1);
  });

  it("is sent no token that is about to be over: it is renewed before", async () => {
    await using servers = await serveBoth();
    const clock = manualClock();
    await using manager = manage(servers, { clock });
    await manager.login("notes");
    await manager.callTool("notes", "add", add);
    await clock.advance(3_539_000);
    await manager.callTool("notes", "add", add);
    expect(tokenRequests(servers, "refresh_token")).toHaveLength(0);
    await clock.advance(1_000);
    await Promise.all([manager.callTool("notes", "add", add), manager.callTool("notes", "add", add)]);
    expect(tokenRequests(servers, "refresh_token")).toHaveLength(1);
  });

  it("is logged in to again where what renews tokens was taken back", async () => {
    await using servers = await serveBoth();
    await using manager = manage(servers);
    await manager.login("notes");
    servers.authorization.expire();
    servers.authorization.revoke();
    expect(await failureOf(servers, manager.callTool("notes", "add", add))).toMatchObject({ reason: "login-needed" });
    expect(await failureOf(servers, manager.callTool("notes", "add", add))).toMatchObject({ reason: "login-needed" });
    expect(tokenRequests(servers, "refresh_token")).toHaveLength(1);
    await manager.login("notes");
    await manager.callTool("notes", "add", add);
  });

  it("is forgotten by a logout", async () => {
    await using servers = await serveBoth();
    const { kept, store } = openStore();
    await using manager = manage(servers, { tokens: store });
    await manager.login("notes");
    expect([...kept.keys()]).toEqual([servers.notes.url]);
    await manager.logout("notes");
    expect([...kept.keys()]).toEqual([]);
    expect(await failureOf(servers, manager.callTool("notes", "add", add))).toMatchObject({ reason: "login-needed" });
  });

  it("says so where this program has no way to ask a person, and where the server takes no logins", async () => {
    await using servers = await serveBoth();
    await using manager = manage(servers, { authorize: undefined });
    expect(await failureOf(servers, manager.login("notes"))).toMatchObject({ reason: "login-needed" });
    manager.register("fixed", { type: "http", url: servers.notes.url, authToken: "fixed" });
    expect(await failureOf(servers, manager.login("fixed"))).toMatchObject({ kind: "other" });
    expect(() => manager.register("both", { type: "http", url: servers.notes.url, authToken: "fixed", oauth: {} })).toThrow(AgentError);
  });

  it("is logged in to for more where a call needs it, in addition to what it had", async () => {
    await using servers = await serveBoth();
    await using manager = manage(servers);
    await manager.login("notes");
    servers.notes.toolScope = "write";
    const failure = await failureOf(servers, manager.callTool("notes", "add", add));
    expect(failure).toMatchObject({ kind: "unauthorized", reason: "scope-needed" });
    expect(failure.message).toContain("(write)");
    await manager.login("notes");
    await manager.callTool("notes", "add", add);
    const token = servers.notes.requests.at(-1)?.authorization?.slice("Bearer ".length) ?? "";
    expect(servers.authorization.grantOf(token)?.scope.split(" ").sort()).toEqual(["read", "write"]);
  });

  it("keeps its tokens where they could not be renewed for now", async () => {
    await using servers = await serveBoth();
    await using manager = manage(servers);
    await manager.login("notes");
    await manager.callTool("notes", "add", add);
    servers.authorization.expire();
    servers.authorization.intercept = ({ url }, response) => url === "/token" && response.destroy() === response;
    expect(await failureOf(servers, manager.callTool("notes", "add", add))).toMatchObject({ kind: "transport" });
    servers.authorization.intercept = ({ url }, response) => url === "/token" && response.writeHead(503).end("down") === response;
    expect(await failureOf(servers, manager.callTool("notes", "add", add))).toMatchObject({ reason: "refused" });
    servers.authorization.intercept = undefined;
    await manager.callTool("notes", "add", add);
  });

  it("asks a client by the id and the secret that it has there, which go to the issuer of the configuration alone", async () => {
    await using servers = await serveBoth();
    servers.authorization.know("ours", "configured-secret");
    const { kept, store } = openStore();
    const secrets = { resolve: async (reference: string) => (reference === "vault:ours" ? "configured-secret" : "") };
    const oauth = { clientId: "ours", clientSecret: "vault:ours", issuer: servers.authorization.issuer };
    await using manager = manage(servers, { secrets, tokens: store }, oauth);
    await manager.login("notes");
    await manager.callTool("notes", "add", add);
    servers.authorization.expire();
    await manager.callTool("notes", "add", add);
    expect(tokenRequests(servers, "refresh_token")).toHaveLength(1);
    expect(JSON.stringify([...kept])).not.toContain("configured-secret");
    await using elsewhere = manage(servers, { secrets }, { ...oauth, issuer: "https://login.example" });
    const before = tokenRequests(servers, "authorization_code").length;
    expect(await failureOf(servers, elsewhere.login("notes"))).toMatchObject({ reason: "wrong-issuer" });
    expect(tokenRequests(servers, "authorization_code")).toHaveLength(before);
  });

  it("lets a client in without a person, and for more where it wants that; nothing of it is kept", async () => {
    await using servers = await serveBoth();
    servers.authorization.know("machine", "machine-secret");
    const { kept, store } = openStore();
    const oauth = { grant: "client-credentials", clientId: "machine", clientSecret: "${SECRET}" } as const;
    await using manager = manage(servers, { variables: { SECRET: "machine-secret" }, tokens: store, authorize: undefined }, oauth);
    await manager.callTool("notes", "add", add);
    servers.notes.toolScope = "write";
    await manager.callTool("notes", "add", add);
    servers.authorization.expire();
    await Promise.all([manager.callTool("notes", "add", add), manager.callTool("notes", "add", add)]);
    expect(tokenRequests(servers, "client_credentials")).toHaveLength(3);
    expect([...kept]).toEqual([]);
  });

  it("may speak the transport before this one", async () => {
    await using authorization = await serveAuthorization();
    await using notes = await serveProtected(authorization, answerOverSse());
    await using servers = { authorization, notes, async [Symbol.asyncDispose]() {} };
    await using manager = manage(servers, { servers: { notes: { type: "sse", url: notes.url } } });
    expect(await failureOf(servers, manager.callTool("notes", "hello"))).toMatchObject({ reason: "login-needed" });
    await manager.login("notes");
    expect(await manager.callTool("notes", "hello")).toMatchObject({ content: [{ text: "Hello!" }] });
    authorization.expire();
    await Promise.all([manager.callTool("notes", "hello"), manager.callTool("notes", "hello")]);
    expect(tokenRequests(servers, "refresh_token")).toHaveLength(1);
  });
});
