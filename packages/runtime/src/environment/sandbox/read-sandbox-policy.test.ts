import { EnvironmentError } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { policyFromEnvironmentSpec, policyFromSandboxConfig } from "./policy-from-config.ts";
import { parseSize } from "./parse-size.ts";
import { readSandboxPolicy } from "./read-sandbox-policy.ts";

const wrong = (value: unknown): string => {
  try {
    readSandboxPolicy(value);
  } catch (error) {
    if (EnvironmentError.is(error, "provision-failed")) return error.message;
  }
  return "";
};

describe("a policy file", () => {
  it("may be empty, and may say everything", () => {
    expect(readSandboxPolicy({})).toEqual({});
    const whole = {
      version: 1,
      filesystem: {
        writableRoots: ["."],
        readableRoots: ["/opt"],
        deniedPaths: ["~/x"],
        hideCredentials: true,
        protectedPaths: [".git/hooks"],
      },
      network: {
        enabled: true,
        allowedDomains: ["example.com", "*.example.com:8443", "1.1.1.1", "[2606:4700::1]:443", "2606:4700::1"],
        deniedDomains: [],
      },
      environment: { pass: ["A", "NPM_*"], set: { B: "" } },
      resources: { processes: 10, memory: "1.5 GB", fileSize: 1000, openFiles: 64, cpuSeconds: 5, temporary: "64Mi" },
      commands: { allowed: ["npm"], denied: ["/usr/bin/curl"] },
    };
    expect(readSandboxPolicy(JSON.parse(JSON.stringify(whole)))).toEqual(whole);
  });

  it.each([
    [{ filesytem: {} }, 'it has no "filesytem"; did you mean "filesystem"?'],
    [{ filesystem: { denyedPaths: [] } }, 'it has no "filesystem.denyedPaths"; did you mean "deniedPaths"?'],
    [{ filesystem: { deniedPaths: ["**/.env"] } }, "is a pattern: name each file or folder"],
    [{ filesystem: { deniedPaths: "~/.ssh" } }, '"filesystem.deniedPaths" is no list'],
    [{ filesystem: { protectedPaths: ["../x"] } }, "must be relative to a writable root"],
    [{ network: {} }, '"network.enabled" is missing'],
    [{ network: { enabled: "yes" } }, '"network.enabled" is neither true nor false'],
    [{ network: { enabled: true, allowedDomains: ["https://example.com"] } }, "is no host"],
    [{ network: { enabled: true, allowedDomains: ["*"] } }, "is no host"],
    [{ network: { enabled: true, deniedDomains: ["exa*mple.com"] } }, "is no host"],
    [{ resources: { memory: "lots" } }, '"resources.memory" is no size'],
    [{ resources: { processes: 0 } }, '"resources.processes" is no whole number above 0'],
    [{ environment: { set: { "A=B": "c" } } }, "is no name of a variable"],
    [{ commands: { denied: ["rm -rf"] } }, "is no program"],
    [{ version: 2 }, '"version" is a version that this release does not know'],
    [{ __proto__: null, constructor: {} }, 'it has no "constructor"'],
    [[], "it is no object"],
    [null, "it is no object"],
  ])("is refused where it is not understood: %j", (value, words) => {
    expect(wrong(value)).toContain(words);
  });

  it("reads sizes as Kubernetes and people write them", () => {
    expect(["1", "1k", "1Ki", "2Mi", "3GiB", "1.5 GB", "5b"].map(parseSize)).toEqual([1, 1000, 1024, 2 ** 21, 3 * 2 ** 30, 1.5e9, 5]);
    expect(["", "0", "-1", "1x", "1e3", "NaN"].map(parseSize)).toEqual(Array(6).fill(undefined));
  });
});

describe("the short form of an agent", () => {
  it("stands for a policy: roots, denied paths, hosts and commands [MC-11, MC-12, MC-13]", () => {
    expect(
      policyFromSandboxConfig({
        enabled: true,
        filesystem: { allowedRoots: ["."], deniedPaths: ["secret"] },
        network: { enabled: true, deniedDomains: ["bad.test"] },
        allowedCommands: ["npm"],
        deniedCommands: ["curl"],
      }),
    ).toEqual({
      filesystem: { writableRoots: ["."], deniedPaths: ["secret"] },
      network: { enabled: true, deniedDomains: ["bad.test"] },
      commands: { allowed: ["npm"], denied: ["curl"] },
    });
    expect(policyFromSandboxConfig({ enabled: true, deniedCommands: [] })).toEqual({ commands: { denied: [] } });
    expect(policyFromSandboxConfig({ enabled: true })).toEqual({ commands: {} });
    expect(policyFromSandboxConfig({ enabled: true, network: { enabled: true }, filesystem: { deniedPaths: [".env"] } })).toEqual({
      commands: {},
      network: { enabled: true },
      filesystem: { deniedPaths: [".env"] },
    });
    expect(() => policyFromSandboxConfig({ enabled: false, deniedCommands: [] })).toThrow("no sandbox to make");
  });

  it("and the rules of a spec do: what they don't name is what the default says", () => {
    const rules = [
      { destination: "a.test", port: 8443, action: "allow" },
      { destination: "b.test", action: "deny" },
    ] as const;
    const spec = { isolation: [], credentials: [] };
    expect(policyFromEnvironmentSpec({ ...spec, network: { default: "deny", rules } }).network).toEqual({
      enabled: true,
      allowedDomains: ["a.test:8443"],
      deniedDomains: ["b.test"],
    });
    expect(policyFromEnvironmentSpec({ ...spec, network: { default: "allow", rules } }).network).toEqual({
      enabled: true,
      deniedDomains: ["b.test"],
    });
    expect(policyFromEnvironmentSpec({ ...spec, resources: { memory: "256Mi" } }, { network: { enabled: false } })).toEqual({
      network: { enabled: false },
      resources: { memory: "256Mi" },
    });
    expect(() => policyFromEnvironmentSpec({ ...spec, resources: { gpu: "1" } })).toThrow('can\'t provide the limit "gpu: 1"');
  });
});
