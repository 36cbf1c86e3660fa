import type { ExecuteResponse } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import type { HookContext } from "../../definition/hooks/hook.ts";
import { resultOfShell } from "./shell-hook-result.ts";

/** The verdict on what a hook printed and how it ended; a refusal of a guard that gave no clear answer is `refused: …`. */
function verdict(
  stdout: string,
  { guard = true, stdoutBytes = stdout.length, ...ended }: Partial<ExecuteResponse> & { guard?: boolean } = {},
) {
  const warnings: string[] = [];
  const context = {
    point: "pre-tool-use",
    guard,
    warn: (message: string) => void warnings.push(message),
  } as unknown as HookContext<"pre-tool-use">;
  const response = { exitCode: 0, signal: null, stderr: "", ...ended, stdout, stdoutBytes } as ExecuteResponse;
  try {
    return resultOfShell(context, { response, maxOutputBytes: 1_000 }) ?? (warnings.length > 0 ? `warned: ${warnings.join()}` : "passed");
  } catch (error) {
    return `refused: ${(error as Error).message}`;
  }
}

const DENY = '{"decision":"deny","reason":"no"}';

describe("the output of a guard hook", () => {
  it("refuses the call if there is anything around its JSON: text, other objects, markup, bytes", () => {
    for (const printed of [
      `checking…\n${DENY}`,
      `checking… ${DENY}`,
      `${DENY}\ndone`,
      `${DENY}\n${DENY}`,
      `{"decision":"allow"}\n${DENY}`,
      `\u001b[32m${DENY}\u001b[0m`,
      "```json\n" + DENY + "\n```",
      `[${DENY}]`,
      JSON.stringify(DENY),
      `\ufffd${DENY}`,
      "log\n{'decision': 'deny'}",
      'log\n{"hookSpecificOutput":{"permissionDecision":"deny"}}',
      "log\n{}",
      '"deny"',
      "deny",
      `{"decision":"deny"`,
    ])
      expect(verdict(printed), printed).toMatch(/^refused: printed /);
    expect(verdict(`checking…\n${DENY}`)).toMatch(/print the JSON alone on stdout, and everything else on stderr/);
  });

  it("refuses the call if its JSON decides nothing and has a field that is not read, or a value that means nothing", () => {
    for (const printed of [
      { decison: "deny" },
      { permissionDecision: "deny" },
      { hookSpecificOutput: { decision: "deny" } },
      { hookSpecificOutput: "deny" },
      { continue: "false" },
      { continue: 0 },
      { decision: "Deny" },
      { decision: false },
    ])
      expect(verdict(JSON.stringify(printed)), JSON.stringify(printed)).toMatch(/^refused: /);
    expect(verdict('{"permissionDecision":"deny"}')).toMatch(/belongs into hookSpecificOutput/);
    expect(verdict('{"decision":1917043659912705296}')).toMatch(/decided "1917043659912705296"/);
  });

  it("refuses the call if more was printed than is read", () => {
    expect(verdict("a log", { stdoutBytes: 2_000 })).toBe("refused: printed 2000 bytes; 1000 are read");
    expect(verdict(DENY, { stdoutBytes: 2_000 })).toBe("refused: printed 2000 bytes; 1000 are read");
    expect(verdict("a log", { stdoutBytes: 2_000, guard: false })).toBe("passed");
  });

  it("refuses the call after another exit code or a signal, and blocks with exit code 2 whatever is printed", () => {
    expect(verdict("", { exitCode: 1 })).toMatch(/^refused: ended with code 1/);
    expect(verdict("", { exitCode: null, signal: "SIGKILL" })).toMatch(/^refused: ended with the signal SIGKILL/);
    expect(verdict(`log\n${DENY}`, { exitCode: 2, stderr: "not on Fridays" })).toEqual({ type: "abort", reason: "not on Fridays" });
  });

  it("passes a call without an answer: nothing, a log of its own, or fields that decide nothing", () => {
    for (const printed of [
      "",
      "  \n",
      "checked 3 files in {src,test}",
      "[info] all decided",
      "ask me later",
      "{}",
      '{"suppressOutput":true}',
      '{"decision":"approve","log":"ok"}',
    ])
      expect(verdict(printed), printed).toBe("passed");
    expect(verdict(`\ufeff${DENY}\n`)).toEqual({ type: "abort", reason: "no" });
  });

  it("of a hook that is no guard is a warning", () => {
    expect(verdict(`checking…\n${DENY}`, { guard: false })).toMatch(/^warned: printed text around its answer/);
    expect(verdict('{"decison":"deny"}', { guard: false })).toMatch(/^warned: printed the field "decison"/);
  });
});
