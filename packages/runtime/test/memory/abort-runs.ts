// Aborts runs at random points and says how the heap grew. Arguments: url of a server that stalls, seed, warm-ups, runs, and
// where the log is: "memory" (whose sessions are deleted, since it holds them by design) or a folder.
import { join } from "node:path";
import { type Provider, textMessage, UNKNOWN_USAGE } from "@keelson/protocol";
import { agentTool, createAgent, createModelRegistry, createRunner, defineTool } from "keelson";
import { createAnthropicProvider } from "keelson/providers/anthropic";
import { createOpenAiChatProvider } from "keelson/providers/openai-chat";
import { createMemoryBlobStore, createMemoryEventLog, createSqliteBlobStore, createSqliteEventLog } from "keelson/state";
import { randomNumbers } from "../processes/random-numbers.ts";

const [, , url = "", seed = "1", warmUps = "200", runs = "1000", where = "memory"] = process.argv;
const random = randomNumbers(Number(seed));
const collect = (globalThis as unknown as { gc(): void }).gc;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const log = where === "memory" ? createMemoryEventLog() : createSqliteEventLog(join(where, "runs.db"));
const blobs = where === "memory" ? createMemoryBlobStore() : createSqliteBlobStore(join(where, "runs.db"));
const hang = defineTool({
  name: "hang",
  description: "Hangs.",
  effect: "read",
  input: { type: "object" },
  execute: (_input, { signal }) =>
    new Promise<string>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true })),
});
const deploy = defineTool({
  name: "deploy",
  description: "Deploys.",
  effect: "write",
  risk: "high",
  input: { type: "object" },
  execute: () => "deployed",
});
/** A model that calls a tool again and again, and remembers nothing of it. */
const calls = (name: string, input: object = {}): Provider => ({
  name: `calls/${name}`,
  wire: "test",
  async *stream({ model }) {
    yield { type: "tool-call-start", index: 0, id: "call_0", name };
    yield { type: "tool-call-delta", index: 0, text: JSON.stringify(input) };
    yield { type: "tool-call-end", index: 0 };
    yield { type: "end", stopReason: "tool-use", rawStopReason: null, usage: UNKNOWN_USAGE, model };
  },
});
const child = createAgent({ name: "child", model: calls("hang"), tools: [hang] });
const agents = {
  anthropic: createAgent({ name: "anthropic", model: "anthropic/flood" }),
  openai: createAgent({ name: "openai", model: "openai/flood" }),
  tool: createAgent({ name: "tool", model: calls("hang"), tools: [hang] }),
  approval: createAgent({ name: "approval", model: calls("deploy"), tools: [deploy] }),
  parent: createAgent({ name: "parent", model: calls("child", { task: "Hang." }), tools: [agentTool(child)] }),
};
const models = createModelRegistry({
  providers: {
    anthropic: createAnthropicProvider({ apiKey: "k", baseUrl: `${url}/slow` }),
    openai: createOpenAiChatProvider({ apiKey: "k", baseUrl: `${url}/slow/v1` }),
  },
});
const runner = createRunner({ agents, models, log, blobs });
const names = Object.keys(agents) as (keyof typeof agents)[];
/** One that all runs are given, as programs do: nothing of a run may stay on it. */
const shared = new AbortController();

async function abortOne(number: number): Promise<void> {
  const agent = names[Math.floor(random() * names.length)] as keyof typeof agents;
  const run = runner.run([{ type: "text", text: `Task ${number}.` }], { agent, session: `s${number}`, signal: shared.signal });
  const watcher = run[Symbol.asyncIterator]();
  const questions = run.approvals()[Symbol.asyncIterator]();
  const how = random();
  if (how < 0.2) await run.abort();
  else {
    // Until it is in the middle of what it does, then a random number of turns more.
    const signs = {
      anthropic: "text-delta",
      openai: "text-delta",
      tool: "tool-calls-start",
      approval: "approval-request",
      parent: "child-start",
    };
    for (;;) {
      const { done, value } = await watcher.next();
      if (done || value.type === signs[agent]) break;
    }
    for (let left = Math.floor(random() * 4); left > 0; left--) await turn();
    if (how < 0.3) await run.steer(textMessage("user", "Wait."), { interrupt: true });
    await run.abort();
  }
  const { reason } = await run.outcome;
  if (reason !== "aborted") throw new Error(`run ${number} of ${agent} ended ${reason}`);
  await watcher.return?.();
  await questions.return?.();
  if (where !== "memory") return;
  await runner.sessions.delete(run.session);
}

async function heap(): Promise<number> {
  for (let pass = 0; pass < 3; pass++) {
    await turn();
    collect();
  }
  return process.memoryUsage().heapUsed;
}

let number = 0;
while (number < Number(warmUps)) await abortOne(number++);
const samples: [number, number][] = [[0, await heap()]];
for (let done = 1; done <= Number(runs); done++) {
  await abortOne(number++);
  if (done % 50 === 0) samples.push([done, await heap()]);
}
await log[Symbol.asyncDispose]();
await blobs[Symbol.asyncDispose]();
// Sockets close in their own time, not in ours.
for (let left = 2_000; left > 0 && process.getActiveResourcesInfo().some((name) => name !== "PipeWrap"); left--) await turn();
process.stdout.write(
  JSON.stringify({ bytesPerRun: slope(samples), open: process.getActiveResourcesInfo().filter((name) => name !== "PipeWrap"), samples }),
);

/** Of the line through the samples that is nearest to them all. */
function slope(points: readonly (readonly [number, number])[]): number {
  const meanX = points.reduce((sum, [x]) => sum + x, 0) / points.length;
  const meanY = points.reduce((sum, [, y]) => sum + y, 0) / points.length;
  let above = 0;
  let below = 0;
  for (const [x, y] of points) {
    above += (x - meanX) * (y - meanY);
    below += (x - meanX) ** 2;
  }
  return above / below;
}
