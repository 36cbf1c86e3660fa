import { EnvironmentError } from "@keelson/protocol";
import { jsonText } from "../../json/parse-json.ts";
import { checkOptionNames } from "../../json/option-names.ts";
import { type Clock, systemClock } from "../../platform/clock.ts";
import { createTransport, type TransportOptions } from "../../transport/index.ts";
import { secretFailed } from "./secret-failure.ts";
import type { SecretSource } from "./secret-source.ts";
import { createSharedWork } from "./shared-work.ts";
import { createVaultClient, VaultRefusal } from "./vault-client.ts";
import { createVaultToken, type VaultLogin } from "./vault-token.ts";

export interface VaultSecretsOptions {
  /** As in `https://vault.example.com:8200`. Default `VAULT_ADDR`. */
  readonly address?: string | undefined;
  /** A token, a function that gives the current one, or an AppRole. Default `VAULT_TOKEN`. */
  readonly token?: VaultLogin | undefined;
  /** Of Vault Enterprise. Default `VAULT_NAMESPACE`. */
  readonly namespace?: string | undefined;
  /** Mounts of the key-value engine, version 2. What is mounted elsewhere is read as it stands, with its leases. Default `["secret"]`. */
  readonly kvMounts?: readonly string[] | undefined;
  /** How long a value without a lease may be used again. Default: the resolver's `cacheMs`. */
  readonly ttlMs?: number | undefined;
  /** Tokens and secrets would cross the network readable. Default false: only addresses of this machine may be plain HTTP. */
  readonly allowPlainHttp?: boolean | undefined;
  readonly connection?: TransportOptions | undefined;
  readonly clock?: Clock | undefined;
}

interface Held {
  readonly fields: { readonly [name: string]: unknown };
  readonly lease?: { readonly id: string; readonly renewable: boolean };
  readonly durationMs: number;
  /** Unix ms; `Infinity` without a lease, where nothing is held beyond one reading. */
  readonly until: number;
}

/** A lease is renewed when less than this part of it is left. */
const RENEW_BELOW = 1 / 3;

/**
 * `vault:mount/path#field`: HashiCorp Vault over its HTTP API: key-value version 2 (`vault:secret/app/db#password`), and engines with
 * leases (`vault:database/creds/app#username`), whose fields come from one lease, which is renewed while it is used and revoked on close.
 */
export function createVaultSecrets(options: VaultSecretsOptions = {}): SecretSource & Required<Pick<SecretSource, "close">> {
  checkOptionNames("createVaultSecrets", options, {
    address: true,
    token: true,
    namespace: true,
    kvMounts: true,
    ttlMs: true,
    allowPlainHttp: true,
    connection: true,
    clock: true,
  });
  const { kvMounts = ["secret"], clock = systemClock, ttlMs } = options;
  const client = createVaultClient({
    address: options.address ?? process.env["VAULT_ADDR"],
    namespace: options.namespace ?? process.env["VAULT_NAMESPACE"],
    allowPlainHttp: options.allowPlainHttp ?? false,
    transport: createTransport(options.connection),
  });
  const token = createVaultToken({ login: options.token ?? (() => process.env["VAULT_TOKEN"]), client, clock });
  const held = new Map<string, Held>();
  const shared = createSharedWork<Held>();

  const readPath = async (path: string, signal: AbortSignal): Promise<Held> => {
    const mount = kvMounts.find((each) => path.startsWith(`${each}/`));
    const place = mount === undefined ? path : `${mount}/data/${path.slice(mount.length + 1)}`;
    const {
      data,
      lease_id: id,
      lease_duration: seconds = 0,
      renewable = false,
    } = await token.use(signal, (value) => client.get(place, value, signal));
    const fields = (mount === undefined ? data : (data as { readonly data?: unknown } | undefined)?.data) as
      | Held["fields"]
      | null
      | undefined;
    // A version that was deleted has metadata alone.
    if (fields === null || fields === undefined) throw new VaultRefusal(404);
    const durationMs = seconds * 1000;
    if (id === undefined || id === "") return { fields, durationMs: 0, until: Infinity };
    return { fields, lease: { id, renewable }, durationMs, until: clock.now() + durationMs };
  };

  const renewed = async (old: Held, lease: NonNullable<Held["lease"]>, signal: AbortSignal): Promise<Held | undefined> => {
    try {
      const body = { lease_id: lease.id, increment: Math.ceil(old.durationMs / 1000) };
      const { lease_duration: seconds = 0, renewable = false } = await token.use(signal, (value) =>
        client.post("sys/leases/renew", value, body, signal),
      );
      const until = clock.now() + seconds * 1000;
      // A lease near its longest life is renewed for less each time.
      return seconds * 1000 < old.durationMs * RENEW_BELOW ? undefined : { ...old, lease: { ...lease, renewable }, until };
    } catch (error) {
      if (error instanceof VaultRefusal) return undefined;
      throw error;
    }
  };

  const current = async (path: string, signal: AbortSignal): Promise<Held> => {
    const old = held.get(path);
    if (old?.lease !== undefined) {
      const left = old.until - clock.now();
      if (left > old.durationMs * RENEW_BELOW) return old;
      const longer = left > 0 && old.lease.renewable ? await renewed(old, old.lease, signal) : undefined;
      if (longer !== undefined) {
        held.set(path, longer);
        return longer;
      }
    }
    const fresh = await readPath(path, signal);
    if (fresh.lease === undefined) held.delete(path);
    else held.set(path, fresh);
    return fresh;
  };

  return {
    scheme: "vault",
    async read(name, { signal }) {
      const reference = `vault:${name}`;
      const [path, field] = splitPath(name, reference);
      let found: Held;
      try {
        found = await shared.run(path, signal, (both) => current(path, both));
      } catch (error) {
        if (!(error instanceof VaultRefusal)) throw error;
        if (error.status === 404) return undefined;
        throw secretFailed(reference, error.explained);
      }
      const value = Object.hasOwn(found.fields, field) ? found.fields[field] : undefined;
      if (value === undefined || value === null) throw secretFailed(reference, `has no field "${field}". Write the field after #.`);
      const text = typeof value === "string" ? value : jsonText(value);
      // Until it should be renewed, so that a lease in use is renewed before it ends.
      if (found.lease !== undefined) return { value: text, ttlMs: Math.max(0, found.until - found.durationMs * RENEW_BELOW - clock.now()) };
      return { value: text, ...(ttlMs !== undefined && { ttlMs }) };
    },
    async close() {
      const leases = [...held.values()].flatMap(({ lease }) => (lease === undefined ? [] : [lease.id]));
      held.clear();
      const signal = AbortSignal.timeout(10_000);
      try {
        for (const id of leases) await token.use(signal, (value) => client.post("sys/leases/revoke", value, { lease_id: id }, signal));
      } catch (error) {
        if (!(error instanceof VaultRefusal)) throw error;
        throw new EnvironmentError({
          kind: "other",
          message: `A lease of Vault could not be revoked, and ends by itself: Vault ${error.explained}`,
        });
      } finally {
        token.close();
      }
    },
  };
}

function splitPath(name: string, reference: string): readonly [path: string, field: string] {
  const hash = name.lastIndexOf("#");
  const [path, field] = [name.slice(0, Math.max(0, hash)), name.slice(hash + 1)];
  if (
    path === "" ||
    field === "" ||
    !path.includes("/") ||
    !/^[\w./@ -]+$/.test(path) ||
    path.split("/").some((part) => part === "" || part === "." || part === "..")
  )
    throw secretFailed(reference, "names no field of a secret: write vault:mount/path#field.");
  return [path, field];
}
