import { createPublicKey, generateKeyPairSync, verify } from "node:crypto";
import { AgentError, type McpOAuthSettings } from "@keelson/protocol";
import { createMcpManager } from "keelson/mcp";
import { beforeEach, describe, expect, it } from "vitest";
import type { Interceptor } from "./authorization-server.ts";
import { readBody, serve } from "./http-servers.ts";
import { add, failureOf, keepWhatIsPrinted, manage, serveBoth } from "./oauth-servers.ts";

beforeEach(keepWhatIsPrinted);

const at =
  (path: string, answer: (form: URLSearchParams) => readonly [number, object]): Interceptor =>
  (request, response, body) => {
    if (request.url !== path) return false;
    const [status, value] = answer(new URLSearchParams(body));
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
    return true;
  };
const refused = [400, { error: "invalid_grant" }] as const;

describe("a server without a person", () => {
  it("lets in a client that signs with its key", async () => {
    await using servers = await serveBoth();
    const { authorization, notes } = servers;
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const claimed: unknown[] = [];
    authorization.intercept = at("/token", (form) => {
      const [header = "", claims = "", signature = ""] = (form.get("client_assertion") ?? "").split(".");
      const key = { key: createPublicKey(publicKey.export({ type: "spki", format: "pem" })), dsaEncoding: "ieee-p1363" } as const;
      claimed.push(JSON.parse(Buffer.from(claims, "base64url").toString()));
      return verify("sha256", Buffer.from(`${header}.${claims}`), key, Buffer.from(signature, "base64url"))
        ? [200, authorization.give({ client: "machine", scope: form.get("scope") ?? "", resource: form.get("resource") ?? "" })]
        : refused;
    });
    const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
    const oauth: McpOAuthSettings = { grant: "client-credentials", clientId: "machine", privateKey: "vault:key" };
    await using manager = manage(servers, { secrets: { resolve: async () => pem } }, oauth);
    await manager.callTool("notes", "add", add);
    expect(claimed).toEqual([expect.objectContaining({ iss: "machine", sub: "machine", aud: authorization.issuer })]);
    expect(notes.requests.at(-1)?.authorization).toMatch(/^Bearer access-/);
  });

  it("lets in the person for whom an identity provider vouches, and is told nothing else of them", async () => {
    await using servers = await serveBoth();
    const { authorization, notes } = servers;
    authorization.know("ours", "configured-secret");
    const exchanged: Record<string, string>[] = [];
    await using provider = await serve(async (request, response) => {
      exchanged.push(Object.fromEntries(new URLSearchParams(await readBody(request))));
      const granted = { access_token: "vouched", issued_token_type: "urn:ietf:params:oauth:token-type:id-jag", token_type: "N_A" };
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(granted));
    });
    authorization.intercept = at("/token", (form) =>
      form.get("assertion") === "vouched" ? [200, authorization.give({ client: "ours", scope: "read", resource: notes.url })] : refused,
    );
    authorization.secrets.push("id-token", "vouched");
    const identityProvider = { tokenUrl: provider.url, clientId: "keelson", idToken: "${ID_TOKEN}" };
    const oauth = { grant: "identity-assertion", clientId: "ours", clientSecret: "configured-secret", identityProvider } as const;
    await using manager = manage(servers, { variables: { ID_TOKEN: "id-token" } }, oauth);
    await manager.callTool("notes", "add", add);
    expect(exchanged).toEqual([
      expect.objectContaining({ subject_token: "id-token", audience: authorization.issuer, resource: notes.url, client_id: "keelson" }),
    ]);
    authorization.expire();
    authorization.intercept = at("/token", () => refused);
    expect(await failureOf(servers, manager.callTool("notes", "add", add))).toMatchObject({ reason: "refused" });
  });

  it.each<readonly [option: string, oauth: object]>([
    ["oauth.grant", { grant: "password" }],
    ["oauth.clientId", { grant: "client-credentials", clientSecret: "s" }],
    ["oauth.clientSecret", { grant: "client-credentials", clientId: "c" }],
    ["oauth.clientSecret", { grant: "client-credentials", clientId: "c", clientSecret: "s", privateKey: "p" }],
    ["oauth.clientId", { clientSecret: "s" }],
    ["oauth.privateKey", { clientId: "c", privateKey: "p" }],
    ["oauth.clientMetadataUrl", { clientMetadataUrl: "http://keelson.example/client.json" }],
    ["oauth.identityProvider", { grant: "identity-assertion", clientId: "c", clientSecret: "s", identityProvider: { clientId: "c" } }],
    ["clientID", { clientID: "c" }],
  ])("is not configured by halves: %s %j", (option, oauth) => {
    const wrong = () => createMcpManager({ servers: { notes: { type: "http", url: "https://notes.example/mcp", oauth } } });
    expect(wrong).toThrow(
      expect.objectContaining({ failure: expect.objectContaining({ kind: "invalid-option", option }) as unknown }) as Error,
    );
    expect(wrong).toThrow(AgentError);
  });
});
