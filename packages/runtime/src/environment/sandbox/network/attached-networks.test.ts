import type { NetworkInterfaceInfo } from "node:os";
import { describe, expect, it } from "vitest";
import { isAttached } from "./attached-networks.ts";

const attached = (family: "IPv4" | "IPv6", cidr: string): NetworkInterfaceInfo =>
  ({ address: cidr.split("/")[0] ?? "", family, cidr, netmask: "", mac: "", internal: false, scopeid: 0 }) as NetworkInterfaceInfo;

describe("an address of a network that this machine is attached to", () => {
  const interfaces = { eth0: [attached("IPv4", "93.184.216.34/24"), attached("IPv6", "2606:2800:220:1::5/64")] };

  it("is not taken for one of the public internet: this machine, and its neighbours", () => {
    for (const address of ["93.184.216.34", "93.184.216.1", "2606:2800:220:1::5", "2606:2800:220:1::1"])
      expect(isAttached(address, interfaces)).toBe(true);
    for (const address of ["93.184.217.1", "2606:2800:220:2::1"]) expect(isAttached(address, interfaces)).toBe(false);
  });

  it("is only its own where the network is everywhere, as with some tunnels", () => {
    const tunnel = { tun0: [attached("IPv4", "93.184.216.34/0")] };
    expect([isAttached("93.184.216.34", tunnel), isAttached("93.184.216.35", tunnel)]).toEqual([true, false]);
  });
});
