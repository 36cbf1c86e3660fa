import { EnvironmentError } from "@keelson/protocol";
import type { Clock } from "../../platform/clock.ts";
import { createSharedWork } from "./shared-work.ts";
import { type VaultClient, VaultRefusal } from "./vault-client.ts";

export interface VaultAppRole {
  readonly roleId: string;
  readonly secretId: string | (() => string | Promise<string>);
  /** Where the method is mounted. Default `approle`. */
  readonly mount?: string | undefined;
}

/** A token, a function that gives the current one (read from the file of an agent, for one), or an AppRole to log in with. */
export type VaultLogin = string | (() => string | Promise<string | undefined> | undefined) | { readonly appRole: VaultAppRole };

export interface VaultToken {
  /** Does something with a token that holds. One that is refused is replaced once, where another can be had. */
  use<T>(signal: AbortSignal, work: (token: string) => Promise<T>): Promise<T>;
  /** Renews no more. */
  close(): void;
}

interface Held {
  readonly value: string;
  readonly renewable: boolean;
  /** Unix ms; `Infinity` for one that doesn't expire. */
  readonly until: number;
}

/** A token is renewed when two thirds of its time are over. */
const RENEW_AFTER = 2 / 3;
const RETRY_MS = 5000;

export function createVaultToken({
  login,
  client,
  clock,
}: {
  readonly login: VaultLogin;
  readonly client: VaultClient;
  readonly clock: Clock;
}): VaultToken {
  let held: Held | undefined;
  let cancelRenewal = (): void => {};
  let isClosed = false;
  const shared = createSharedWork<Held>();

  const hold = (token: Held): Held => {
    held = token;
    cancelRenewal();
    if (token.renewable && token.until !== Infinity && !isClosed)
      cancelRenewal = clock.after((token.until - clock.now()) * RENEW_AFTER, () => void renew(token), { keepAlive: false });
    return token;
  };

  // In the background, so that a token outlives times without requests. What can't be renewed is found out at its next use.
  const renew = async (token: Held): Promise<void> => {
    try {
      const { auth } = await client.post("auth/token/renew-self", token.value, {}, AbortSignal.timeout(RETRY_MS));
      if (held === token && !isClosed) hold(heldFrom(token.value, auth ?? {}, clock));
    } catch (error) {
      const isLost = error instanceof VaultRefusal && error.status === 403;
      if (held !== token || isClosed) return;
      if (isLost || clock.now() + RETRY_MS >= token.until) held = undefined;
      else cancelRenewal = clock.after(RETRY_MS, () => void renew(token), { keepAlive: false });
    }
  };

  const obtain = async (signal: AbortSignal): Promise<Held> => {
    if (typeof login === "object") {
      const { roleId, secretId, mount = "approle" } = login.appRole;
      const body = { role_id: roleId, secret_id: typeof secretId === "function" ? await secretId() : secretId };
      const { auth } = await client.post(`auth/${mount}/login`, undefined, body, signal);
      if (typeof auth?.client_token !== "string") throw new VaultRefusal(403);
      return hold(heldFrom(auth.client_token, auth, clock));
    }
    const value = typeof login === "function" ? await login() : login;
    if (value === undefined || value === "")
      throw new EnvironmentError({
        kind: "credential-failed",
        credential: "vault",
        message: "Vault has no token: set VAULT_TOKEN, or pass token.",
      });
    try {
      const { data } = await client.get("auth/token/lookup-self", value, signal);
      const { ttl = 0, renewable = false } = (data ?? {}) as { readonly ttl?: number; readonly renewable?: boolean };
      return hold(heldFrom(value, { lease_duration: ttl, renewable }, clock));
    } catch (error) {
      // A policy may forbid a token to look at itself; it may be good for reading all the same.
      if (error instanceof VaultRefusal && error.status === 403) return hold({ value, renewable: false, until: Infinity });
      throw error;
    }
  };

  const current = async (signal: AbortSignal): Promise<Held> => {
    if (held !== undefined && held.until > clock.now()) return held;
    return shared.run("token", signal, obtain);
  };

  return {
    async use(signal, work) {
      const token = await current(signal);
      try {
        return await work(token.value);
      } catch (error) {
        if (!(error instanceof VaultRefusal) || error.status !== 403 || typeof login === "string") throw error;
        if (held === token) held = undefined;
        const other = await current(signal);
        if (other.value === token.value) throw error;
        return work(other.value);
      }
    },
    close() {
      isClosed = true;
      held = undefined;
      cancelRenewal();
    },
  };
}

/** A duration of 0 is that of a token that doesn't expire, a root token for one. */
function heldFrom(
  value: string,
  { lease_duration: seconds = 0, renewable = false }: { readonly lease_duration?: number; readonly renewable?: boolean },
  clock: Clock,
): Held {
  return { value, renewable, until: seconds === 0 ? Infinity : clock.now() + seconds * 1000 };
}
