import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ExecuteRequest, Executor, HookPayloads } from "@keelson/protocol";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { createProcessExecutor } from "../../../environment/execution/process-executor.ts";
import type { Hook, HookContext } from "../../definition/hooks/hook.ts";
import { hooksFromJson } from "./hooks-from-json.ts";
import { createShellHook, type ShellHookOptions } from "./shell-hook.ts";
import type { ShellPoint } from "./shell-hook-input.ts";

// Each hook is a process, and many are started here, which takes a busy machine a while.
vi.setConfig({ testTimeout: 60_000 });

let folder: string;
let exec: Executor;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "keelson-hooks-"));
  exec = createProcessExecutor({ cwd: folder, killGraceMs: 100 });
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

const PAYLOADS: { readonly [P in ShellPoint]: HookPayloads[P] } = {
  "pre-tool-use": { toolName: "bash", arguments: { command: "ls" } },
  "post-tool-use": { toolName: "bash", arguments: { command: "ls" }, output: "a\nb" },
  "post-tool-use-failure": { toolName: "bash", arguments: { command: "ls" }, error: "no such file" },
  "notification": { message: "look here", level: "warn" },
  "subagent-start": { agentName: "helper", initialMessage: "help" },
  "subagent-stop": { agentName: "helper", reason: "complete" },
  "pre-compact": { messageCount: 9, tokenCount: 900 },
  "post-compact": { messageCount: 1, tokenCount: null },
  "session-start": { sessionId: "s", resumed: true },
  "session-end": { sessionId: "s", reason: "complete" },
};

/** Calls a hook as a run would. */
async function callAt<P extends ShellPoint>(
  point: P,
  hook: Hook<P>,
  options: Partial<HookContext<P>> = {},
): Promise<{ readonly result: unknown; readonly warnings: readonly string[] }> {
  const warnings: string[] = [];
  const result = await hook(
    PAYLOADS[point] as HookPayloads[P],
    {
      point,
      session: "s",
      runId: "r",
      agent: "coder",
      metadata: {},
      guard: false,
      replayed: false,
      signal: new AbortController().signal,
      warn: (message) => void warnings.push(message),
      ...options,
    } as HookContext<P>,
  );
  return { result, warnings };
}

function shell<P extends ShellPoint>(command: string, options: Partial<ShellHookOptions> = {}): Hook<P> {
  return createShellHook<P>({ command, exec, ...options });
}

const says = (printed: unknown): string => `printf '%s' '${JSON.stringify(printed)}'`;

describe("a shell hook", () => {
  it("reads what happens as JSON from stdin, at all ten points [HK-11]", async () => {
    const input = async <P extends ShellPoint>(point: P, options: Partial<HookContext<P>> = {}): Promise<unknown> => {
      const file = join(folder, `${point}.json`);
      await callAt(point, shell<P>(`cat > ${file}`), options);
      return JSON.parse(await readFile(file, "utf8"));
    };
    const common = { session_id: "s", run_id: "r", agent_name: "coder" };
    const tool = { tool_name: "bash", tool_input: { command: "ls" }, tool_use_id: "c_1" };
    const callId = "c_1" as never;
    expect(await input("pre-tool-use", { callId, cwd: folder })).toEqual({
      ...common,
      hook_event_name: "PreToolUse",
      cwd: folder,
      ...tool,
    });
    expect(await input("post-tool-use", { callId })).toEqual({
      ...common,
      hook_event_name: "PostToolUse",
      ...tool,
      tool_response: "a\nb",
    });
    expect(await input("post-tool-use-failure", { callId })).toEqual({
      ...common,
      hook_event_name: "PostToolUseFailure",
      ...tool,
      error: "no such file",
    });
    expect(await input("notification")).toEqual({
      ...common,
      hook_event_name: "Notification",
      notification_type: "warning",
      message: "look here",
      level: "warn",
    });
    expect(await input("notification", { callId })).toMatchObject({ notification_type: "permission_prompt" });
    expect(await input("subagent-start")).toEqual({
      ...common,
      hook_event_name: "SubagentStart",
      agent_type: "helper",
      prompt: "help",
    });
    expect(await input("subagent-stop")).toMatchObject({ hook_event_name: "SubagentStop", agent_type: "helper", reason: "complete" });
    expect(await input("pre-compact")).toMatchObject({
      hook_event_name: "PreCompact",
      trigger: "auto",
      message_count: 9,
      token_count: 900,
    });
    expect(await input("post-compact")).toMatchObject({ hook_event_name: "PostCompact", message_count: 1, token_count: null });
    expect(await input("session-start")).toMatchObject({ hook_event_name: "SessionStart", source: "resume" });
    expect(await input("session-end")).toMatchObject({ hook_event_name: "SessionEnd", reason: "complete" });
  });

  it("runs in the agent's folder, else in its own, with variables of its own", async () => {
    const inner = await mkdtemp(join(folder, "inner-"));
    const where = async (options: Partial<ShellHookOptions>, cwd?: string): Promise<unknown> =>
      (await callAt("pre-tool-use", shell('printf "%s" "$(pwd) $WHO" >&2; exit 2', options), cwd === undefined ? {} : { cwd })).result;
    expect(await where({ env: { WHO: "ada" } })).toEqual({ type: "abort", reason: `${folder} ada` });
    expect(await where({}, inner)).toEqual({ type: "abort", reason: inner });
    expect(await where({ cwd: folder }, inner)).toEqual({ type: "abort", reason: folder });
  });

  it("blocks with exit code 2, for the reason on stderr, whatever it prints [HK-10]", async () => {
    const block = `${says({ decision: "allow" })}; echo 'no tabs' >&2; exit 2`;
    for (const point of ["pre-tool-use", "subagent-start", "pre-compact", "session-start"] as const)
      expect((await callAt<typeof point>(point, shell(block))).result).toEqual({ type: "abort", reason: "no tabs" });
    for (const point of ["post-tool-use", "post-tool-use-failure"] as const)
      expect((await callAt<typeof point>(point, shell(block))).result).toEqual({ type: "tell", reason: "no tabs" });
    expect((await callAt("pre-tool-use", shell("exit 2"))).result).toEqual({ type: "abort", reason: "it gave no reason" });
  });

  it("decides with JSON on stdout: deny blocks, ask asks, allow is no opinion, and the strictest counts [HK-10]", async () => {
    const permission = (permissionDecision: string, permissionDecisionReason?: string) => ({
      hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision, permissionDecisionReason },
    });
    for (const [printed, expected] of [
      [permission("deny", "not that"), { type: "abort", reason: "not that" }],
      [permission("ask", "sure?"), { type: "ask", reason: "sure?" }],
      [permission("allow", "fine"), undefined],
      [permission("defer"), undefined],
      [
        { decision: "block", reason: "old words" },
        { type: "abort", reason: "old words" },
      ],
      [{ decision: "deny" }, { type: "abort", reason: "it gave no reason" }],
      [{ decision: "approve", reason: "fine" }, undefined],
      [
        { decision: "approve", ...permission("ask", "sure?") },
        { type: "ask", reason: "sure?" },
      ],
      [
        { decision: "block", reason: "no", ...permission("ask", "sure?") },
        { type: "abort", reason: "no" },
      ],
      [
        { continue: false, stopReason: "enough" },
        { type: "abort", reason: "enough", ends: "run" },
      ],
      [{ continue: true }, undefined],
      [{}, undefined],
    ] as const) {
      const { result, warnings } = await callAt("pre-tool-use", shell(says(printed)));
      expect({ printed, result, warnings }).toEqual({ printed, result: expected, warnings: [] });
    }
    expect((await callAt("pre-tool-use", shell("echo all is well"))).result).toBeUndefined();
    expect((await callAt("pre-tool-use", shell("true"))).result).toBeUndefined();
  });

  it("has its words told to the model after a tool call, shows its message to the watchers, and rewrites nothing [HK-12]", async () => {
    const after = await callAt(
      "post-tool-use",
      shell(says({ decision: "block", reason: "too long", hookSpecificOutput: { additionalContext: "see style.md" } })),
    );
    expect(after.result).toEqual({ type: "tell", reason: "too long\nsee style.md" });
    const before = await callAt(
      "pre-tool-use",
      shell(
        says({
          systemMessage: "careful",
          hookSpecificOutput: { permissionDecision: "allow", updatedInput: { command: "true" }, additionalContext: "x" },
        }),
      ),
    );
    expect(before.result).toBeUndefined();
    expect(before.warnings).toEqual([
      "careful",
      "its updatedInput is not used: hooks don't rewrite anything",
      "its additionalContext is not used: only after a tool call is the model told what a hook says",
    ]);
  });

  it("warns with any other exit code, with an output that can't be read, and where it can't be run; a guard fails closed", async () => {
    const broken = createShellHook<"pre-tool-use">({ command: "x", exec: { execute: () => Promise.reject(new Error("no shell here")) } });
    for (const [hook, problem] of [
      [shell<"pre-tool-use">("echo oops >&2; exit 1"), "ended with code 1: oops"],
      [shell<"pre-tool-use">("kill -9 $$"), "ended with the signal SIGKILL: it wrote nothing to stderr"],
      [shell<"pre-tool-use">("no-such-program-at-all 2>/dev/null"), "ended with code 127: it wrote nothing to stderr"],
      [shell<"pre-tool-use">("echo '{nonsense'"), expect.stringMatching(/^printed what is no JSON: /)],
      [
        shell<"pre-tool-use">(says({ decision: "perhaps" })),
        expect.stringMatching(/^decided "perhaps", which is none of deny, block, ask/),
      ],
      [shell<"pre-tool-use">(says({ reason: "x".repeat(2000) }), { maxOutputBytes: 1000 }), "printed 2013 bytes; 1000 are read"],
      [broken, "could not be run: no shell here"],
    ] as const) {
      expect(await callAt("pre-tool-use", hook)).toEqual({ result: undefined, warnings: [problem] });
      await expect(callAt("pre-tool-use", hook, { guard: true })).rejects.toThrow(expect.objectContaining({ message: problem }) as Error);
    }
  });

  it("asks nobody where there is no call to ask about: a guard refuses then", async () => {
    const ask = says({ decision: "ask", reason: "sure?" });
    expect(await callAt("subagent-start", shell(ask))).toEqual({
      result: undefined,
      warnings: ["it wants a person asked, which is done for tool calls only: sure?"],
    });
    expect((await callAt("subagent-start", shell(ask), { guard: true })).result).toEqual({ type: "abort", reason: "sure?" });
  });

  it("keeps no more of a flood than its bound", async () => {
    const { result } = await callAt("pre-tool-use", shell("head -c 5000000 /dev/zero | tr '\\0' x >&2; exit 2", { maxOutputBytes: 1000 }));
    expect((result as { readonly reason: string }).reason.length).toBeLessThan(1100);
  });

  it("is ended with all its processes when its time is up [HK-09]", async () => {
    const mark = join(folder, "started");
    const controller = new AbortController();
    const running = callAt("pre-tool-use", shell(`(trap '' TERM; touch ${mark}; sleep 300) & wait`), { signal: controller.signal });
    while (!existsSync(mark)) await new Promise((resolve) => setImmediate(resolve));
    controller.abort("timeout");
    // The executor answers only when nothing of the group is left.
    expect(await running).toEqual({ result: undefined, warnings: [] });
  });

  it("knows our tools by the names it is given, and takes a program with arguments", async () => {
    const requests: ExecuteRequest[] = [];
    const spy: Executor = { execute: async (request) => (requests.push(request), exec.execute({ command: "true" })) };
    await callAt("pre-tool-use", createShellHook({ command: "/bin/check", args: ["--strict"], exec: spy, toolNames: { bash: "Bash" } }));
    expect(requests[0]).toMatchObject({ program: "/bin/check", args: ["--strict"], maxOutputBytes: 32 * 1024 });
    expect(JSON.parse(String(requests[0]?.stdin))).toMatchObject({ tool_name: "Bash" });
  });
});

describe("hooks from settings", () => {
  const settings = (hooks: unknown) => ({ hooks });
  const refusal = (option: string): Error =>
    expect.objectContaining({ failure: expect.objectContaining({ kind: "invalid-option", option }) as unknown }) as Error;

  it("are those of the shape that coding agents share, with times in seconds [HK-01, HK-09]", async () => {
    await writeFile(join(folder, "check.sh"), "exit 0");
    const registry = hooksFromJson(
      settings({
        PreToolUse: [
          { matcher: "Bash|Edit", hooks: [{ type: "command", command: "./check.sh", timeout: 60 }] },
          {
            matcher: "mcp__.*",
            hooks: [
              { type: "command", command: "true", guard: true },
              { type: "command", command: "false" },
            ],
          },
        ],
        PostToolUse: [{ hooks: [{ type: "command", command: "true" }] }],
        SessionEnd: [{ matcher: "complete", hooks: [{ type: "command", command: "true" }] }],
        Notification: [{ matcher: "", hooks: [{ type: "command", command: `echo ${"x".repeat(80)}` }] }],
      }),
      { exec },
    );
    expect(registry.hooks).toEqual([
      { point: "pre-tool-use", name: "./check.sh", pattern: "function Bash|Edit", timeoutMs: 60_000, guard: false },
      { point: "pre-tool-use", name: "true", pattern: "function mcp__.*", timeoutMs: 30_000, guard: true },
      { point: "pre-tool-use", name: "false", pattern: "function mcp__.*", timeoutMs: 30_000, guard: false },
      { point: "post-tool-use", name: "true", timeoutMs: 30_000, guard: false },
      { point: "session-end", name: "true", timeoutMs: 30_000, guard: false },
      { point: "notification", name: `echo ${"x".repeat(55)}…`, timeoutMs: 30_000, guard: false },
    ]);
    const guarded = hooksFromJson(
      settings({
        PreToolUse: [{ hooks: [{ type: "command", command: "true" }] }],
        SessionEnd: [{ hooks: [{ type: "command", command: "true" }] }],
      }),
      { exec, guard: true },
    );
    expect(guarded.hooks.map(({ guard }) => guard)).toEqual([true, false]);
  });

  it("that are wrong are refused, with the place", () => {
    const group = (entry: unknown) => ({ PreToolUse: [{ hooks: [entry] }] });
    for (const [config, path] of [
      ["x", "config"],
      [{ hooks: [] }, "hooks"],
      [settings({ PreToolUse: {} }), "hooks.PreToolUse"],
      [settings({ PreToolUse: ["x"] }), "hooks.PreToolUse[0]"],
      [settings({ PreToolUse: [{ matcher: 1, hooks: [] }] }), "hooks.PreToolUse[0].matcher"],
      [settings({ PreToolUse: [{ matcher: "(", hooks: [] }] }), "hooks.PreToolUse[0].matcher"],
      [settings({ PreToolUse: [{}] }), "hooks.PreToolUse[0].hooks"],
      [settings(group({ type: "command" })), "hooks.PreToolUse[0].hooks[0].command"],
      [settings(group({ type: "command", command: "x", timeout: "5" })), "hooks.PreToolUse[0].hooks[0].timeout"],
      [settings(group({ type: "command", command: "x", args: [1] })), "hooks.PreToolUse[0].hooks[0].args"],
      [settings(group({ type: "prompt", prompt: "x" })), "hooks.PreToolUse[0].hooks[0].type"],
      [settings({ UserPromptSubmit: [] }), "hooks.UserPromptSubmit"],
    ] as const)
      expect(() => hooksFromJson(config, { exec })).toThrowError(refusal(path));
    expect(hooksFromJson({}, { exec }).hooks).toEqual([]);
  });

  it("that we have no event for are left out where somebody is told", () => {
    const told: string[] = [];
    const registry = hooksFromJson(
      settings({
        Stop: [{ hooks: [{ type: "command", command: "true" }] }],
        PreToolUse: [
          {
            hooks: [
              { type: "prompt", prompt: "x" },
              { type: "command", command: "true" },
            ],
          },
        ],
      }),
      { exec, onUnsupported: (message) => void told.push(message) },
    );
    expect(registry.hooks).toHaveLength(1);
    expect(told).toEqual([
      expect.stringMatching(/^hooks\.Stop: there is no event "Stop" here; there are PreToolUse, /),
      expect.stringMatching(/^hooks\.PreToolUse\[0\]\.hooks\[0\]\.type: hooks of the type "prompt" are not run here/),
    ]);
  });
});
