import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { isPublicAddress } from "./public-address.ts";

/** The addresses of a name. */
export type ResolveHost = (host: string) => Promise<readonly string[]>;

export const resolveWithSystem: ResolveHost = async (host) =>
  (await lookup(host, { all: true, verbatim: false })).map(({ address }) => address);

/**
 * The addresses to connect to: these, and not the name, so that a second answer of the name server changes nothing.
 * @throws Error that says why there are none: one that isn't public makes all of them doubtful
 */
export async function resolvePublic(host: string, resolve: ResolveHost): Promise<readonly string[]> {
  const addresses = isIP(host) === 0 ? await resolve(host) : [host];
  if (addresses.length === 0) throw new Error(`${host} has no address`);
  const inner = addresses.find((address) => !isPublicAddress(address));
  if (inner !== undefined) throw new Error(`${host} stands for ${inner}, which is not a public address`);
  return addresses;
}
