import { describe, expect, it } from "vitest";
import { resolvePublic, type ResolveHost } from "./resolve-public.ts";

const resolvesTo =
  (...addresses: readonly string[]): ResolveHost =>
  async () =>
    addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));

describe("resolving a host for a connection", () => {
  it("gives all addresses, so that the connection goes to exactly these", async () => {
    expect(await resolvePublic("example.com", { resolve: resolvesTo("93.184.215.14", "2606:2800:21f::1") })).toEqual({
      ok: true,
      addresses: [
        { address: "93.184.215.14", family: 4 },
        { address: "2606:2800:21f::1", family: 6 },
      ],
    });
  });

  it("refuses a name with one address inside among public ones, and says which", async () => {
    expect(await resolvePublic("rebind.example", { resolve: resolvesTo("93.184.215.14", "169.254.169.254") })).toEqual({
      ok: false,
      reason: "rebind.example is 169.254.169.254, which is no public address (metadata)",
    });
  });

  it("judges addresses as they are written, without asking anybody", async () => {
    const resolve: ResolveHost = () => expect.unreachable("an address was resolved");
    expect(await resolvePublic("0x7f.1", { resolve })).toMatchObject({ ok: false, reason: expect.stringContaining("127.0.0.1") });
    expect(await resolvePublic("[::ffff:10.0.0.1]", { resolve })).toMatchObject({ ok: false });
    expect(await resolvePublic("134744072", { resolve })).toEqual({ ok: true, addresses: [{ address: "8.8.8.8", family: 4 }] });
  });

  it("lets through what it is told to", async () => {
    const mayUse = (address: string, host: string) => host === "db.internal" && address === "10.0.0.7";
    expect(await resolvePublic("db.internal", { resolve: resolvesTo("10.0.0.7"), mayUse })).toMatchObject({ ok: true });
    expect(await resolvePublic("db.internal", { resolve: resolvesTo("10.0.0.8"), mayUse })).toMatchObject({ ok: false });
  });

  it("refuses a name without addresses, and names of this machine", async () => {
    expect(await resolvePublic("nothing.example", { resolve: resolvesTo() })).toEqual({
      ok: false,
      reason: "nothing.example has no address",
    });
    expect(await resolvePublic("localhost")).toMatchObject({ ok: false, reason: expect.stringContaining("loopback") });
  });
});
