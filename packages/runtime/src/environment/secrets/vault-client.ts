import { EnvironmentError, ModelError } from "@keelson/protocol";
import { readTextUpTo, readWholeText, type Transport } from "../../transport/index.ts";
import { parseJson } from "../../json/parse-json.ts";
import { isPlainHttpElsewhere } from "./plain-http.ts";

/** What Vault's HTTP API answers with: https://developer.hashicorp.com/vault/api-docs */
export interface VaultResponse {
  readonly data?: unknown;
  readonly auth?: { readonly client_token?: string; readonly lease_duration?: number; readonly renewable?: boolean } | null;
  readonly lease_id?: string;
  /** Seconds. */
  readonly lease_duration?: number;
  readonly renewable?: boolean;
}

export interface VaultClient {
  get(path: string, token: string | undefined, signal: AbortSignal): Promise<VaultResponse>;
  post(path: string, token: string | undefined, body: object, signal: AbortSignal): Promise<VaultResponse>;
}

/** Vault was reached and said no, or could not be reached (0). What it said is not kept: it may repeat what it was sent. */
export class VaultRefusal extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`Vault responded with status ${status}`);
    this.status = status;
  }

  /** Goes on after the name of what was asked for. */
  get explained(): string {
    return EXPLAINED[this.status] ?? `could not be read: Vault responded with status ${this.status}.`;
  }
}

const EXPLAINED: { readonly [status: number]: string } = {
  0: "could not be read: Vault can't be reached. Check its address and certificate.",
  400: "could not be read: Vault takes this for no valid path. Check the mount and its version (kvMounts).",
  403: "could not be read: the token may not read it, or has expired. Check its policies.",
  404: "is not there.",
  429: "could not be read: Vault is a standby or limits requests. Ask the active node.",
  503: "could not be read: Vault is sealed or under maintenance. Unseal it.",
};
const MAX_RESPONSE_BYTES = 1024 * 1024;

export interface VaultClientOptions {
  readonly address: string | undefined;
  readonly namespace: string | undefined;
  readonly allowPlainHttp: boolean;
  readonly transport: Transport;
}

export function createVaultClient({ address, namespace, allowPlainHttp, transport }: VaultClientOptions): VaultClient {
  const send = async (
    method: "GET" | "POST",
    path: string,
    { token, body, signal }: { readonly token: string | undefined; readonly body?: object; readonly signal: AbortSignal },
  ): Promise<VaultResponse> => {
    const base = checkedAddress(address, allowPlainHttp);
    const url = `${base}/v1/${path.split("/").map(encodeURIComponent).join("/")}`;
    const headers = {
      // Vault refuses requests without it where it is asked to, against forged requests of browsers.
      "x-vault-request": "true",
      ...(token !== undefined && { "x-vault-token": token }),
      ...(namespace !== undefined && { "x-vault-namespace": namespace }),
      ...(body !== undefined && { "content-type": "application/json" }),
    };
    let text: string;
    try {
      const response = await transport.send({
        method,
        url,
        headers,
        signal,
        ...(body !== undefined && { body: [Buffer.from(JSON.stringify(body))] }),
      });
      if (response.status >= 300) {
        await readTextUpTo(response.body, 1);
        throw new VaultRefusal(response.status);
      }
      text = await readWholeText(response.body, [], MAX_RESPONSE_BYTES);
    } catch (error) {
      if (signal.aborted || !ModelError.is(error)) throw error;
      throw new VaultRefusal(0);
    }
    return text === "" ? {} : (parseJson(text) as VaultResponse);
  };
  return {
    get: (path, token, signal) => send("GET", path, { token, signal }),
    post: (path, token, body, signal) => send("POST", path, { token, body, signal }),
  };
}

function checkedAddress(address: string | undefined, allowPlainHttp: boolean): string {
  const refuse = (message: string): EnvironmentError => new EnvironmentError({ kind: "credential-failed", credential: "vault", message });
  if (address === undefined || address === "") throw refuse("Vault has no address: set VAULT_ADDR, or pass address.");
  if (!URL.canParse(address)) throw refuse("The address of Vault is no URL: give one such as https://vault.example.com:8200.");
  if (!allowPlainHttp && isPlainHttpElsewhere(new URL(address)))
    throw refuse("The address of Vault is plain HTTP, which anybody on the way can read: use https, or pass allowPlainHttp.");
  return address.replace(/\/+$/, "");
}
