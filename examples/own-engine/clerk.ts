// An agent that sends three articles, and has another one look at the order first. Its model answers by what it is shown: any process goes on alike.
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { agentTool, createAgent, defineTool } from "keelson";
import { scriptedModel } from "keelson/testing";
import { z } from "zod";

const always = <T>(turn: T): readonly T[] => Array.from({ length: 100 }, () => turn);

/** @param book the file in which each article that was sent stands as a line */
export function createClerk(book: string) {
  const send = defineTool({
    name: "send",
    description: "Sends an article to the customer.",
    effect: "write",
    input: z.object({ article: z.string() }),
    execute({ article }, { idempotencyKey }) {
      appendFileSync(book, `${idempotencyKey} ${article}\n`);
      return "sent";
    },
    // Asked where a process ended in the middle of a call, and nobody knows whether the article was sent.
    reconcile: (_input, { idempotencyKey }) =>
      sentArticles(book).some((line) => line.startsWith(idempotencyKey)) ? { output: "sent" } : "not-done",
  });

  const auditor = createAgent({ name: "auditor", description: "Looks at orders.", model: scriptedModel(always("The order is in order.")) });

  return createAgent({
    name: "clerk",
    model: scriptedModel(
      always(({ messages }) => {
        const results = messages.filter(({ role }) => role === "tool").length;
        if (results === 0) return { toolCalls: [{ name: "auditor", input: { task: "Look at the order." } }] };
        return results < 4 ? { toolCalls: [{ name: "send", input: { article: `article ${results}` } }] } : "All three are sent.";
      }),
    ),
    tools: [send, agentTool(auditor)],
    permissions: { mode: "bypass-all" },
  });
}

export function sentArticles(book: string): readonly string[] {
  return existsSync(book) ? readFileSync(book, "utf8").split("\n").slice(0, -1) : [];
}
