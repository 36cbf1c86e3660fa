import type { CallEffects, PermissionBehavior, PermissionMode, PermissionRule } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { compilePolicy } from "../../definition/permissions/compiled-policy.ts";
import { decidePermission } from "./decide-permission.ts";
import type { PermissionSubject } from "../../definition/permissions/judged-call.ts";

const bash: PermissionSubject = { name: "bash", effect: "write", risk: "high" };
const grep: PermissionSubject = { name: "grep", effect: "read", risk: "none" };
const edit: PermissionSubject = { name: "edit_file", effect: "write", risk: "medium", category: "edit" };
const fetch: PermissionSubject = { name: "http", effect: "write", risk: "medium" };

const rules = (...lines: string[]): PermissionRule[] =>
  lines.map((line) => ({ behavior: line.slice(0, line.indexOf(" ")) as PermissionBehavior, pattern: line.slice(line.indexOf(" ") + 1) }));
const judge = (lines: string[], effects: CallEffects, { tool = bash, mode = "default" as PermissionMode, text = "the line" } = {}) =>
  decidePermission({ policies: [compilePolicy({ mode, rules: rules(...lines) })], tool, argumentText: text, effects, cwd: "/srv/app" });
const behavior = (...given: Parameters<typeof judge>) => judge(...given).behavior;

const test = { text: "npm test" };
const tail = { text: "tail -5", readOnly: true };
const remove = { text: "rm -rf build", aliases: ["rm -r build"] };

describe("a call that starts commands", () => {
  it("runs where each of them is allowed or known to change nothing [MC-15]", () => {
    const lines = ["allow bash(npm test*)", "allow bash(tsc)"];
    expect(behavior(lines, { commands: [test] })).toBe("allow");
    expect(behavior(lines, { commands: [test, tail] })).toBe("allow");
    expect(behavior(lines, { commands: [{ text: "tsc" }, test, tail] })).toBe("allow");
    expect(behavior(lines, { commands: [test, remove] })).toBe("ask");
    expect(behavior(lines, { commands: [tail, { text: "tsc --build" }] })).toBe("ask");
  });

  it("is asked about with the names of those that nothing allows, and why [MC-15]", () => {
    const { reason } = judge(["allow bash(npm test*)"], {
      commands: [test, remove, { text: "npm test", caution: "it writes into report.txt" }],
    });
    expect(reason).toContain('"rm -rf build": no rule allows it');
    expect(reason).toContain('"npm test": it writes into report.txt');
    expect(reason.split("npm test")).toHaveLength(2);
  });

  it("isn't covered by a rule with a wildcard where it is not what it says, or can't be known [MC-15]", () => {
    const careful = { commands: [{ text: "npm test", caution: "PATH is set" }] };
    const unknown = { commands: [test], unknown: ["The program is taken from $TOOL."] };
    expect(behavior(["allow bash(npm test*)"], careful)).toBe("ask");
    expect(behavior(["allow bash(npm test*)"], unknown)).toBe("ask");
    expect(judge(["allow bash(npm test*)"], unknown).reason).toContain("The program is taken from $TOOL.");
    expect(behavior(["allow bash(npm test)"], careful, { text: "PATH=. npm test" })).toBe("ask");
    for (const effects of [careful, unknown])
      expect(behavior(["allow bash(PATH=. npm test)"], effects, { text: "PATH=. npm test" })).toBe("allow");
  });

  it("of which nothing is known but what it writes is not covered by rules about commands", () => {
    expect(behavior(["allow bash(npm*)"], { commands: [], writes: ["out.txt"] })).toBe("ask");
    expect(behavior([], { commands: [] })).toBe("allow");
  });

  it("runs unasked where all of them change nothing, except where only rules allow anything [MC-08]", () => {
    const reading: CallEffects = { commands: [tail, { text: "cat a.ts", readOnly: true }], reads: ["a.ts"] };
    for (const mode of ["default", "accept-edits", "plan-only", "bypass-all"] as const)
      expect(behavior([], reading, { mode })).toBe("allow");
    expect(behavior([], reading, { mode: "deny-unauthorized" })).toBe("deny");
    expect(behavior(["allow bash(cat *)"], reading, { mode: "deny-unauthorized" })).toBe("allow");
    for (const more of [{ reads: ["/etc/passwd"] }, { reads: ["../other"] }, { writes: ["b"] }, { hosts: ["x.org"] }, { unknown: ["?"] }]) {
      expect(behavior([], { ...reading, ...more })).toBe("ask");
      expect(behavior([], { ...reading, ...more }, { mode: "plan-only" })).toBe(
        "writes" in more || "hosts" in more || "unknown" in more || "reads" in more ? "deny" : "allow",
      );
    }
  });

  it("that reads outside runs where rules allow all of its commands, not where one runs only because it changes nothing", () => {
    const reads = ["/etc/hosts"];
    expect(behavior(["allow bash(cat*)"], { commands: [{ text: "cat /etc/hosts", readOnly: true }], reads })).toBe("allow");
    expect(behavior(["allow bash(npm test*)"], { commands: [test, { text: "cat /etc/hosts", readOnly: true }], reads })).toBe("ask");
  });

  it("asks where it writes or connects, and says so, though each of its commands is said to change nothing", () => {
    expect(behavior([], { commands: [tail] })).toBe("allow");
    const { behavior: writing, reason } = judge([], { commands: [tail], writes: ["out.txt"] });
    expect([writing, reason]).toEqual(["ask", expect.stringContaining('it writes "out.txt"')]);
    const connecting = judge([], { commands: [tail], hosts: ["example.com"] });
    expect([connecting.behavior, connecting.reason]).toEqual(["ask", expect.stringContaining('it connects to "example.com"')]);
  });

  it("is denied and asked about by each of its commands, by their aliases, and by the line as a whole [MC-15]", () => {
    for (const [kind, expected] of [
      ["deny", "deny"],
      ["ask", "ask"],
    ] as const) {
      expect(behavior(["allow bash", `${kind} bash(rm -rf*)`], { commands: [test, remove] })).toBe(expected);
      expect(behavior(["allow bash", `${kind} bash(rm -r *)`], { commands: [test, remove] })).toBe(expected);
      expect(behavior(["allow bash", `${kind} bash(*secret*)`], { commands: [test] }, { text: "npm test # secret" })).toBe(expected);
      expect(behavior(["allow bash", `${kind} bash(rmdir*)`], { commands: [test, remove] })).toBe("allow");
    }
  });

  it("can't be known to the last asks where some of it is denied, under a blanket allow and in bypass-all too", () => {
    const unknown = { commands: [test], unknown: ["It evaluates $X."] };
    expect(behavior(["allow bash"], unknown)).toBe("allow");
    for (const mode of ["default", "accept-edits", "bypass-all"] as const) {
      expect(behavior(["allow bash", "deny bash(evil*)"], unknown, { mode })).toBe("ask");
      expect(behavior(["allow *", "ask bash(evil*)"], unknown, { mode })).toBe("ask");
      expect(behavior(["allow bash(the line)", "deny bash(evil*)"], unknown, { mode })).toBe("allow");
    }
    expect(behavior(["allow bash", "deny bash(evil*)"], unknown, { mode: "deny-unauthorized" })).toBe("deny");
    expect(judge(["allow bash", "deny bash(evil*)"], unknown).reason).toContain("It evaluates $X.");
  });

  it("takes a star behind a space for any arguments or none, and no other program", () => {
    const covered = (text: string) => behavior(["allow bash(npm test *)"], { commands: [{ text }] });
    expect(["npm test", "npm test -- --run", "npm testing", "npm"].map(covered)).toEqual(["allow", "allow", "ask", "ask"]);
  });
});

describe("rules about files", () => {
  it("named after read_file bind whatever reads, those after write_file or edit_file whatever writes [MC-15]", () => {
    expect(behavior(["deny read_file(secret/**)"], { reads: ["secret/a"] }, { tool: grep })).toBe("deny");
    expect(behavior(["deny read_file(secret/**)"], { reads: ["secret"] }, { tool: grep })).toBe("deny");
    expect(behavior(["deny read_file(secret/**)"], { commands: [{ text: "cat secret/a", readOnly: true }], reads: ["secret/a"] })).toBe(
      "deny",
    );
    expect(behavior(["deny read_file(secret/**)"], { reads: ["secret/a"], writes: ["secret/a"] }, { tool: edit })).toBe("deny");
    for (const name of ["write_file", "edit_file"])
      expect(
        behavior(["allow bash", `deny ${name}(dist/*)`], { commands: [{ text: "cp a dist/a" }], reads: ["a"], writes: ["dist/a"] }),
      ).toBe("deny");
    expect(behavior(["allow bash", "deny write_file(dist/*)"], { commands: [{ text: "cat dist/a" }], reads: ["dist/a"] })).toBe("allow");
    expect(behavior(["deny read_file"], { reads: ["a"] }, { tool: grep })).toBe("allow");
  });

  it("bind a file however it is written [MC-15]", () => {
    for (const path of [
      ".env",
      "./.env",
      "a/../.env",
      "./a/.././.env",
      "/srv/app/.env",
      "/srv/app/b/../.env",
      "//srv/app/.env",
      "../app/.env",
    ])
      for (const pattern of [".env", "./.env", "**/.env", "/srv/app/.env", ".e*"])
        expect(behavior([`deny read_file(${pattern})`], { reads: [path] }, { tool: grep, mode: "bypass-all" }), `${pattern} ${path}`).toBe(
          "deny",
        );
    expect(behavior(["deny read_file(**/.env)"], { reads: ["/other/.env"] }, { tool: grep, mode: "bypass-all" })).toBe("deny");
    expect(behavior(["deny read_file(.env)"], { reads: ["/other/.env"] }, { tool: grep, mode: "bypass-all" })).toBe("allow");
  });

  it("allow a call where they cover all it touches, and don't look at the folders above the workspace", () => {
    const mode = "deny-unauthorized" as const;
    expect(behavior(["allow edit_file(src/**)"], { reads: ["src/a"], writes: ["src/a"] }, { tool: edit, mode })).toBe("allow");
    expect(behavior(["allow write_file(src/**)"], { reads: ["src/a"], writes: ["src/a"] }, { tool: edit, mode })).toBe("allow");
    expect(behavior(["allow edit_file(src/**)"], { writes: ["src/a", "lib/a"] }, { tool: edit, mode })).toBe("deny");
    expect(behavior(["allow edit_file(src/**)", "allow write_file(lib/*)"], { writes: ["src/a", "lib/a"] }, { tool: edit, mode })).toBe(
      "allow",
    );
    expect(behavior(["allow read_file(src/**)"], { reads: ["src/deep/a"] }, { tool: grep, mode })).toBe("allow");
    expect(behavior(["allow read_file(src/**)"], { reads: ["."] }, { tool: grep, mode })).toBe("deny");
    expect(behavior(["allow edit_file(*app*)"], { writes: ["lib/a"] }, { tool: edit, mode })).toBe("deny");
  });
});

it("rules about hosts bind whatever connects to them", () => {
  const effects = { hosts: ["API.example.com"] };
  expect(behavior(["allow http", "deny web_fetch(*.example.com)"], effects, { tool: fetch })).toBe("deny");
  expect(behavior(["allow web_fetch(api.example.com)"], effects, { tool: fetch })).toBe("allow");
  expect(behavior(["allow web_fetch(example.com)"], effects, { tool: fetch })).toBe("ask");
});
