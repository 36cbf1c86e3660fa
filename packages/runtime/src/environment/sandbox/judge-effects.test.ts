import type { CallEffects } from "@keelson/protocol";
import fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { judgeEffects } from "./judge-effects.ts";
import type { SandboxPolicy } from "./sandbox-policy.ts";

const places = { workspace: "/work/project", home: "/home/ada" };
const judge = (policy: SandboxPolicy, effects: CallEffects): readonly string[] => judgeEffects(policy, effects, places);

describe("what a policy refuses of the files of a call", () => {
  const writes = (policy: SandboxPolicy, ...paths: string[]): readonly string[] => judge(policy, { writes: paths });
  const reads = (policy: SandboxPolicy, ...paths: string[]): readonly string[] => judge(policy, { reads: paths });

  it("is everything that is written outside of the writable roots, in a sentence each [AG-21]", () => {
    expect(writes({}, "src/a.ts", "/work/project/b.ts", "/tmp/out", "/dev/null")).toEqual([]);
    expect(writes({}, "../other", "~/notes", "/etc/hosts")).toEqual([
      'It writes "../other", and only /work/project can be written.',
      'It writes "~/notes", and only /work/project can be written.',
      'It writes "/etc/hosts", and only /work/project can be written.',
    ]);
    expect(writes({ filesystem: { writableRoots: ["src", "~/cache"] } }, "src/a", "~/cache/x", "docs/a")).toHaveLength(1);
  });

  it("is what is denied, and what steers later programs; the deeper path holds, and at the same path the denial", () => {
    const policy: SandboxPolicy = { filesystem: { writableRoots: [".", "private/open"], deniedPaths: ["private", "/opt/keys"] } };
    expect(reads(policy, "private/x", "/opt/keys/a", "private/open/y", "privates", "/opt/keys2")).toEqual([
      'It reads "private/x", which the policy denies.',
      'It reads "/opt/keys/a", which the policy denies.',
    ]);
    expect(writes(policy, "private", ".git/hooks/pre-commit", "AGENTS.md", ".git/index")).toEqual([
      'It writes "private", which the policy denies.',
      'It writes ".git/hooks/pre-commit", which the policy protects.',
      'It writes "AGENTS.md", which the policy protects.',
    ]);
    expect(writes({ filesystem: { writableRoots: ["a"], deniedPaths: ["a"] } }, "a/b")).toHaveLength(1);
  });

  it("is what is read of credentials, and of what no readable root shows", () => {
    expect(reads({}, "~/.ssh/id_ed25519", "/etc/shadow", "/etc/passwd", "~/notes")).toHaveLength(2);
    expect(reads({ filesystem: { hideCredentials: false } }, "~/.ssh/id_ed25519")).toEqual([]);
    vi.stubEnv("KUBECONFIG", "/srv/cluster/one:/srv/cluster/two");
    vi.stubEnv("XDG_CONFIG_HOME", "/srv/settings");
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(reads({}, "/srv/cluster/two", "/srv/settings/gh/hosts.yml", "/srv/settings/other")).toEqual([
      'It reads "/srv/cluster/two", which the policy denies.',
      'It reads "/srv/settings/gh/hosts.yml", which the policy denies.',
    ]);
    const narrow: SandboxPolicy = { filesystem: { readableRoots: ["/srv/data"] } };
    expect(reads(narrow, "src/a", "/srv/data/x", "/usr/lib/x", "/tmp/x")).toEqual([]);
    expect(reads(narrow, "/srv/x", "~/notes")).toEqual([
      'It reads "/srv/x", which the policy does not allow.',
      'It reads "~/notes", which the policy does not allow.',
    ]);
  });
});

describe("what a policy refuses of the hosts of a call", () => {
  const hosts = (policy: SandboxPolicy, ...names: string[]): readonly string[] => judge(policy, { hosts: names });

  it("is all of them without a network, and none that is public where there is no list of them [AG-21]", () => {
    expect(hosts({}, "example.com", "localhost")).toEqual(['It connects to "example.com", and the policy gives no network.']);
    expect(hosts({ network: { enabled: true } }, "example.com", "93.184.216.34", "127.0.0.1")).toEqual([]);
    expect(hosts({ network: { enabled: true } }, "10.0.0.1", "169.254.169.254", "0xa9fea9fe")).toHaveLength(3);
  });

  it("is what is denied, whatever is allowed, and what no list names [AG-21]", () => {
    const network = { enabled: true, allowedDomains: ["*.example.com", "git.test:22"], deniedDomains: ["bad.example.com", "git.test:80"] };
    expect(hosts({ network }, "good.example.com", "BAD.Example.com.", "git.test", "example.com", "x.test")).toEqual([
      'It connects to "BAD.Example.com.", which the policy denies.',
      'It connects to "example.com", which the policy does not allow.',
      'It connects to "x.test", which the policy does not allow.',
    ]);
  });
});

describe("what a policy refuses of the programs of a call", () => {
  const programs = (policy: SandboxPolicy, ...commands: string[]): readonly string[] =>
    judge(policy, { commands: commands.map((text) => ({ text })) });

  it("is what is denied by name or path, and what a list of allowed ones doesn't have; builtins and assignments start nothing [AG-21]", () => {
    expect(programs({ commands: { denied: ["curl"] } }, "npm test", "curl -s x", "/usr/bin/curl x", "curling")).toEqual([
      'It starts "curl", which the policy denies.',
      'It starts "/usr/bin/curl", which the policy denies.',
    ]);
    expect(programs({ commands: { allowed: ["npm"] } }, "cd src", "A=1", "npm test", "/usr/bin/npm x", "/tmp/npm x", "make")).toEqual([
      'It starts "/tmp/npm", which the policy does not allow.',
      'It starts "make", which the policy does not allow.',
    ]);
  });

  it("is everything that can't be known where only some programs are allowed, and nothing of it otherwise", () => {
    const effects: CallEffects = { commands: [{ text: "$X" }], unknown: ["Which program `$X` starts can't be read."] };
    expect(judge({ commands: { denied: ["curl"] } }, effects)).toEqual([]);
    expect(judge({ commands: { allowed: ["$X"] } }, effects).join()).toContain("Which program `$X` starts");
  });
});

it("grows with every denial that is added to a policy, and with every effect that is added to a call", () => {
  const path = fc.constantFrom("a", "a/b", "/etc/x", "~/.ssh/k", "/tmp/y", "../z", "AGENTS.md");
  const host = fc.constantFrom("a.test", "b.a.test", "10.1.1.1", "localhost");
  const program = fc.constantFrom("npm", "curl", "/usr/bin/curl", "cd");
  const effects = fc.record({
    reads: fc.array(path),
    writes: fc.array(path),
    hosts: fc.array(host),
    commands: fc.array(program.map((text) => ({ text }))),
  });
  fc.assert(
    fc.property(effects, effects, path, host, program, (some, more, deniedPath, deniedHost, deniedProgram) => {
      const open: SandboxPolicy = { network: { enabled: true } };
      const closed: SandboxPolicy = {
        filesystem: { deniedPaths: [deniedPath] },
        network: { enabled: true, deniedDomains: [deniedHost] },
        commands: { denied: [deniedProgram] },
      };
      expect(judge(closed, some).length).toBeGreaterThanOrEqual(judge(open, some).length);
      const both: CallEffects = {
        reads: [...some.reads, ...more.reads],
        writes: [...some.writes, ...more.writes],
        hosts: [...some.hosts, ...more.hosts],
        commands: [...some.commands, ...more.commands],
      };
      expect(judge(closed, both)).toEqual(expect.arrayContaining([...judge(closed, some)]));
    }),
  );
});
