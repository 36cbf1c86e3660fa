import { expect, it } from "vitest";
import { untrustedByEffects } from "./untrusted-by-effects.ts";

const by = (effects: Parameters<typeof untrustedByEffects>[1]["effects"], outside: readonly string[] = []) =>
  untrustedByEffects({}, { ...(effects && { effects }), outside });

it("takes what comes from hosts, and what is read outside of the working directory, for untrusted, and names it", () => {
  expect(by({ hosts: ["example.com"] })).toBe("example.com");
  expect(by({ reads: ["/etc/motd"] }, ["/etc/motd"])).toBe("/etc/motd");
  expect(by({ hosts: ["a.example", "b.example", "c.example", "d.example"] })).toBe("a.example, b.example, c.example");
});

it("takes nothing else for it: this machine, its devices, files of the workspace", () => {
  expect(by({ hosts: ["localhost", "127.0.0.1", "[::1]"], reads: ["src/a.ts", "/dev/null"] }, ["/dev/null"])).toBeUndefined();
  expect(by(undefined)).toBeUndefined();
});
