import { createHash, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import { EnvironmentError } from "@keelson/protocol";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { manualClock } from "../../../test/wires/manual-clock.ts";
import type { Clock } from "../../platform/clock.ts";
import { createAuthorizationCodeCredentials } from "./authorization-code.ts";
import { createClientCredentials } from "./client-credentials.ts";
import { createStaticCredentials } from "./credential-provider.ts";
import { createDeviceCodeCredentials, type DevicePrompt } from "./device-code.ts";
import type { OAuthTokens } from "./oauth-client.ts";

const SECRET = "client secret/canary+1";

/** An authorisation server by the RFCs 6749, 7636, 8628 and 9207, as far as it is asked here. Refresh tokens work once. */
class AuthorizationServer {
  readonly forms: Record<string, string>[] = [];
  readonly refreshTokens = new Set<string>();
  readonly codes = new Map<string, { readonly challenge: string; readonly redirect: string }>();
  readonly responses: string[] = [];
  expiresIn: number | undefined = 3600;
  issued = 0;
  #server: Server = createServer((request, response) => void this.#respond(request, response));
  url = "";

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const form = Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString("utf8")));
    this.forms.push({ ...form, path: request.url ?? "" });
    const [status, body] = this.#answer(request, form);
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  }

  #answer(request: IncomingMessage, form: Record<string, string>): readonly [number, object] {
    const refuse = (error: string): readonly [number, object] => [400, { error, error_description: `${SECRET} was refused` }];
    if (request.url === "/device")
      return [200, { device_code: "dc", user_code: "ABCD-EFGH", verification_uri: `${this.url}/activate`, expires_in: 600, interval: 5 }];
    const [user, password] = Buffer.from(request.headers.authorization?.slice(6) ?? "", "base64")
      .toString("utf8")
      .split(":");
    const secret = password === undefined ? form["client_secret"] : new URLSearchParams(`x=${password}`).get("x");
    if ((user === "" ? form["client_id"] : user) !== "keelson" && form["client_id"] !== "keelson") return refuse("invalid_client");
    switch (form["grant_type"]) {
      case "client_credentials":
        return secret === SECRET ? this.#tokens() : refuse("invalid_client");
      case "refresh_token":
        return this.refreshTokens.delete(form["refresh_token"] ?? "") ? this.#tokens() : refuse("invalid_grant");
      case "urn:ietf:params:oauth:grant-type:device_code": {
        const said = this.responses.shift();
        return said === undefined ? this.#tokens() : refuse(said);
      }
      case "authorization_code": {
        const code = this.codes.get(form["code"] ?? "");
        this.codes.delete(form["code"] ?? "");
        const challenge = createHash("sha256")
          .update(form["code_verifier"] ?? "")
          .digest("base64url");
        return code?.challenge === challenge && code.redirect === form["redirect_uri"] ? this.#tokens() : refuse("invalid_grant");
      }
      default:
        return refuse("unsupported_grant_type");
    }
  }

  #tokens(): readonly [number, object] {
    const refresh = `refresh-${++this.issued}`;
    this.refreshTokens.add(refresh);
    return [
      200,
      {
        access_token: `access-${this.issued}`,
        token_type: "Bearer",
        refresh_token: refresh,
        ...(this.expiresIn !== undefined && { expires_in: this.expiresIn }),
      },
    ];
  }

  /** What a browser does with the address, when its person agrees. */
  async agree(address: string, changed: Record<string, string> = {}): Promise<Response> {
    const { searchParams } = new URL(address);
    const code = randomBytes(6).toString("hex");
    const redirect = new URL(searchParams.get("redirect_uri") ?? "");
    this.codes.set(code, { challenge: searchParams.get("code_challenge") ?? "", redirect: redirect.href });
    for (const [name, value] of Object.entries({ code, state: searchParams.get("state") ?? "", iss: this.url, ...changed }))
      redirect.searchParams.set(name, value);
    return fetch(redirect);
  }
}

/** Every wait is over at the next turn of the event loop. */
function hastyClock(): Clock & { readonly waits: number[] } {
  let now = 0;
  const waits: number[] = [];
  return {
    waits,
    now: () => now,
    after(ms, run) {
      waits.push(ms);
      const turn = setImmediate(() => {
        now += ms;
        run();
      });
      return () => clearImmediate(turn);
    },
  };
}

let server: AuthorizationServer;
beforeEach(async () => {
  server = new AuthorizationServer();
  await server.start();
});
afterEach(() => server.stop());

const base = () => ({ tokenUrl: `${server.url}/token`, clientId: "keelson", connection: { proxyEnvironment: false as const } });
const failureOf = async (asking: Promise<unknown>): Promise<EnvironmentError> => {
  const error: unknown = await asking.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!EnvironmentError.is(error)) throw new Error("expected an EnvironmentError", { cause: error });
  expect(inspect(error, { depth: Infinity, showHidden: true }) + JSON.stringify(error)).not.toMatch(/canary|access-\d|refresh-\d/);
  return error;
};

describe("credentials", () => {
  it("that are static are given as they are, or as they are now", async () => {
    expect(await createStaticCredentials("a").headers()).toEqual({ authorization: "Bearer a" });
    let value = "one";
    const current = createStaticCredentials(async () => value);
    value = "two";
    expect(await current.token()).toBe("two");
  });

  it("of a client are asked for once by many, kept until shortly before their end, and then refreshed once", async () => {
    const clock = manualClock();
    const credentials = createClientCredentials({
      ...base(),
      clientSecret: async () => SECRET,
      scopes: ["a", "b"],
      resource: "https://mcp.example/",
      clock,
    });
    expect(await Promise.all([credentials.token(), credentials.token(), credentials.headers()])).toEqual([
      "access-1",
      "access-1",
      { authorization: "Bearer access-1" },
    ]);
    expect(server.forms).toEqual([{ path: "/token", grant_type: "client_credentials", scope: "a b", resource: "https://mcp.example/" }]);
    await clock.advance(3_539_000);
    expect(await credentials.token()).toBe("access-1");
    await clock.advance(1_000);
    expect(await Promise.all([credentials.token(), credentials.token()])).toEqual(["access-2", "access-2"]);
    expect(server.forms[1]).toMatchObject({ grant_type: "refresh_token", refresh_token: "refresh-1" });
    expect(inspect(credentials, { depth: Infinity, showHidden: true }) + JSON.stringify(credentials)).not.toMatch(
      /access-|refresh-|canary/,
    );
  });

  it("start over when they can't be refreshed, and when a server refused them; a late word about an old token changes nothing", async () => {
    server.expiresIn = undefined;
    const credentials = createClientCredentials({ ...base(), clientSecret: SECRET, clientAuthentication: "post" });
    expect(await credentials.token()).toBe("access-1");
    credentials.refused("access-1");
    expect(await credentials.token()).toBe("access-2");
    credentials.refused("access-1");
    expect(await credentials.token()).toBe("access-2");
    server.refreshTokens.clear();
    credentials.refused("access-2");
    expect(await credentials.token()).toBe("access-3");
    expect(server.forms.map((form) => form["grant_type"])).toEqual([
      "client_credentials",
      "refresh_token",
      "refresh_token",
      "client_credentials",
    ]);
  });

  it("fail with the word of the standard, never with the server's description, and over plain HTTP not at all", async () => {
    const wrong = await failureOf(createClientCredentials({ ...base(), clientSecret: "wrong canary" }).token());
    expect(wrong.failure).toMatchObject({ kind: "credential-failed", credential: "keelson" });
    expect(wrong.message).toContain("responded with invalid_client");
    expect(
      (await failureOf(createClientCredentials({ ...base(), tokenUrl: "http://example.com/token", clientSecret: SECRET }).token())).message,
    ).toContain("use https");
    await server.stop();
    expect((await failureOf(createClientCredentials({ ...base(), clientSecret: SECRET }).token())).message).toContain("no response");
    await server.start();
  });

  it("are shared between processes by a store, also when one used up the refresh token of the other", async () => {
    let kept: OAuthTokens | undefined;
    const store = { load: async () => kept, save: async (tokens: OAuthTokens | undefined) => void (kept = tokens) };
    const open = () => createClientCredentials({ ...base(), clientSecret: SECRET, store });
    const [one, two] = [open(), open()];
    expect([await one.token(), await two.token()]).toEqual(["access-1", "access-1"]);
    one.refused("access-1");
    expect(await one.token()).toBe("access-2");
    two.refused("access-1");
    expect(await two.token()).toBe("access-2");
  });
});

describe("credentials of a person on another device", () => {
  it("are asked for at the pace that the server wants, until the person has agreed", async () => {
    const clock = hastyClock();
    server.responses.push("authorization_pending", "slow_down", "authorization_pending");
    const prompts: DevicePrompt[] = [];
    const credentials = createDeviceCodeCredentials({
      ...base(),
      deviceAuthorizationUrl: `${server.url}/device`,
      prompt: (prompt) => prompts.push(prompt),
      clock,
    });
    expect(await credentials.token()).toBe("access-1");
    expect(prompts).toEqual([{ userCode: "ABCD-EFGH", verificationUri: `${server.url}/activate`, expiresAt: 600_000 }]);
    expect(clock.waits).toEqual([5000, 5000, 10_000, 10_000]);
  });

  it("fail when the person refuses, or does nothing until the code is over", async () => {
    const token = (): Promise<string> =>
      createDeviceCodeCredentials({
        ...base(),
        deviceAuthorizationUrl: `${server.url}/device`,
        prompt: () => {},
        clock: hastyClock(),
      }).token();
    server.responses.push("access_denied");
    expect((await failureOf(token())).message).toContain("access_denied");
    server.responses.push(...Array<string>(200).fill("authorization_pending"));
    expect((await failureOf(token())).message).toContain("nobody entered the code in time");
  });
});

describe("credentials of a person in a browser", () => {
  const open = (options: Partial<Parameters<typeof createAuthorizationCodeCredentials>[0]> & { readonly open: (url: string) => unknown }) =>
    createAuthorizationCodeCredentials({
      ...base(),
      authorizationUrl: `${server.url}/authorize?tenant=7`,
      scopes: ["read"],
      issuer: server.url,
      ...options,
    });

  it("come with PKCE over an address of this machine, and what comes there uncalled changes nothing", async () => {
    let opened = "";
    const credentials = open({
      open: async (url) => {
        opened = url;
        expect((await server.agree(url, { state: "guessed" })).status).toBe(400);
        expect((await server.agree(url)).status).toBe(200);
      },
    });
    expect(await credentials.token()).toBe("access-1");
    const query = new URL(opened).searchParams;
    expect(query.get("tenant")).toBe("7");
    expect(query.get("code_challenge_method")).toBe("S256");
    expect(query.get("redirect_uri")).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
    await expect(fetch(query.get("redirect_uri") ?? "")).rejects.toThrow();
  });

  it("fail when the person refuses, another server responds, or nobody comes in time", async () => {
    const refused = open({
      open: (url) =>
        fetch(
          `${new URL(url).searchParams.get("redirect_uri")}?error=access_denied&iss=${server.url}&state=${new URL(url).searchParams.get("state")}`,
        ),
    });
    expect((await failureOf(refused.token())).message).toContain("access_denied");
    const mixed = open({ open: (url) => server.agree(url, { iss: "https://evil.example" }) });
    expect((await failureOf(mixed.token())).message).toContain("another authorisation server");
    const late = open({ open: () => {}, clock: hastyClock(), timeoutMs: 1000 });
    expect((await failureOf(late.token())).message).toContain("nobody agreed within 1000 ms");
  });

  it("are given up when nobody waits for them any more", async () => {
    const controller = new AbortController();
    const { promise: opened, resolve } = Promise.withResolvers<string>();
    const failed = failureOf(open({ open: resolve }).token({ signal: controller.signal }));
    const url = await opened;
    controller.abort();
    expect((await failed).failure.kind).toBe("cancelled");
    await expect
      .poll(() =>
        fetch(new URL(url).searchParams.get("redirect_uri") ?? "").then(
          (response) => response.status,
          () => "closed",
        ),
      )
      .toBe("closed");
  });
});
