import type { BlobStore, EventLog, InferRequest, SessionId } from "@keelson/protocol";
import { agentTool, createAgent, createRunner, defineTool, type SingleRunner } from "keelson";
import { scriptedModel, type ScriptedResponse, type ScriptedTurn } from "keelson/testing";

/** What the lead says, by how many responses stand in the conversation: two runs, with calls, a child and a question to a person. */
const SAID: readonly (string | ScriptedResponse)[] = [
  { text: "I look.", toolCalls: [1, 2].map((n) => ({ name: "look", input: { n } })) },
  { toolCalls: [{ name: "helper", input: { task: "Count." } }] },
  { toolCalls: [{ name: "write", input: { text: "x".repeat(100_000) } }] },
  "The first is done.",
  { toolCalls: [{ name: "look", input: { n: 3 } }] },
  { toolCalls: [{ name: "write", input: { text: "short" } }] },
  "The second is done.",
];

const bySaid = (said: readonly (string | ScriptedResponse)[]): readonly ScriptedTurn[] =>
  Array.from(
    { length: 20 },
    () =>
      ({ messages }: InferRequest) =>
        said[messages.filter(({ role }) => role === "assistant").length] ?? "There is nothing left to say.",
  );

/** A runner of the same agents, in whatever process. Snapshots come often, and large arguments stand in blobs. */
export function watchedRunner(log: EventLog, blobs: BlobStore): SingleRunner {
  const tool = (name: string, effect: "read" | "write") =>
    defineTool({ name, description: `Does ${name}.`, effect, input: { type: "object" }, execute: () => `${name} is done` });
  const helper = createAgent({
    name: "helper",
    model: scriptedModel(bySaid([{ toolCalls: [{ name: "look", input: {} }] }, "Three."])),
    tools: [tool("look", "read")],
  });
  const lead = createAgent({
    name: "lead",
    model: scriptedModel(bySaid(SAID)),
    tools: [tool("look", "read"), tool("write", "write"), agentTool(helper)],
    permissions: { rules: [{ pattern: "write", behavior: "ask" }] },
  });
  return createRunner({
    agent: lead,
    log,
    blobs,
    recordsPerSnapshot: 5,
    approvalKeys: { current: { id: "watched", secret: new Uint8Array(32).fill(3) } },
  });
}

/** Works both runs turn by turn, with a runner of its own for each act, and rests before each. */
export async function workWatched(runner: () => SingleRunner, session: string, rest: () => Promise<void>): Promise<void> {
  for (const input of ["one", "two"]) {
    await runner().begin(session, input);
    for (let next = "now"; next !== "done";) {
      await rest();
      next = (await runner().advance(session as SessionId)).next.type;
      if (next !== "waiting") continue;
      for (const { token } of await runner().approvals.list()) await runner().approve(token, { type: "allow" });
    }
  }
}
