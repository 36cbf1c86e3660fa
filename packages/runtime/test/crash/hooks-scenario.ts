import { type EventLog, type HookPoint, type SessionId, sessionLog, type Tool } from "@keelson/protocol";
import { agentTool, createAgent, defineTool } from "../../src/index.ts";
import type { SingleRunner } from "../../src/agent/runner/runner.ts";
import { createHookRegistry, type HookContext } from "../../src/agent/index.ts";
import { openRunner, scriptByTurn, SESSION, type ScenarioServices } from "./scenario.ts";

/** What a log holds of hooks: the decisions of those that decide, and which of the others were told. */
export async function decisionsOf(log: EventLog): Promise<ReadonlyMap<string, unknown>> {
  const found = new Map<string, unknown>();
  for await (const { type, key, data } of log.read(sessionLog(SESSION as SessionId)))
    if (type === "decision" || type === "hooks-told" || type === "turn-told")
      found.set(key.slice(key.indexOf("/") + 1), data["value"] ?? null);
  return found;
}

/** Counts each call of each hook where a crash can't reach it, and decides differently from one call to the next. */
export function openHooked(services: ScenarioServices): SingleRunner {
  const { points, effects } = services;
  const act = async (name: string): Promise<number> => {
    await points.pass(`${name}/before`);
    const count = effects.read().filter(({ tool }) => tool === name).length;
    effects.write({ tool: name, key: name, attempt: count });
    await points.pass(`${name}/after`);
    return count;
  };
  return openRunner(services, (log) => {
    const decided = async (suffix: string): Promise<boolean> =>
      [...(await decisionsOf(log)).keys()].some((key) => key.endsWith(suffix) || key.includes(suffix));
    /** A decision that stands in the log must not be asked for again. */
    const ask = async (point: HookPoint, suffix: string): Promise<number> => {
      if (await decided(suffix)) effects.write({ tool: "asked-again", key: `${point} ${suffix}`, attempt: 0 });
      return act(point);
    };
    const ofCall = ({ callId }: HookContext, place: string): string => `${callId ?? ""}/hooks/${place}`;
    const hooks = createHookRegistry()
      .onSessionStart(async ({ resumed }) => void (resumed ? await act("resumed") : await ask("session-start", "prologue/hooks")))
      .onPreToolUse("note", async (_payload, context) => {
        const count = await ask("pre-tool-use", ofCall(context, "pre/"));
        return count % 2 === 0 ? undefined : { type: "abort", reason: `refused at call ${count}` };
      })
      .onPostToolUse("*", async (_payload, context) => {
        const count = await ask("post-tool-use", ofCall(context, "post"));
        return { type: "tell", reason: `remark ${count}` };
      })
      .onSubagentStart("*", async (_payload, context) => void (await ask("subagent-start", ofCall(context, "subagent-start"))))
      .onSubagentStop("*", async () => void (await ask("subagent-stop", "hooks/subagent-stop")))
      .onSessionEnd(async () => void (await ask("session-end", "hooks/session-end")));
    const helper = createAgent({ name: "helper", model: scriptByTurn(points, "scripted/helper", () => ({ text: "Helped." })) });
    return createAgent({
      name: "hooked",
      model: scriptByTurn(points, "scripted/hooked", (turn) =>
        turn === 0
          ? {
              toolCalls: [
                { name: "note", input: { n: 1 } },
                { name: "note", input: { n: 2 } },
                { name: "send", input: { to: "ann" } },
              ],
            }
          : turn === 1
            ? { toolCalls: [{ name: "helper", input: { task: "help" } }] }
            : { text: "Done." },
      ),
      tools: [tool(services, "note", "read"), tool(services, "send", "write"), agentTool(helper)],
      hooks,
      beforeTurn: async ({ turn }) => {
        if (await decided(`t${turn}/before-turn`)) effects.write({ tool: "asked-again", key: `before turn ${turn}`, attempt: 0 });
        await act("before-turn");
      },
      afterTurn: async ({ turn }) => {
        if (await decided(`t${turn}/after-turn`)) effects.write({ tool: "asked-again", key: `after turn ${turn}`, attempt: 0 });
        await act("after-turn");
      },
    });
  });
}

function tool({ points, effects }: ScenarioServices, name: string, effect: "read" | "write"): Tool {
  return defineTool({
    name,
    description: `Does ${name}.`,
    effect,
    input: { type: "object" },
    async execute(input, { idempotencyKey, attempt }) {
      await points.pass(`${name}/before`);
      effects.write({ tool: name, key: idempotencyKey, attempt });
      await points.pass(`${name}/after`);
      return `${name} ${JSON.stringify(input)}`;
    },
    ...(effect === "write" && {
      reconcile: (input: unknown, { idempotencyKey }: { readonly idempotencyKey: string }) =>
        effects.read().some(({ key }) => key === idempotencyKey) ? { output: `${name} ${JSON.stringify(input)}` } : ("not-done" as const),
    }),
  }) as Tool;
}
