import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { resolvePublic } from "../../../transport/resolve-public.ts";
import { isAttached } from "./attached-networks.ts";
import { normalHost } from "./host-pattern.ts";

/** The addresses of a name. */
export type ResolveHost = (host: string) => Promise<readonly string[]>;

let lookups: Promise<unknown> = Promise.resolve();

/**
 * Asks the system, for one name at a time: few threads of this process do that, and a command that asks for many slow names must leave
 * one to the others. The dot keeps the system from trying `host.domain-of-this-machine`, which no rule was asked about.
 */
const resolveWithSystem: ResolveHost = (host) => {
  const found = lookups.then(() => lookup(`${host}.`, { all: true }));
  lookups = found.catch(() => {});
  return found.then((addresses) => addresses.map(({ address }) => address));
};

/**
 * The addresses to connect to, in their usual spelling: these, and not the name, so that a second answer of the name server changes nothing.
 * @throws Error that says why there are none: one that isn't public makes all of them doubtful
 */
export async function publicAddressesOf(host: string, resolve: ResolveHost = resolveWithSystem): Promise<readonly string[]> {
  const found = await resolvePublic(host, {
    resolve: async (name) => (await resolve(name)).map((address) => ({ address, family: isIP(address) })),
  });
  if (!found.ok) throw new Error(found.reason);
  const addresses = found.addresses.map(({ address }) => normalHost(address) ?? address);
  const near = addresses.find((address) => isAttached(address));
  if (near !== undefined) throw new Error(`${host} stands for ${near}, which is of this machine or of a network that it is attached to`);
  return addresses;
}
