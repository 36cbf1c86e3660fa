import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import { EnvironmentError } from "@keelson/protocol";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { manualClock } from "../../../test/wires/manual-clock.ts";
import type { Clock } from "../../platform/clock.ts";
import { createSecretResolver } from "./secret-resolver.ts";
import { createVaultSecrets, type VaultSecretsOptions } from "./vault-secrets.ts";

/**
 * A Vault written from its documentation (https://developer.hashicorp.com/vault/api-docs: secret/kv/kv-v2, auth/token, auth/approle,
 * system/leases, secret/databases), as far as it is asked here. No Vault was run.
 */
class DocumentedVault {
  readonly requests: string[] = [];
  readonly tokens = new Map<string, { ttl: number; renewable: boolean }>();
  readonly leases = new Map<string, { readonly path: string }>();
  readonly kv = new Map<string, object | null>();
  renewals = 0;
  renewedSeconds = 3600;
  status: number | undefined;
  namespace: string | undefined;
  #issued = 0;
  readonly #server: Server = createServer((request, response) => {
    void this.#respond(request).then(([status, body]) => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(body === undefined ? "" : JSON.stringify(body));
    });
  });

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #respond(request: IncomingMessage): Promise<readonly [number, unknown]> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = (chunks.length === 0 ? {} : JSON.parse(Buffer.concat(chunks).toString("utf8"))) as Record<string, string>;
    const path = decodeURIComponent((request.url ?? "").replace(/^\/v1\//, ""));
    this.requests.push(`${request.method} ${path}`);
    if (this.status !== undefined) return [this.status, { errors: ["told: s.token-canary"] }];
    if (request.headers["x-vault-request"] !== "true") return [400, { errors: ["missing header"] }];
    this.namespace = request.headers["x-vault-namespace"] as string | undefined;
    if (path === "auth/approle/login") {
      if (body["role_id"] !== "role" || body["secret_id"] !== "secret-id") return [400, { errors: ["invalid role or secret ID"] }];
      const token = `s.issued-${++this.#issued}`;
      this.tokens.set(token, { ttl: 1200, renewable: true });
      return [200, { auth: { client_token: token, lease_duration: 1200, renewable: true } }];
    }
    const token = this.tokens.get(String(request.headers["x-vault-token"]));
    if (token === undefined) return [403, { errors: ["permission denied"] }];
    if (path === "auth/token/lookup-self") return [200, { data: { ttl: token.ttl, renewable: token.renewable } }];
    if (path === "auth/token/renew-self") {
      this.renewals++;
      return [200, { auth: { client_token: String(request.headers["x-vault-token"]), lease_duration: token.ttl, renewable: true } }];
    }
    if (path === "sys/leases/renew")
      return this.leases.has(String(body["lease_id"]))
        ? [200, { lease_id: body["lease_id"], lease_duration: this.renewedSeconds, renewable: true }]
        : [400, { errors: ["lease not found"] }];
    if (path === "sys/leases/revoke") return [this.leases.delete(String(body["lease_id"])) ? 204 : 400, undefined];
    if (path.startsWith("secret/data/")) {
      const data = this.kv.get(path.slice("secret/data/".length));
      if (data === undefined) return [404, { errors: [] }];
      return [
        data === null ? 404 : 200,
        {
          data: { data, metadata: { version: 1, deletion_time: data === null ? "2026-01-01T00:00:00Z" : "" } },
          lease_id: "",
          lease_duration: 0,
        },
      ];
    }
    if (path.startsWith("database/creds/")) {
      const lease = `${path}/${++this.#issued}`;
      this.leases.set(lease, { path });
      return [
        200,
        {
          lease_id: lease,
          lease_duration: 3600,
          renewable: true,
          data: { username: `user-${this.#issued}`, password: `pw-${this.#issued}` },
        },
      ];
    }
    return [404, { errors: [] }];
  }
}

type TestClock = Clock & { advance(ms: number): Promise<void> };

let vault: DocumentedVault;
let address: string;
beforeEach(async () => {
  vault = new DocumentedVault();
  address = await vault.start();
  vault.tokens.set("s.token-canary", { ttl: 1200, renewable: true });
});
afterEach(() => vault.stop());

const open = (options: VaultSecretsOptions = {}) => {
  const clock = (options.clock as TestClock | undefined) ?? manualClock();
  const source = createVaultSecrets({ address, token: "s.token-canary", clock, connection: { proxyEnvironment: false }, ...options });
  return { clock, secrets: createSecretResolver({ sources: [source], clock }) };
};
const failureOf = async (resolving: Promise<unknown>): Promise<EnvironmentError> => {
  const error: unknown = await resolving.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!EnvironmentError.is(error)) throw new Error("expected an EnvironmentError", { cause: error });
  expect(inspect(error, { depth: Infinity, showHidden: true }) + JSON.stringify(error)).not.toContain("s.token-canary");
  return error;
};
/** A number that is sent with these digits. */
const raw = (digits: string): unknown => (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(digits);
const count = (request: string): number => vault.requests.filter((each) => each === request).length;

describe("secrets in Vault, as documented [LA-20]", () => {
  it("are fields of key-value secrets, kept as long as the resolver keeps values", async () => {
    vault.kv.set("app/db", {
      password: "hunter2",
      port: 5432,
      account: raw("1917043659912705296"),
      nested: { ids: [raw("9007199254740993")] },
    });
    const { secrets, clock } = open({ namespace: "team" });
    expect(await secrets.resolve("vault:secret/app/db#password")).toBe("hunter2");
    expect(await secrets.resolve("vault:secret/app/db#port")).toBe("5432");
    expect(await secrets.resolve("vault:secret/app/db#password")).toBe("hunter2");
    expect(count("GET secret/data/app/db")).toBe(2);
    expect(await secrets.resolve("vault:secret/app/db#account")).toBe("1917043659912705296");
    expect(await secrets.resolve("vault:secret/app/db#nested")).toBe('{"ids":[9007199254740993]}');
    expect(vault.namespace).toBe("team");
    await clock.advance(60_000);
    vault.kv.set("app/db", { password: "changed" });
    expect(await secrets.resolve("vault:secret/app/db#password")).toBe("changed");
  });

  it("that are missing, deleted, forbidden or named wrongly are told apart", async () => {
    vault.kv.set("app/db", { password: "hunter2" });
    vault.kv.set("gone", null);
    const { secrets } = open();
    for (const [name, problem] of [
      ["secret/none#x", "was not found"],
      ["secret/gone#x", "was not found"],
      ["secret/app/db#user", 'has no field "user"'],
      ["secret/app/db#__proto__", "has no field"],
      ["secret/app/db", "write vault:mount/path#field"],
      ["secret/../sys/seal#x", "write vault:mount/path#field"],
      ["secret#x", "write vault:mount/path#field"],
    ] as const)
      expect((await failureOf(secrets.resolve(`vault:${name}`))).message).toContain(problem);
    expect((await failureOf(open({ token: "s.wrong" }).secrets.resolve("vault:secret/app/db#password"))).message).toContain(
      "may not read it",
    );
    for (const [status, problem] of [
      [503, "sealed"],
      [429, "standby"],
      [500, "status 500"],
    ] as const) {
      vault.status = status;
      expect((await failureOf(open().secrets.resolve("vault:secret/app/db#password"))).message).toContain(problem);
    }
  });

  it("are asked for over HTTPS, or within this machine, and nowhere when there is no address or no token", async () => {
    const problem = async (options: VaultSecretsOptions): Promise<string> =>
      (await failureOf(open(options).secrets.resolve("vault:secret/a#b"))).message;
    expect(await problem({ address: "http://vault.example.com:8200" })).toContain("plain HTTP");
    expect(await problem({ address: "" })).toContain("set VAULT_ADDR");
    expect(await problem({ token: () => undefined })).toContain("set VAULT_TOKEN");
    await vault.stop();
    expect(await problem({})).toContain("can't be reached");
    expect(vault.requests).toEqual([]);
    await vault.start();
  });

  it("keep their token alive while nothing is asked, until they are closed", async () => {
    vault.kv.set("a", { b: "c" });
    const time = manualClock();
    let armed = 0;
    const clock: TestClock = {
      ...time,
      after(ms, run, options) {
        if (options?.keepAlive === false) armed++;
        return time.after(ms, run);
      },
    };
    const { secrets } = open({ clock });
    await secrets.resolve("vault:secret/a#b");
    for (const renewals of [1, 2, 3]) {
      await clock.advance(800_000);
      await expect.poll(() => [vault.renewals, armed]).toEqual([renewals, renewals + 1]);
    }
    expect(count("GET auth/token/lookup-self")).toBe(1);
    await secrets[Symbol.asyncDispose]();
    await clock.advance(10_000_000);
    expect(vault.renewals).toBe(3);
  });

  it("log in with an AppRole, and once more when the token is refused", async () => {
    vault.kv.set("a", { b: "c" });
    const { secrets } = open({ token: { appRole: { roleId: "role", secretId: async () => "secret-id" } } });
    expect(await Promise.all([secrets.resolve("vault:secret/a#b"), secrets.resolve("vault:secret/a#b")])).toEqual(["c", "c"]);
    vault.tokens.clear();
    secrets.forget();
    expect(await secrets.resolve("vault:secret/a#b")).toBe("c");
    expect(count("POST auth/approle/login")).toBe(2);
    const wrong = open({ token: { appRole: { roleId: "role", secretId: "wrong" } } });
    expect((await failureOf(wrong.secrets.resolve("vault:secret/a#b"))).failure.kind).toBe("credential-failed");
  });

  it("with a lease come from one lease, which is renewed in use, replaced at its end and revoked on close", async () => {
    const { secrets, clock } = open();
    const [user, password] = await Promise.all([
      secrets.resolve("vault:database/creds/app#username"),
      secrets.resolve("vault:database/creds/app#password"),
    ]);
    expect([user, password]).toEqual(["user-1", "pw-1"]);
    await clock.advance(2_500_000);
    expect(await secrets.resolve("vault:database/creds/app#password")).toBe("pw-1");
    expect(count("POST sys/leases/renew")).toBe(1);
    // Near the longest life of the lease Vault grants less than was asked for.
    vault.renewedSeconds = 60;
    await clock.advance(2_500_000);
    expect(await secrets.resolve("vault:database/creds/app#password")).toBe("pw-2");
    await clock.advance(3_700_000);
    expect(await secrets.resolve("vault:database/creds/app#username")).toBe("user-3");
    await secrets[Symbol.asyncDispose]();
    expect([...vault.leases.keys()]).not.toContain("database/creds/app/3");
  });
});
