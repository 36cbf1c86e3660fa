import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { addressRange, literalAddress } from "./public-address.ts";

const octet = fc.integer({ min: 0, max: 255 });
const v4 = fc.tuple(octet, octet, octet, octet);

describe("the range of an address", () => {
  it.each([
    ["8.8.8.8", "public"],
    ["172.15.255.255", "public"],
    ["172.32.0.0", "public"],
    ["2606:4700:4700::1111", "public"],
    ["127.0.0.1", "loopback"],
    ["127.255.255.254", "loopback"],
    ["::1", "loopback"],
    ["0.0.0.0", "unspecified"],
    ["::", "unspecified"],
    ["10.0.0.1", "private"],
    ["172.31.0.1", "private"],
    ["192.168.1.1", "private"],
    ["100.64.0.1", "private"],
    ["fd12:3456::1", "private"],
    ["169.254.1.1", "link-local"],
    ["fe80::1%eth0", "link-local"],
    ["169.254.169.254", "metadata"],
    ["168.63.129.16", "metadata"],
    ["100.100.100.200", "metadata"],
    ["fd00:ec2::254", "metadata"],
    ["224.0.0.1", "multicast"],
    ["ff02::1", "multicast"],
    ["255.255.255.255", "reserved"],
    ["192.0.2.1", "reserved"],
    ["2001:db8::1", "reserved"],
    ["::7f00:1", "reserved"],
    ["4000::1", "reserved"],
    ["64:ff9b:1::7f00:1", "reserved"],
    ["2002:7f00:1::", "translated"],
    ["2001:0:7f00:1::", "translated"],
    ["64:ff9b::7f00:1", "loopback"],
    ["64:ff9b::808:808", "public"],
    ["::ffff:169.254.169.254", "metadata"],
    ["64:ff9b::10.0.0.1", "private"],
    ["64:ff9b::a9fe:a9fe", "metadata"],
    ["::ffff:8.8.8.8", "public"],
    ["5f00::1", "reserved"],
    ["example.com", "reserved"],
    ["", "reserved"],
  ])("of %s is %s", (address, range) => expect(addressRange(address)).toBe(range));

  it("is that of the address of IPv4 which stands in one of IPv6", () => {
    fc.assert(
      fc.property(v4, ([a, b, c, d]) => {
        const hex = [(a << 8) | b, (c << 8) | d].map((group) => group.toString(16)).join(":");
        const range = addressRange([a, b, c, d].join("."));
        for (const form of [`::ffff:${a}.${b}.${c}.${d}`, `::ffff:${hex}`, `0:0:0:0:0:FFFF:${hex}`, `64:ff9b::${hex}`, `::ffff:${hex}%1`])
          expect(addressRange(form)).toBe(range);
      }),
    );
  });
});

describe("an address in place of a name", () => {
  it("is known in every form that machines take", () => {
    fc.assert(
      fc.property(v4, ([a, b, c, d]) => {
        const plain = `${a}.${b}.${c}.${d}`;
        const whole = ((a * 256 + b) * 256 + c) * 256 + d;
        const octal = (value: number) => `0${value.toString(8)}`;
        const hex = (value: number) => `0x${value.toString(16)}`;
        const forms = [
          plain,
          `${plain}.`,
          `${whole}`,
          octal(whole),
          hex(whole),
          [a, b, c, d].map(octal).join("."),
          [a, b, c, d].map(hex).join("."),
          `${a}.${b}.${c * 256 + d}`,
          `${octal(a)}.${(b * 256 + c) * 256 + d}`,
          plain.replaceAll(".", "。"),
          plain.replace(/[0-9]/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
        ];
        for (const form of forms) expect(literalAddress(form), form).toBe(plain);
      }),
    );
    expect(literalAddress("[::1]")).toBe("::1");
    expect(literalAddress("fe80::1%eth0")).toBe("fe80::1");
  });

  it("is none where the host is a name, or nothing that can be reached", () => {
    for (const name of ["example.com", "localhost", "1.2.3.4.example.com", "127.0.0.1.nip.io", "", "a b", "[nonsense]"])
      expect(literalAddress(name), name).toBeUndefined();
  });
});
