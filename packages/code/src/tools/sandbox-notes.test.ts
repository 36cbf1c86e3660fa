import { describe, expect, it } from "vitest";
import { sandboxNotes } from "./sandbox-notes.ts";
import { hostJudge, isOutside, withRequests } from "./sandbox-requests.ts";

const QUIET = { stdout: "", stderr: "" };

describe("the result of a command that met a wall", () => {
  it("names the hosts that were closed, each once, and how to ask for them", () => {
    expect(sandboxNotes({ ...QUIET, refusedHosts: ["a.com:443", "a.com:80", "b.com:443"] }, { isConfined: true })).toEqual([
      expect.stringMatching(/refused connections to a\.com:443, a\.com:80, b\.com:443\..*hosts: \["a\.com","b\.com"\]/),
    ]);
  });

  it("names the limit of memory that was reached", () => {
    expect(sandboxNotes({ ...QUIET, memoryLimit: 4.5 * 1024 ** 3 }, { isConfined: true })).toEqual([expect.stringContaining("4.5 GiB")]);
    expect(sandboxNotes({ ...QUIET, memoryLimit: 300 * 1024 ** 2 }, { isConfined: true })).toEqual([expect.stringContaining("300 MiB")]);
  });

  it.each([
    "error: could not write config file .git/config: Device or resource busy",
    "error: could not lock config file /home/a/x/.git/config: Read-only file system",
  ])("offers to run git outside where its settings can't be written: %s", (stderr) => {
    expect(sandboxNotes({ stdout: "", stderr }, { isConfined: true })).toEqual([expect.stringContaining("outside: true")]);
    expect(sandboxNotes({ stdout: "", stderr }, { isConfined: false })).toEqual([]);
  });

  it.each([
    "ssh: Could not resolve hostname github.com: Temporary failure in name resolution",
    "npm error getaddrinfo ENOTFOUND db",
    "dial tcp: lookup db: no such host",
  ])("says that programs without a proxy reach nothing: %s", (stderr) => {
    expect(sandboxNotes({ stdout: "", stderr, exitCode: 128 }, { isConfined: true })).toEqual([
      expect.stringMatching(/SSH.*outside: true/),
    ]);
    expect(sandboxNotes({ stdout: "", stderr, exitCode: 0 }, { isConfined: true })).toEqual([]);
    expect(sandboxNotes({ stdout: "", stderr, exitCode: 128 }, { isConfined: false })).toEqual([]);
  });

  it("says nothing about others", () => {
    expect(sandboxNotes({ stdout: "config file", stderr: "fatal: not a git repository" }, { isConfined: true })).toEqual([]);
  });
});

describe("what a call asks of the sandbox", () => {
  const leaving = { outside: { execute: async () => Promise.reject(new Error("unused")) }, publish: async () => {} };

  it("is to leave it only where there is one that it can leave", () => {
    expect(isOutside({ outside: true }, {}, { leaving })).toBe(true);
    expect(isOutside({ outside: true }, {}, {})).toBe(false);
    expect(isOutside({}, {}, { leaving })).toBe(false);
    expect(isOutside({ outside: true }, { environment: {} }, { leaving })).toBe(false);
  });

  it("is its hosts, also where they are written as addresses, and its ports", () => {
    expect(
      withRequests({ hosts: ["a.com"] }, { command: "x", hosts: ["https://B.com/path", "a.com", " c.com:8080 "], publish: [3000, 3000] }),
    ).toEqual({
      hosts: ["a.com", "b.com", "c.com"],
      ports: [3000],
    });
    expect(withRequests({}, { command: "x" })).toEqual({});
  });

  it("opens the hosts that were named, on the usual ports, and leaves others to rules and answers", () => {
    const { judgeHost } = hostJudge(["https://a.com"], { judgeHost: (host) => (host === "b.com" ? "denied" : "unlisted") });
    expect([judgeHost?.("a.com", 443), judgeHost?.("a.com", 22), judgeHost?.("b.com", 443), judgeHost?.("sub.a.com", 443)]).toEqual([
      "open",
      "unlisted",
      "denied",
      "unlisted",
    ]);
    expect(hostJudge([], {}).judgeHost?.("a.com", 443)).toBe("unlisted");
  });
});
