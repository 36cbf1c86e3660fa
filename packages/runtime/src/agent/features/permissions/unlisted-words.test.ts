import type { CallEffects, PermissionBehavior, PermissionRule } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { compilePolicy } from "../../definition/permissions/compiled-policy.ts";
import { decidePermission } from "./decide-permission.ts";

const bash = { name: "bash", effect: "write", risk: "high", category: "shell" } as const;
const rules = (lines: readonly string[]): PermissionRule[] =>
  lines.map((line) => ({ behavior: line.slice(0, line.indexOf(" ")) as PermissionBehavior, pattern: line.slice(line.indexOf(" ") + 1) }));
const judge = (lines: readonly string[], effects: CallEffects) =>
  decidePermission({
    policies: [compilePolicy({ mode: "default", rules: rules(lines) })],
    tool: bash,
    argumentText: "the line",
    effects,
    cwd: "/work",
  });
const behavior = (lines: readonly string[], effects: CallEffects) => judge(lines, effects).behavior;

const shell: CallEffects = { commands: [{ text: "npm test --script-s evil", unlisted: ["--script-s", "evil"] }] };
const input: CallEffects = { commands: [{ text: "npm test", unlisted: ["FOO=1"] }] };

describe("a command with words that no table lists", () => {
  it("is not covered by a wildcard, and the question names them [MC-15]", () => {
    expect(behavior(["allow bash(npm test*)"], shell)).toBe("ask");
    expect(judge(["allow bash(npm test*)"], shell).reason).toContain('"--script-s", "evil", which is not understood');
    expect(behavior(["allow bash(npm *)"], input)).toBe("ask");
    expect(behavior(["allow bash(npm test)"], input)).toBe("ask");
  });

  it("is covered by a wildcard in a rule that spells each of them, by two stars, and by a rule about the tool [MC-15]", () => {
    expect(behavior(["allow bash(npm test --script-s evil*)"], shell)).toBe("allow");
    expect(behavior(["allow bash(npm test --script-s*)"], shell)).toBe("ask");
    expect(behavior(["allow bash(npm test --script*)"], shell)).toBe("ask");
    expect(behavior(["allow bash(npm test **)"], shell)).toBe("allow");
    expect(behavior(["allow bash(npm **)"], input)).toBe("allow");
    expect(behavior(["allow bash"], shell)).toBe("allow");
    expect(behavior(["allow bash(*)"], shell)).toBe("allow");
  });

  it("is asked about beside a blanket allow if a rule denies or asks about commands, files or hosts", () => {
    for (const guard of ["deny bash(evil*)", "ask bash(git push*)", "deny read_file(private/**)"]) {
      expect(behavior(["allow bash", guard], shell)).toBe("ask");
      expect(behavior(["allow bash", guard], { commands: [{ text: "gdb x", unknownProgram: true }] })).toBe("ask");
      expect(behavior(["allow bash", guard], { commands: [{ text: "npm test" }] })).toBe("allow");
    }
    expect(judge(["allow bash", "deny bash(evil)"], { commands: [{ text: "gdb x", unknownProgram: true }] }).reason).toContain(
      'The program of "gdb x" is in no table.',
    );
  });
});

describe("a command that the line computes in part", () => {
  const computed: CallEffects = { commands: [{ text: "git $x", pattern: "git *" }] };
  it("is asked about if a deny or ask rule may be about it [MC-15]", () => {
    expect(behavior(["allow bash", "deny bash(git push*)"], computed)).toBe("ask");
    expect(behavior(["allow bash", "ask bash(git push *)"], computed)).toBe("ask");
    expect(behavior(["allow bash", "deny bash(npm*)"], computed)).toBe("allow");
    expect(behavior(["allow bash", "deny bash(git push*)"], { commands: [{ text: "git commit -m $x", pattern: "git commit -m *" }] })).toBe(
      "allow",
    );
    expect(judge(["allow bash", "deny bash(git push*)"], computed).reason).toContain('"bash(git push*)" may be about "git $x"');
  });
});

describe("a command in a sandbox", () => {
  const gdb: CallEffects = { commands: [{ text: "gdb x", unknownProgram: true }] };
  const within = (effects: CallEffects, confined: Partial<NonNullable<CallEffects["confined"]>>): CallEffects => ({
    ...effects,
    confined: { refused: [], ...confined },
  });

  it("needs no question if the sandbox hides the programs that rules deny", () => {
    expect(behavior(["deny bash(curl)", "deny bash(wget *)"], within(gdb, { hides: ["curl", "wget"] }))).toBe("allow");
    expect(behavior(["deny bash(curl)"], within(gdb, {}))).toBe("ask");
    expect(behavior(["deny bash(curl -d*)"], within(gdb, { hides: ["curl"] }))).toBe("ask");
    expect(behavior(["ask bash(curl)"], within(gdb, { hides: ["curl"] }))).toBe("ask");
    expect(behavior(["deny bash(git push*)"], within(gdb, { hides: ["git"] }))).toBe("ask");
  });

  it("needs no question if the sandbox hides the files that rules deny, and is asked about others that it may read", () => {
    const searching: CallEffects = { commands: [{ text: "grep -r x ." }], mayTouch: ["/work/*"] };
    const hidden = { hidesFiles: ["/work/private", "/work/.env"] };
    for (const effects of [gdb, searching]) {
      expect(behavior(["deny read_file(private/**)", "deny read_file(.env)"], within(effects, hidden))).toBe("allow");
      expect(behavior(["deny read_file(private/a.txt)"], within(effects, hidden))).toBe("allow");
      expect(behavior(["deny read_file(priv*)"], within(effects, hidden))).toBe("ask");
      expect(behavior(["deny read_file(**/.env)"], within(effects, hidden))).toBe("ask");
      expect(behavior(["deny read_file(other)"], within(effects, hidden))).toBe("ask");
    }
    expect(behavior(["deny web_fetch(a.test)"], within(gdb, { reaches: "listed" }))).toBe("allow");
    expect(behavior(["deny web_fetch(a.test)"], within(gdb, { reaches: "any" }))).toBe("ask");
  });

  it("that may show files from a repository is asked about although the sandbox hides the file that a rule denies", () => {
    const confined = { refused: [], hidesFiles: ["/work/private"] };
    const log: CallEffects = { commands: [{ text: "git log -p", readOnly: true }], mayTouch: ["/work/*"], confined };
    const denies = ["deny read_file(private/**)"];
    expect(behavior(denies, log)).toBe("allow");
    expect(behavior(denies, { ...log, commands: [{ text: "git log -p", readOnly: true, committed: true }] })).toBe("ask");
    expect(behavior([], { ...log, commands: [{ text: "git log -p", readOnly: true, committed: true }] })).toBe("allow");
  });
});
