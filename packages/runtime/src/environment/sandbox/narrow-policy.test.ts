import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createNetworkRules } from "./network/network-rules.ts";
import { narrowPolicy } from "./narrow-policy.ts";
import { accessTo } from "./policy-access.ts";
import { isListed } from "./program-list.ts";
import type { SandboxPolicy } from "./sandbox-policy.ts";

const path = fc.array(fc.constantFrom("a", "b"), { maxLength: 3 }).map((parts) => `/${parts.join("/")}`);
const paths = fc.array(path, { maxLength: 4 });
const hosts = [
  "a.test",
  "*.a.test",
  "b.a.test",
  "*.b.a.test",
  "a.test:443",
  "*.a.test:8443",
  "b.a.test:80",
  "9.9.9.9",
  "[2620:fe::fe]:443",
];
const host = fc.constantFrom(...hosts);
const programs = ["npm", "/usr/bin/npm", "curl", "/opt/curl", "/bin/curl"];
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const policy = fc.record({
  filesystem: fc.record({ writableRoots: paths, readableRoots: optional(paths), deniedPaths: paths }),
  network: optional(fc.record({ enabled: fc.boolean(), allowedDomains: optional(fc.subarray(hosts)), deniedDomains: fc.subarray(hosts) })),
  commands: optional(fc.record({ allowed: optional(fc.subarray(programs)), denied: fc.subarray(programs) })),
}) as fc.Arbitrary<SandboxPolicy>;

const LEVELS = { write: 2, read: 1, none: 0 };
const isReached = ({ network }: SandboxPolicy, name: string, port: number): boolean =>
  network?.enabled === true && createNetworkRules(network).refusal(name, port) === undefined;
const isAllowed = ({ commands: { allowed, denied = [] } = {} }: SandboxPolicy, program: string): boolean =>
  !denied.includes(program) && (allowed === undefined || isListed(allowed, program));

describe("two policies at once", () => {
  it("let a path be written where both do, and never show what one of them hides [AG-21] [MC-13]", () => {
    fc.assert(
      fc.property(policy, policy, path, (a, b, at) => {
        const both = accessTo(narrowPolicy(a, b).filesystem ?? {}, at);
        const least = Math.min(...[a, b].map(({ filesystem = {} }) => LEVELS[accessTo(filesystem, at)]));
        expect(LEVELS[both]).toBeLessThanOrEqual(least);
        expect(both === "write").toBe(least === LEVELS.write);
      }),
    );
  });

  it("reach the hosts that both reach [AG-21] [MC-12]", () => {
    const port = fc.constantFrom(80, 443, 8443);
    const name = fc.constantFrom("a.test", "b.a.test", "c.b.a.test", "x.test", "9.9.9.9", "2620:fe::fe");
    fc.assert(
      fc.property(policy, policy, name, port, (a, b, asked, at) => {
        expect(isReached(narrowPolicy(a, b), asked, at)).toBe(isReached(a, asked, at) && isReached(b, asked, at));
      }),
    );
  });

  it("reach no port that a policy without a list of hosts does not reach", () => {
    const everyHost = { network: { enabled: true } };
    const named = { network: { enabled: true, allowedDomains: ["*.a.test:8443", "b.test:443", "c.test"] } };
    for (const both of [narrowPolicy(everyHost, named), narrowPolicy(named, everyHost)])
      expect(both.network).toMatchObject({ allowedDomains: ["b.test:443", "c.test"] });
  });

  it("run the programs that both run [AG-21] [MC-11]", () => {
    fc.assert(
      fc.property(policy, policy, fc.constantFrom(...programs), (a, b, program) => {
        expect(isAllowed(narrowPolicy(a, b), program)).toBe(isAllowed(a, program) && isAllowed(b, program));
      }),
    );
  });

  it("a host pattern that is in both lists stays as it is written", () => {
    fc.assert(
      fc.property(host, (one) => {
        const policyWith: SandboxPolicy = { filesystem: { writableRoots: [] }, network: { enabled: true, allowedDomains: [one] } };
        expect(narrowPolicy(policyWith, policyWith).network?.allowedDomains).toEqual([one]);
      }),
    );
  });
});
