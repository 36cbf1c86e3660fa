import { BlockList, isIP } from "node:net";

/** What an address is about. Only what is `public` may be reached on behalf of a model. */
export type AddressRange =
  | "public"
  | "unspecified"
  | "loopback"
  | "private"
  | "link-local"
  | "metadata"
  | "multicast"
  | "translated"
  | "reserved";

type Row = readonly [range: AddressRange, network: string, prefix: number];

/**
 * The registries of special addresses (RFC 6890 and what IANA added to it), and where clouds tell a machine its credentials. The
 * first row that holds an address decides.
 */
const SPECIAL_V4: readonly Row[] = [
  ["metadata", "169.254.169.254", 32],
  ["metadata", "169.254.170.2", 32], // Amazon's containers
  ["metadata", "169.254.170.23", 32],
  ["metadata", "100.100.100.200", 32], // Alibaba
  ["metadata", "168.63.129.16", 32], // Azure; would be public by its range
  ["metadata", "192.0.0.192", 32], // Oracle
  ["unspecified", "0.0.0.0", 8],
  ["loopback", "127.0.0.0", 8],
  ["private", "10.0.0.0", 8],
  ["private", "172.16.0.0", 12],
  ["private", "192.168.0.0", 16],
  ["private", "100.64.0.0", 10], // shared by the customers of a carrier
  ["link-local", "169.254.0.0", 16],
  ["multicast", "224.0.0.0", 4],
  ["reserved", "192.0.0.0", 24],
  ["reserved", "192.0.2.0", 24],
  ["reserved", "192.31.196.0", 24],
  ["reserved", "192.52.193.0", 24],
  ["reserved", "192.88.99.0", 24],
  ["reserved", "192.175.48.0", 24],
  ["reserved", "198.18.0.0", 15],
  ["reserved", "198.51.100.0", 24],
  ["reserved", "203.0.113.0", 24],
  ["reserved", "240.0.0.0", 4],
];

const SPECIAL_V6: readonly Row[] = [
  ["metadata", "fd00:ec2::254", 128],
  ["metadata", "fd00:ec2::23", 128],
  ["metadata", "fd20:ce::254", 128],
  ["unspecified", "::", 128],
  ["loopback", "::1", 128],
  ["private", "fc00::", 7],
  ["private", "fec0::", 10],
  ["link-local", "fe80::", 10],
  ["multicast", "ff00::", 8],
  ["translated", "2001::", 32], // Teredo
  ["translated", "2002::", 16], // 6to4
  ["reserved", "2001::", 23],
  ["reserved", "2001:db8::", 32],
  ["reserved", "2620:4f:8000::", 48],
  ["reserved", "3fff::", 20],
];

type Table = readonly (readonly [AddressRange, BlockList])[];

interface Tables {
  readonly v4: Table;
  readonly v6: Table;
  readonly globalUnicast: BlockList;
}

let made: Tables | undefined;

/** Made with the first address, so that importing costs nothing and bundles without transports need no `node:net`. */
function tables(): Tables {
  if (made !== undefined) return made;
  const globalUnicast = new BlockList();
  globalUnicast.addSubnet("2000::", 3, "ipv6");
  return (made = { v4: tableOf(SPECIAL_V4, "ipv4"), v6: tableOf(SPECIAL_V6, "ipv6"), globalUnicast });
}

/**
 * What an address of IPv4 or IPv6 in a numeric form is about. An address of IPv4 inside of one of IPv6 is judged as what it is, where a
 * machine would take it for that (`::ffff:a.b.c.d`, and `64:ff9b::a.b.c.d` of NAT64); other tunnels are `translated`. What is no
 * address is `reserved`.
 */
export function addressRange(address: string): AddressRange {
  const [bare = ""] = address.split("%");
  const family = isIP(bare);
  if (family === 4) return lookUp(tables().v4, bare, "ipv4") ?? "public";
  if (family !== 6) return "reserved";
  const inner = embeddedV4(bare);
  if (inner !== undefined) return addressRange(inner);
  const { v6, globalUnicast } = tables();
  return lookUp(v6, bare, "ipv6") ?? (globalUnicast.check(bare, "ipv6") ? "public" : "reserved");
}

/** Whether an address may be reached on behalf of a model. One of IPv4 within IPv6 counts as what it is. */
export function isPublicAddress(address: string): boolean {
  return addressRange(address) === "public";
}

/**
 * The address that a host is written as, in its usual form, in whatever form it was written: `2130706433`, `0x7f.1`, `0177.0.0.1`,
 * `127.0.0.1.`, `[::1]`. `undefined` for a name, which has to be resolved.
 */
export function literalAddress(host: string): string | undefined {
  const bare = host.replace(/^\[(.*)\]$/s, "$1");
  const [withoutZone = ""] = bare.split("%");
  if (isIP(withoutZone) === 6) return withoutZone;
  const { hostname = "" } = URL.parse(`http://${bare}/`) ?? {};
  const numeric = hostname.replace(/\.$/, "");
  return isIP(numeric) === 4 ? numeric : undefined;
}

function tableOf(rows: readonly Row[], family: "ipv4" | "ipv6"): Table {
  return rows.map(([range, network, prefix]) => {
    const list = new BlockList();
    list.addSubnet(network, prefix, family);
    return [range, list];
  });
}

function lookUp(rows: Table, address: string, family: "ipv4" | "ipv6"): AddressRange | undefined {
  return rows.find(([, list]) => list.check(address, family))?.[0];
}

function embeddedV4(address: string): string | undefined {
  const groups = groupsOf(address);
  const isIn = (...prefix: readonly number[]): boolean => prefix.every((group, index) => groups[index] === group);
  if (!isIn(0, 0, 0, 0, 0, 0xffff) && !isIn(0x64, 0xff9b, 0, 0, 0, 0)) return undefined;
  return groups
    .slice(6)
    .flatMap((group) => [group >> 8, group & 255])
    .join(".");
}

/** The eight numbers of an address of IPv6. */
function groupsOf(address: string): readonly number[] {
  // The platform writes it in its shortest form, without dots.
  const shortest = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  const [left = [], right = []] = shortest
    .split("::")
    .map((half) => (half === "" ? [] : half.split(":").map((group) => parseInt(group, 16))));
  return shortest.includes("::") ? [...left, ...Array<number>(8 - left.length - right.length).fill(0), ...right] : left;
}
