import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openMcpTokenStore } from "keelson/mcp";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { serve } from "./http-servers.ts";
import { add, failureOf, keepWhatIsPrinted, manage, openStore, serveBoth, tokenRequests } from "./oauth-servers.ts";

let folder: string;
beforeEach(() => {
  keepWhatIsPrinted();
  folder = join(mkdtempSync(join(tmpdir(), "keelson-tokens-")), "mcp");
});
afterEach(() => rmSync(join(folder, ".."), { recursive: true }));

const noKeyring = () => Promise.reject(new Error("not installed"));
const files = () => readdirSync(folder).map((name) => join(folder, name));

describe("what people logged in with", () => {
  it("serves other processes with the same store, which see what another has renewed", async () => {
    await using servers = await serveBoth();
    const { store } = openStore();
    await using first = manage(servers, { tokens: store });
    await first.login("notes");
    await using second = manage(servers, { tokens: store, authorize: undefined });
    await second.callTool("notes", "add", add);
    servers.authorization.expire();
    await first.callTool("notes", "add", add);
    await second.callTool("notes", "add", add);
    expect(tokenRequests(servers, "refresh_token")).toHaveLength(1);
  });

  it("is seen by a process that waited for it", async () => {
    await using servers = await serveBoth();
    const { store } = openStore();
    await using waiting = manage(servers, { tokens: store });
    expect(await failureOf(servers, waiting.callTool("notes", "add", add))).toMatchObject({ reason: "login-needed" });
    await using other = manage(servers, { tokens: store });
    await other.login("notes");
    await waiting.callTool("notes", "add", add);
  });

  it("is of the client that the configuration names: it is not used for another", async () => {
    await using servers = await serveBoth();
    servers.authorization.know("one", "first-secret");
    servers.authorization.know("two", "second-secret");
    const { store } = openStore();
    await using first = manage(servers, { tokens: store }, { clientId: "one", clientSecret: "first-secret" });
    await first.login("notes");
    servers.authorization.expire();
    await using second = manage(servers, { tokens: store }, { clientId: "two", clientSecret: "second-secret" });
    expect(await failureOf(servers, second.callTool("notes", "add", add))).toMatchObject({ reason: "login-needed" });
    expect(tokenRequests(servers, "refresh_token")).toEqual([]);
  });

  it("lies sealed in files of their own where there is no keyring, and is renewed by one process at a time", async () => {
    await using servers = await serveBoth();
    const open = () => openMcpTokenStore({ folder, importModule: noKeyring });
    await using first = manage(servers, { tokens: await open() });
    await first.login("notes");
    await using second = manage(servers, { tokens: await open() });
    await Promise.all([first.callTool("notes", "add", add), second.callTool("notes", "add", add)]);
    servers.authorization.expire();
    await Promise.all([first.callTool("notes", "add", add), second.callTool("notes", "add", add)]);
    expect(tokenRequests(servers, "refresh_token")).toHaveLength(1);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(files().map((path) => statSync(path).mode & 0o777)).toEqual(files().map(() => 0o600));
    const content = files().map((path) => readFileSync(path, "utf8"));
    expect(servers.authorization.secrets.filter((secret) => content.join().includes(secret))).toEqual([]);
    await first.logout("notes");
    expect(files()).toEqual([join(folder, "keys.json")]);
  });

  it("is in the keyring where there is one", async () => {
    await using servers = await serveBoth();
    const kept = new Map<string, string>();
    class AsyncEntry {
      readonly #name: string;
      constructor(service: string, account: string) {
        this.#name = `${service} ${account}`;
      }
      getPassword = async () => kept.get(this.#name);
      setPassword = async (value: string) => void kept.set(this.#name, value);
      deleteCredential = async () => kept.delete(this.#name);
    }
    const tokens = await openMcpTokenStore({ folder, importModule: async () => ({ AsyncEntry }) });
    await using manager = manage(servers, { tokens });
    await manager.login("notes");
    await manager.callTool("notes", "add", add);
    expect([...kept.keys()]).toEqual([`keelson-mcp ${servers.notes.url}`]);
    expect(files()).toEqual([join(folder, "keys.json")]);
    await manager.logout("notes");
    expect([...kept.keys()]).toEqual([]);
  });

  it("to one address is not used for another, by whatever these differ", async () => {
    await using servers = await serveBoth();
    const { store } = openStore();
    const { url } = servers.notes;
    const at = (address: string) => manage(servers, { tokens: store, servers: { notes: { type: "http", url: address } } });
    await using one = at(`${url}?of=one`);
    await one.login("notes");
    await one.callTool("notes", "add", add);
    for (const other of [`${url}?of=another`, url, url.replace("127.0.0.1", "localhost"), `${url}/`]) {
      await using manager = at(other);
      expect(await failureOf(servers, manager.callTool("notes", "add", add))).toMatchObject({ reason: "login-needed" });
    }
  });

  it("that can't be read is as good as nothing, and what may be secret of an address is no name", async () => {
    await using servers = await serveBoth();
    const { kept, store } = openStore();
    const url = `${servers.notes.url}?key=canary`;
    await using manager = manage(servers, { tokens: store, servers: { notes: { type: "http", url } } });
    await manager.login("notes");
    expect([...kept.keys()].join()).not.toContain("canary");
    for (const name of kept.keys()) kept.set(name, "{");
    await using other = manage(servers, { tokens: store, servers: { notes: { type: "http", url } } });
    expect(await failureOf(servers, other.callTool("notes", "add", add))).toMatchObject({ reason: "login-needed" });
  });
});

describe("tokens", () => {
  it("of one server go to no other, though both have the same authorization server", async () => {
    await using servers = await serveBoth();
    await using other = await serve((_, response) => {
      const challenge = `Bearer resource_metadata="${new URL(other.url).origin}/.well-known/oauth-protected-resource/mcp"`;
      response.writeHead(401, { "www-authenticate": challenge }).end();
    });
    const { store } = openStore();
    await using manager = manage(servers, { tokens: store });
    manager.register("other", { type: "http", url: other.url });
    await manager.login("notes");
    await manager.callTool("notes", "add", add);
    expect(await failureOf(servers, manager.callTool("other", "add", add))).toMatchObject({ reason: "login-needed" });
    expect(other.requests.map(({ authorization }) => authorization)).toEqual(other.requests.map(() => undefined));
  });

  it("and clients of one authorization server go to no other that a server names later", async () => {
    await using servers = await serveBoth();
    await using next = await serveBoth();
    await using manager = manage(servers);
    await manager.login("notes");
    await manager.callTool("notes", "add", add);
    servers.authorization.expire();
    servers.notes.metadata = { ...servers.notes.metadata, authorization_servers: [next.authorization.issuer] };
    expect(await failureOf(servers, manager.callTool("notes", "add", add))).toMatchObject({ reason: "login-needed" });
    expect(next.authorization.asked).toEqual(["GET /.well-known/oauth-authorization-server"]);
    expect(tokenRequests(servers, "refresh_token")).toEqual([]);
    await manager.login("notes");
    expect(next.authorization.asked).toContain("POST /register");
  });
});
