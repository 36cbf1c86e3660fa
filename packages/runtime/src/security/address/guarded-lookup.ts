import type { LookupFunction } from "node:net";
import { checkOptionNames } from "../../json/option-names.ts";
import { resolvePublic, type ResolvePublicOptions } from "../../transport/resolve-public.ts";

/** Why a request may not go where it wants to. */
export class AddressRefused extends Error {
  override readonly name = "AddressRefused";
  readonly code = "ERR_KEELSON_ADDRESS_REFUSED";
}

/**
 * A `lookup` for `http.request`, `net.connect` and their like that gives public addresses only. What is written as an address is connected to
 * without a lookup: check hosts with `resolvePublic` first, or use `createGuardedFetch`, which does both.
 */
export function guardedLookup(options: ResolvePublicOptions = {}): LookupFunction {
  checkOptionNames("guardedLookup", options, { resolve: true, mayUse: true });
  return (host, { all, family }, done) => {
    const answer = async (): Promise<void> => {
      const resolved = await resolvePublic(host, options);
      if (!resolved.ok) throw new AddressRefused(`Refused: ${resolved.reason}.`);
      const wanted = family === 4 || family === "IPv4" ? 4 : family === 6 || family === "IPv6" ? 6 : 0;
      const usable = resolved.addresses.filter((address) => wanted === 0 || address.family === wanted);
      const [first] = usable;
      if (first === undefined) throw new AddressRefused(`${host} has no address of IPv${wanted}.`);
      if (all === true) done(null, [...usable]);
      else done(null, first.address, first.family);
    };
    answer().catch((error: unknown) => done(error as NodeJS.ErrnoException, "", 0));
  };
}
