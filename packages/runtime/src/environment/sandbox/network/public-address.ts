import { BlockList, isIP } from "node:net";

// IANA's registries of special-purpose addresses, and services of clouds at addresses that look public.
const RESERVED_4: readonly (readonly [string, number])[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["168.63.129.16", 32], // Azure's platform
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
];
// Only 2000::/3 is given out; these parts of it carry other addresses, or are for documentation.
const RESERVED_6: readonly (readonly [string, number])[] = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
];

const reserved = new BlockList();
for (const [address, prefix] of RESERVED_4) reserved.addSubnet(address, prefix, "ipv4");
for (const [address, prefix] of RESERVED_6) reserved.addSubnet(address, prefix, "ipv6");
const given = new BlockList();
given.addSubnet("2000::", 3, "ipv6");

/** Whether an address is one of the public internet: not loopback, private, link-local, a cloud's metadata, multicast, nor an IPv4 address within IPv6. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !reserved.check(address, "ipv4");
    case 6:
      return !address.includes("%") && given.check(address, "ipv6") && !reserved.check(address, "ipv6");
    default:
      return false;
  }
}
