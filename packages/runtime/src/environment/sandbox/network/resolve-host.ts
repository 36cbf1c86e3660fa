import { isIP } from "node:net";
import { resolvePublic } from "../../../transport/resolve-public.ts";

/** The addresses of a name. */
export type ResolveHost = (host: string) => Promise<readonly string[]>;

/**
 * The addresses to connect to: these, and not the name, so that a second answer of the name server changes nothing.
 * @throws Error that says why there are none: one that isn't public makes all of them doubtful
 */
export async function publicAddressesOf(host: string, resolve?: ResolveHost): Promise<readonly string[]> {
  const found = await resolvePublic(
    host,
    resolve && { resolve: async (name) => (await resolve(name)).map((address) => ({ address, family: isIP(address) })) },
  );
  if (!found.ok) throw new Error(found.reason);
  return found.addresses.map(({ address }) => address);
}
