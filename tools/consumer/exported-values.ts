// What a library built on Keelson exports: values whose types the compiler has to name in declarations, from `keelson` alone.
import {
  AgentError,
  agentTool,
  createAgent,
  createModelRegistry,
  createRunner,
  defineTool,
  textMessage,
  type AgentEvent,
  type EventLog,
  type Provider,
  type RecordedEvent,
} from "keelson";
import { createSqliteEventLog } from "keelson/state";
import { createAnthropicProvider } from "keelson/providers/anthropic";
import { scriptedModel } from "keelson/testing";
import { z } from "zod";

interface Weather {
  city: string;
  celsius: number;
}

export const weather = defineTool({
  name: "weather",
  description: "The weather in a city, now.",
  effect: "read",
  input: z.object({ city: z.string() }),
  execute: async ({ city }): Promise<Weather> => ({ city, celsius: 7 }),
});
export const model = scriptedModel(["rain"]);
export const provider: Provider = createAnthropicProvider({ apiKey: "key" });
export const agent = createAgent({ name: "guide", model, tools: [weather], output: z.object({ umbrella: z.boolean() }) });
export const helper = agentTool(agent);
export const models = createModelRegistry({ providers: { anthropic: provider } });
export const log = createSqliteEventLog("sessions.db");
export const runner = createRunner({ agent, log, models });
export const run = runner.run("Do I need an umbrella?");
export const ask = async (words: string) => runner.run([{ type: "text", text: words }]).outcome;
export const questions = () => runner.approvals.list();
export const steer = () => textMessage("user", "and tomorrow?");
export const failureOf = (error: unknown) => (AgentError.is(error, "session") ? error.failure : undefined);
export const logOf = (own: EventLog) => createRunner({ agent, log: own }).sessions;

/** Exhaustive without a default: what a run shows is closed. */
export function textOf(event: AgentEvent): string | undefined {
  return event.type === "text-delta" ? event.text : undefined;
}
export const recorded = async (session: string) => {
  const events: RecordedEvent[] = [];
  for await (const event of runner.sessions.events(session)) events.push(event);
  return events;
};
