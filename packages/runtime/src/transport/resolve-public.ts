import { checkOptionNames } from "../json/option-names.ts";
import { addressRange, literalAddress } from "./public-address.ts";

/** An address as `dns.lookup` gives it. */
export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

/** Resolves a name to all of its addresses; rejects as `dns.promises.lookup` does. */
export type ResolveHost = (host: string) => Promise<readonly ResolvedAddress[]>;

export interface ResolvePublicOptions {
  /** Default: what programs of this machine get, by `dns.lookup`. */
  readonly resolve?: ResolveHost | undefined;
  /** May an address that isn't public be used all the same? It is asked once for each. Default: no. */
  readonly mayUse?: ((address: string, host: string) => boolean) | undefined;
}

export type PublicAddresses =
  | { readonly ok: true; readonly addresses: readonly ResolvedAddress[] }
  | { readonly ok: false; readonly reason: string };

/**
 * The addresses of a host, for a connection to exactly them: who resolves the name again may get others. Refused where any of them is
 * not public, in whatever form it is written. Rejects where the name can't be resolved.
 */
export async function resolvePublic(host: string, options: ResolvePublicOptions = {}): Promise<PublicAddresses> {
  checkOptionNames("resolvePublic", options, { resolve: true, mayUse: true });
  const { resolve = resolveHere, mayUse = () => false } = options;
  const literal = literalAddress(host);
  const addresses = literal === undefined ? await resolve(host) : [{ address: literal, family: literal.includes(":") ? 6 : 4 }];
  if (addresses.length === 0) return { ok: false, reason: `${host} has no address` };
  for (const { address } of addresses) {
    const range = addressRange(address);
    if (range !== "public" && !mayUse(address, host))
      return { ok: false, reason: `${host === address ? host : `${host} is ${address}, which`} is no public address (${range})` };
  }
  return { ok: true, addresses };
}

async function resolveHere(host: string): Promise<readonly ResolvedAddress[]> {
  const { lookup } = await import("node:dns/promises");
  return lookup(host, { all: true });
}
