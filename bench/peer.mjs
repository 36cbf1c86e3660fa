// Plugs Keelson into a side-by-side bench of agent runtimes: the whole runtime (loop, log, events, retries, cancellation) on
// its Chat Completions wire, in memory, from the built packages.
import { createAgent, createModelRegistry, createRunner, defineTool } from "keelson";
import { createOpenAiChatProvider } from "keelson/providers/openai-chat";
import { z } from "zod";

export const wire = "chat";
export const about = "createRunner: full loop with log and events, Zod tool";

export function make({ baseURL, system, prompt, tool }) {
  const models = createModelRegistry({ providers: { mock: createOpenAiChatProvider({ apiKey: "x", baseUrl: baseURL }) } });
  const callers = new Map();
  const read = defineTool({
    name: tool.name,
    description: tool.description,
    effect: "read",
    input: z.object({ path: z.string(), line: z.number() }),
    execute({ path, line }, { runId }) {
      callers.get(runId)?.();
      return tool.answer(path, line);
    },
  });
  const runners = new Map();
  const runnerFor = (model) => {
    let runner = runners.get(model);
    if (runner === undefined) {
      runner = createRunner({
        agent: createAgent({ name: "bench", model: `mock/${model}`, instructions: system, tools: [read], limits: { maxTurns: 5000 } }),
        models,
      });
      runners.set(model, runner);
    }
    return runner;
  };
  return {
    async run(options) {
      const run = runnerFor(options.model).run(prompt);
      if (options.onTool) callers.set(run.id, options.onTool);
      for await (const event of run) if (event.type === "text-delta") options.onEvent?.(event.text);
      const outcome = await run.outcome;
      callers.delete(run.id);
      if (outcome.reason !== "complete") throw outcome.error ?? new Error(`the run ended ${outcome.reason}`);
      return { text: outcome.text };
    },
  };
}
