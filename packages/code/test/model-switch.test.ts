import { requestMessages, type ServerRequest, type ServerTurn } from "keelson/testing";
import { describe, expect, it, vi } from "vitest";
import { type Workspace, endOf, eventsOf, everyWire, type Finished, openWorkspace } from "./keelson-process.ts";

// Every test starts processes, on machines that may be busy.
vi.setConfig({ testTimeout: 60_000 });

const NOTES = { "notes.txt": "the blue door" };

/** A turn that thinks, speaks and reads the notes, and one that ends the run. */
const reading = (text: string): ServerTurn => ({
  thinking: `thought before ${text}`,
  text,
  toolCalls: [{ name: "read_file", input: { path: "notes.txt" } }],
});
const ending = (text: string): ServerTurn => ({ thinking: `thought before ${text}`, text });

function keelson(workspace: Workspace, ...args: readonly string[]): Promise<Finished> {
  return workspace.start(["-p", "--output-format", "stream-json", ...args], { env: everyWire(workspace.server) }).finished;
}

/** Everything that a request says, without the system prompt. */
function saidIn(request: ServerRequest | undefined): string {
  if (request === undefined) return "";
  const messages = requestMessages(request).filter(({ role }) => role !== "system");
  return messages.map(({ text, results }) => [text, ...results].join("\n")).join("\n");
}

describe("a session of the command", () => {
  it("goes from process to process and from wire to wire with --model, and back to where it began", async () => {
    await using workspace = await openWorkspace(
      ({ index }) => (index % 2 === 0 ? reading(`step ${index}`) : ending(`step ${index}`)),
      NOTES,
    );
    const models = [
      "anthropic/claude-sonnet-4-5",
      "gemini/gemini-3-pro-preview",
      "openai-responses/gpt-5-mini",
      "ollama/qwen3:8b",
      "mistral/mistral-medium-latest",
      "anthropic/claude-sonnet-4-5",
    ];
    for (const [at, model] of models.entries()) {
      const finished = await keelson(workspace, ...(at === 0 ? [] : ["-c"]), "--model", model, `task ${at}`);
      expect([finished.code, endOf(eventsOf(finished))]).toEqual([
        0,
        expect.objectContaining({ reason: "complete", text: `step ${2 * at + 1}` }),
      ]);
    }
    expect(workspace.server.refused).toEqual([]);
    expect(workspace.server.requests.map(({ wire }) => wire)).toEqual(
      ["anthropic-messages", "gemini", "openai-responses", "ollama-chat", "openai-chat", "anthropic-messages"].flatMap((wire) => [
        wire,
        wire,
      ]),
    );
    // Each run is a task, a step that reads the notes, and a step that ends it.
    const story = models.flatMap((_, run) => [[`task ${run}`], [`step ${2 * run}`, "the blue door"], [`step ${2 * run + 1}`]]);
    for (const [at, request] of workspace.server.requests.entries()) {
      const before = story.slice(0, 3 * Math.floor(at / 2) + 1 + (at % 2));
      expect(saidIn(request)).toMatch(new RegExp(before.flat().join("[\\s\\S]*")));
    }
    // What the first model thought is its own again, and its alone.
    const sent = workspace.server.requests.map(({ body }) => JSON.stringify(body).includes("thought before step 0"));
    expect(sent).toEqual([false, true, ...Array<boolean>(8).fill(false), true, true]);
  });

  it("goes on with another wire's model when an interrupted run is resumed with --model", async () => {
    await using workspace = await openWorkspace(
      [
        { ...reading("I need a command."), toolCalls: [{ name: "bash", input: { command: "touch seen; cat notes.txt" } }] },
        ending("It was blue."),
      ],
      NOTES,
    );
    const suspended = await keelson(workspace, "--model", "openai-responses/gpt-5-mini", "look at the notes");
    const wait = endOf(eventsOf(suspended));
    if (wait.type !== "run-suspend") throw new Error(`expected a suspended run, not ${wait.type}`);
    const [question] = wait.waits;
    const token = question !== undefined && "token" in question ? String(question.token) : "";
    expect((await workspace.keelson("approve", token, "allow")).code).toBe(0);

    const resumed = eventsOf(await keelson(workspace, "-c", "--model", "gemini/gemini-3-pro-preview"));
    expect(endOf(resumed)).toMatchObject({ type: "run-complete", reason: "complete", text: "It was blue.", runId: wait.runId });
    expect(resumed.find(({ type }) => type === "model-switch")).toMatchObject({
      from: "openai-responses/gpt-5-mini",
      to: "gemini/gemini-3-pro-preview",
    });
    expect(workspace.server.refused).toEqual([]);
    expect(workspace.server.requests.map(({ wire }) => wire)).toEqual(["openai-responses", "gemini"]);
    expect(saidIn(workspace.server.requests[1])).toMatch(/look at the notes[\s\S]*I need a command\.[\s\S]*the blue door/);
  });

  it("keeps the model that a run was switched to for the runs that follow, until another is named", async () => {
    await using workspace = await openWorkspace(
      ({ index }) =>
        index === 0
          ? { ...reading("I need a command."), toolCalls: [{ name: "bash", input: { command: "touch seen; cat notes.txt" } }] }
          : ending(`answer ${index}`),
      NOTES,
    );
    const wait = endOf(eventsOf(await keelson(workspace, "--on-approval", "suspend", "--model", "openai-responses/gpt-5-mini", "look")));
    if (wait.type !== "run-suspend") throw new Error(`expected a suspended run, not ${wait.type}`);
    const [question] = wait.waits;
    await workspace.keelson("approve", question !== undefined && "token" in question ? String(question.token) : "", "allow");
    await keelson(workspace, "-c", "--model", "gemini/gemini-3-pro-preview");
    await keelson(workspace, "-c", "and now?");
    await keelson(workspace, "-c", "--model", "ollama/qwen3:8b", "and now?");
    await keelson(workspace, "-c", "and now?");
    expect(workspace.server.requests.map(({ wire }) => wire)).toEqual([
      "openai-responses",
      "gemini",
      "gemini",
      "ollama-chat",
      "ollama-chat",
    ]);
  });

  it("falls back to another wire's model in the middle of its calls with --fallback-model", async () => {
    const down: ServerTurn = { status: 503, error: { message: "overloaded" } };
    await using workspace = await openWorkspace(
      ({ index, wire }) => (index === 0 ? reading("Let me read.") : wire === "anthropic-messages" ? down : ending("It is blue.")),
      NOTES,
    );
    const finished = await keelson(
      workspace,
      "--model",
      "anthropic/claude-sonnet-4-5",
      "--fallback-model",
      "ollama/qwen3:8b",
      "which door?",
    );
    expect([finished.code, endOf(eventsOf(finished))]).toEqual([0, expect.objectContaining({ reason: "complete", text: "It is blue." })]);
    expect(workspace.server.refused).toEqual([]);
    expect(workspace.server.requests.at(-1)).toMatchObject({ wire: "ollama-chat", model: "qwen3:8b" });
    expect(saidIn(workspace.server.requests.at(-1))).toMatch(/which door\?[\s\S]*Let me read\.[\s\S]*the blue door/);
  });
});
