import { describe, expect, it } from "vitest";
import { z } from "zod";
import { slidingWindow } from "../../context/compaction/strategy.ts";
import { ruleBefore } from "../../context/rule.ts";
import { scriptedModel } from "../../testing/scripted-model.ts";
import { defineTool } from "../../tools/define-tool.ts";
import type { AgentOptions } from "./agent.ts";
import { createAgent } from "./create-agent.ts";
import { createHookRegistry } from "./hooks/hook-registry.ts";
import { definePlugin } from "./plugins/define-plugin.ts";
import { signalRoute } from "./signals/signal-router.ts";
import { fsmStrategy } from "./strategies/fsm-strategy-builder.ts";

const read = (change: object = {}) =>
  defineTool({ name: "read", description: "Reads.", effect: "read", input: { type: "object" }, execute: () => "", ...change });
const look = (): undefined => undefined;
const seek = (): undefined => undefined;
const helper = createAgent({ name: "helper", model: scriptedModel([]) });
const source = (name: string, tools: readonly string[]) => ({
  name,
  open: () => ({ tools: () => tools.map((tool) => read({ name: tool })), async [Symbol.asyncDispose]() {} }),
});
const total = z.object({ total: z.number() });

type Change = { readonly [O in keyof AgentOptions<never> | "context"]?: unknown };
/** Of each option: sets of definitions. Those of one set have one digest, which none of another set has, nor the plain definition. */
type Sets = readonly (readonly Change[])[];

/** An option that is added needs a line here. */
const DIFFERENT: { readonly [O in keyof Required<AgentOptions<never>> | "context"]: Sets } = {
  name: [[{ name: "other" }]],
  model: [
    [{ model: "openai/gpt-5" }],
    [{ model: scriptedModel([], { name: "scripted/a" }) }, { model: scriptedModel(["x"], { name: "scripted/a" }) }],
  ],
  fallbackModel: [[{ fallbackModel: "openai/gpt-5" }], [{ fallbackModel: "openai/gpt-5-mini" }]],
  instructions: [[{ instructions: "Be brief." }], [{ instructions: "Be kind." }], [{ instructions: look }], [{ instructions: seek }]],
  systemPrompt: [[{ systemPrompt: { type: "append", content: "x" } }], [{ systemPrompt: { type: "replace", content: "x" } }]],
  tools: [
    [{ tools: [] }],
    [{ tools: [read({ version: "2" })] }],
    [{ tools: [read({ effect: "write", risk: "none", concurrency: "shared" })] }],
    [{ tools: [read({ risk: "high" })] }],
    [{ tools: [read({ concurrency: "exclusive" })] }],
    [{ tools: [read({ timeoutMs: 5 })] }],
    [{ tools: [read({ maxOutputBytes: 5 })] }],
    [{ tools: [read({ aliases: ["view"] })] }],
  ],
  deferTools: [[{ deferTools: false }], [{ deferTools: { aboveTools: 9 } }], [{ deferTools: { aboveBytes: 9 } }]],
  mcpServers: [[{ mcpServers: ["notes"] }], [{ mcpServers: ["notes", "mail"] }]],
  toolSources: [
    [{ toolSources: [source("a", ["one"])] }, { toolSources: [source("a", ["other"])] }],
    [{ toolSources: [source("b", ["one"])] }],
    [{ toolSources: [source("a", []), source("b", [])] }],
  ],
  agents: [[{ agents: { helper } }], [{ agents: { assistant: helper } }]],
  allowedTools: [[{ allowedTools: ["read"] }], [{ allowedTools: [] }]],
  excludedTools: [[{ excludedTools: ["read"] }, { tools: [] }]],
  limits: [
    [{ limits: { maxTurns: 3 } }],
    [{ limits: { maxCost: "1" } }],
    [{ limits: { maxRepairs: 1 } }],
    [{ limits: { toolTimeoutMs: 9 } }],
  ],
  permissions: [
    [{ permissions: { mode: "plan-only" } }],
    [{ permissions: { rules: [{ pattern: "read", behavior: "ask" }] } }],
    [{ permissions: { rules: [{ pattern: "read", behavior: "deny" }] } }],
  ],
  sandbox: [
    [{ sandbox: { enabled: true, deniedCommands: [] } }],
    [{ sandbox: { enabled: true, deniedCommands: ["curl"] } }],
    [{ sandbox: { enabled: true, deniedCommands: [], network: { enabled: true, deniedDomains: [] } } }],
  ],
  rules: [
    [{ rules: [ruleBefore("infer", "r", 0, look)] }, { rules: [ruleBefore("infer", "r", 0, seek)] }],
    [{ rules: [ruleBefore("infer", "r", 1, look)] }],
    [{ rules: [ruleBefore("compile", "r", 0, look)] }],
    [{ rules: [ruleBefore("infer", "s", 0, look)] }],
  ],
  directiveFilters: [[{ directiveFilters: [{ name: "f", filter: look }] }], [{ directiveFilters: [{ name: "g", filter: look }] }]],
  onModelError: [[{ onModelError: look }], [{ onModelError: seek }]],
  onMaxTokens: [[{ onMaxTokens: "continue" }]],
  compact: [[{ compact: look }], [{ compact: seek }]],
  compaction: [
    [{ compaction: {} }],
    [{ compaction: { when: { maxMessages: 9 } } }],
    [{ compaction: { strategy: slidingWindow({ keep: 5 }) } }],
    [{ compaction: { strategy: slidingWindow({ keep: 6 }) } }],
  ],
  strategy: [
    [{ strategy: fsmStrategy().initial("a").tools("read").build() }],
    [{ strategy: fsmStrategy().initial("b").tools("read").build() }],
    [{ strategy: fsmStrategy().initial("a").build() }],
  ],
  signalRoutes: [
    [{ signalRoutes: [signalRoute("order", { type: "continue" })] }],
    [{ signalRoutes: [signalRoute("order", { type: "force-stop" })] }],
    [{ signalRoutes: [signalRoute("order", { type: "continue" }, 1)] }],
  ],
  onSignal: [[{ onSignal: { book: look } }, { onSignal: { book: seek } }], [{ onSignal: { file: look } }]],
  output: [[{ output: total }], [{ output: z.object({ total: z.string() }) }]],
  outputMode: [[{ output: total, outputMode: "native" }], [{ output: total, outputMode: "prompt" }]],
  effort: [[{ effort: "low" }], [{ effort: "high" }]],
  thinking: [[{ thinking: { type: "disabled" } }]],
  settings: [[{ settings: { temperature: 1 } }], [{ settings: { temperature: 0 } }]],
  loopGuard: [[{ loopGuard: false }]],
  cwd: [[{ cwd: "/srv/a" }], [{ cwd: "/srv/b" }]],
  hooks: [
    [{ hooks: createHookRegistry().onPreToolUse("read", look) }],
    [{ hooks: createHookRegistry().onPreToolUse("*", look) }],
    [{ hooks: createHookRegistry().onPreToolUse("read", look, { guard: true }) }],
  ],
  beforeTurn: [[{ beforeTurn: look }], [{ beforeTurn: seek }]],
  afterTurn: [[{ afterTurn: look }], [{ afterTurn: seek }]],
  // A value may be a secret.
  env: [[{ env: { A: "1" } }, { env: { A: "2" } }], [{ env: { B: "1" } }]],
  plugins: [
    [{ plugins: [definePlugin({ key: "p", initialState: {} })] }],
    [{ plugins: [definePlugin({ key: "q", initialState: {} })] }],
    [{ plugins: [definePlugin({ key: "p", initialState: {}, beforeRun: look })] }],
  ],
  middleware: [
    [{ middleware: [{ name: "m", process: look }] }],
    [{ middleware: [{ name: "n" }] }],
    [{ middleware: [{ name: "m", systemPromptAdditions: () => ["Be brief."] }] }],
  ],
  // Nothing that its runs depend on, or recorded with each of them.
  description: [],
  context: [],
  metadata: [],
  debug: [],
  debugFile: [],
};
const SAME: readonly Change[] = [
  {},
  { description: "x" },
  { context: () => "made" },
  { metadata: { team: "red" } },
  { debug: true },
  { debugFile: "/tmp/x" },
  { tools: [read()] },
];

const digestOf = (change: Change): string =>
  createAgent({ name: "clerk", model: "anthropic/claude-haiku-4-5", tools: [read()], ...change } as never).digest;

describe("the digest of a definition", () => {
  it.each(Object.entries<Sets>(DIFFERENT).filter(([, sets]) => sets.length > 0))("depends on %s as data", (_option, sets) => {
    const digests = sets.map((changes) => new Set(changes.map(digestOf)));
    for (const digest of digests) expect(digest.size).toBe(1);
    expect(new Set([digestOf({}), ...digests.flatMap((digest) => [...digest])]).size).toBe(sets.length + 1);
  });

  it("does not depend on what its runs do not", () => {
    expect(new Set(SAME.map(digestOf)).size).toBe(1);
    expect(JSON.stringify(Object.keys(DIFFERENT).filter((option) => DIFFERENT[option as keyof typeof DIFFERENT].length === 0))).toBe(
      JSON.stringify(["description", "context", "metadata", "debug", "debugFile"]),
    );
  });
});
