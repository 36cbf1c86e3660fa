import { type EventLog, type SessionId, sessionLog } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { OutputModeOption } from "../../src/agent/definition/output/output-mode.ts";
import { createAgent } from "../../src/index.ts";
import type { ScriptedResponse } from "../../src/testing/scripted-model.ts";
import { normalisedLog } from "./normalised-log.ts";
import { type OpenRunner, openRunner, scriptByTurn, SESSION, tool } from "./scenario.ts";
import { faultsAfter, simulateLives } from "./simulated-lives.ts";

const output = z.object({ total: z.number() });
const call = (input: { readonly total?: unknown }, more: ScriptedResponse["toolCalls"] = []): ScriptedResponse => ({
  toolCalls: [...more, { name: "final_answer", input: input as never }],
});

interface Story {
  readonly mode: (services: Parameters<OpenRunner>[0]) => OutputModeOption;
  readonly responses: readonly ScriptedResponse[];
}

/** Each takes a tool that changes something, then as many wrong responses as there are repairs. */
const STORIES: { readonly [mode: string]: Story } = {
  tool: {
    mode: () => "tool",
    responses: [call({ total: 1 }, [{ name: "send", input: {} }]), call({ total: "much" }), { text: "It is eight." }, call({ total: 8 })],
  },
  prompt: {
    mode: () => "prompt",
    responses: [
      { toolCalls: [{ name: "send", input: {} }] },
      { text: "It is eight." },
      { text: 'So: {"total": "eight"}' },
      { text: '```json\n{"total": 8}\n```' },
    ],
  },
  custom: {
    mode: ({ points, effects }) => ({
      type: "custom",
      async extract(text, { repairs }) {
        await points.pass("extract");
        effects.write({ tool: "mark", key: text, attempt: repairs });
        await points.pass("extracted");
        const found = /is (\S+)\./.exec(text)?.[1];
        return found === undefined ? undefined : { total: Number(found) };
      },
    }),
    responses: [{ toolCalls: [{ name: "send", input: {} }] }, { text: "No idea." }, { text: "It is much." }, { text: "It is 8." }],
  },
};

function openStory({ mode, responses }: Story): OpenRunner {
  return (services) =>
    openRunner(
      services,
      () =>
        createAgent({
          name: "clerk",
          model: scriptByTurn(services.points, "scripted/clerk", (turn) => responses[turn] as ScriptedResponse),
          tools: [tool(services, "send", "write", true)],
          output,
          outputMode: mode(services),
        }) as never,
    );
}

/** Responses of which the log holds what was made of them. */
async function judged(log: EventLog): Promise<number> {
  let count = 0;
  for await (const { key, type } of log.read(sessionLog(SESSION as SessionId)))
    if (type === "decision" && /\/output\/\d+$/.test(key)) count++;
  return count;
}

describe.each(Object.entries(STORIES))("a run that gives a structured output in mode %s", (_mode, story) => {
  const open = openStory(story);

  it("goes on from every step boundary to the same end, with the same repairs [MC-06, AG-14]", { timeout: 60_000 }, async () => {
    const first = simulateLives({ open });
    const { passed, finished } = await first.live();
    expect(finished?.outcome).toMatchObject({ reason: "complete", output: { total: 8 }, turns: 2 });
    const expected = {
      normalised: await normalisedLog(first.log, SESSION),
      effects: first.effects.read().filter(({ tool }) => tool === "send"),
    };
    expect(expected.normalised.filter((line) => (line as { readonly type?: string }).type === "output-repair")).toHaveLength(2);
    const faults: string[] = [];
    for (const place of passed) {
      const lives = simulateLives({ open });
      await lives.live(place);
      const known = await judged(lives.log);
      const asked = lives.effects.read().filter(({ tool }) => tool === "mark").length;
      const { finished: later } = await lives.live();
      for (const fault of await faultsAfter(lives.log, lives.effects, later, expected)) faults.push(`${place}: ${fault}`);
      if (JSON.stringify(later?.outcome.output) !== '{"total":8}')
        faults.push(`${place}: the output is ${JSON.stringify(later?.outcome.output)}`);
      // What the log holds a verdict of is never asked about again; what it doesn't, once more.
      const again = lives.effects.read().filter(({ tool }) => tool === "mark").length - asked;
      if (asked > 0 && again !== 3 - known) faults.push(`${place}: ${again} outputs were read again, and ${known} of 3 were known`);
    }
    expect(faults).toEqual([]);
  });
});
