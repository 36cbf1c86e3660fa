import { BlockList, isIP } from "node:net";
import { type NetworkInterfaceInfo, networkInterfaces } from "node:os";

type Interfaces = { readonly [name: string]: readonly NetworkInterfaceInfo[] | undefined };

// A shorter prefix is a tunnel to everywhere, not a neighbourhood.
const LEAST_PREFIX = { IPv4: 8, IPv6: 32 } as const;

/**
 * Whether an address is one of this machine, or of a network that it is attached to. Such an address may look public, as IPv6 ones in a
 * home or an office do, and is still behind the router.
 */
export function isAttached(address: string, interfaces: Interfaces = networkInterfaces()): boolean {
  const near = new BlockList();
  for (const { address: own, cidr, family } of Object.values(interfaces).flatMap((found) => found ?? [])) {
    const type = family === "IPv4" ? "ipv4" : "ipv6";
    const prefix = Number(cidr?.split("/")[1] ?? 0);
    if (prefix < LEAST_PREFIX[family]) near.addAddress(own, type);
    else near.addSubnet(own, prefix, type);
  }
  return near.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
}
