import type { ServerTurn } from "keelson/testing";
import { describe, expect, it, vi } from "vitest";
import { endOf, eventsOf, MODELS, openWorkspace, resultsIn, WIRES } from "./keelson-process.ts";

// Every test starts processes, on machines that may be busy.
vi.setConfig({ testTimeout: 90_000 });

const LOOK = [{ name: "list_directory", input: { path: "." } }];
const ODD_BUT_GOOD: readonly NonNullable<ServerTurn["misbehave"]>[] = [
  { chunkBytes: 1 },
  { chunkBytes: 3, lineEnd: "\r\n" },
  { lineEnd: "\r" },
  { comments: true, pings: true },
  { bare: true },
  { wholeJson: true },
  { contentType: "text/plain" },
  { wholeJson: true, contentType: "text/event-stream" },
];
const RETRYABLE: readonly ServerTurn[] = [
  { status: 500, error: { message: "try again" }, headers: { "retry-after-ms": "1" } },
  { status: 529, error: { message: "overloaded" }, headers: { "retry-after": "0" } },
  { status: 429, error: { message: "slow down" }, headers: { "retry-after-ms": "5" } },
  { status: 503, misbehave: { body: "<html>upstream is down</html>", contentType: "text/html" }, headers: { "retry-after": "0" } },
];

describe.each(WIRES)("keelson -p and a bad server on the wire of %s", (wire) => {
  const headless = ["-p", "--model", MODELS[wire], "--output-format", "stream-json"];

  it("reads every way of writing a good response", async () => {
    const text = "Grüße an 世界 🌍";
    await using workspace = await openWorkspace([
      ...ODD_BUT_GOOD.map((misbehave) => ({ text, toolCalls: LOOK, misbehave })),
      { text: "done" },
    ]);
    const finished = await workspace.keelson(...headless, "--max-turns", "20", "go");
    const events = eventsOf(finished);
    expect(endOf(events)).toMatchObject({ type: "run-complete", reason: "complete", text: "done", turns: ODD_BUT_GOOD.length + 1 });
    const responses = events.flatMap((event) =>
      event.type === "message" && event.message.role === "assistant"
        ? [event.message.content.flatMap((part) => (part.type === "text" ? [part.text] : []))]
        : [],
    );
    expect(responses).toEqual([...ODD_BUT_GOOD.map(() => [text]), ["done"]]);
    expect(events.filter(({ type }) => type === "retry")).toEqual([]);
    expect(finished.code).toBe(0);
  });

  it("tries again after failures that pass, and shows each", async () => {
    await using workspace = await openWorkspace([
      ...RETRYABLE.flatMap((failure) => [failure, { text: "on", toolCalls: LOOK }]),
      { text: "done" },
    ]);
    const finished = await workspace.keelson(...headless, "--max-turns", "20", "go");
    const events = eventsOf(finished);
    expect(endOf(events)).toMatchObject({ type: "run-complete", reason: "complete", text: "done" });
    expect(events.filter(({ type }) => type === "retry").length).toBe(RETRYABLE.length);
    expect(workspace.server.requests.length).toBe(2 * RETRYABLE.length + 1);
  });

  it("throws a broken stream away as a whole, and asks again", async () => {
    await using workspace = await openWorkspace([
      { text: "I was about to say", toolCalls: LOOK, misbehave: { resetAfterBytes: 300 } },
      { text: "halfway", misbehave: { errorInStream: { message: "overloaded", type: "overloaded_error" } } },
      { text: "Whole." },
    ]);
    const finished = await workspace.keelson(...headless, "go");
    const events = eventsOf(finished);
    expect(endOf(events)).toMatchObject({ type: "run-complete", reason: "complete", text: "Whole." });
    expect(events.filter(({ type }) => type === "message").length).toBe(2);
    expect(events.filter(({ type }) => type === "tool-result")).toEqual([]);
    expect(events.filter(({ type }) => type === "retry").length).toBe(2);
  });

  it.each<[string, ServerTurn, object]>([
    [
      "a wrong key",
      { status: 401, error: { message: "invalid x-api-key" } },
      { type: "error", failure: { kind: "model", model: { kind: "authentication", status: 401 } } },
    ],
    [
      "a request it finds wrong",
      { status: 400, error: { message: "messages: too odd" } },
      { type: "error", failure: { kind: "model", model: { kind: "invalid-request" } } },
    ],
    [
      "a body that is no response",
      { misbehave: { body: "<html>welcome</html>", contentType: "text/html" } },
      { type: "error", failure: { kind: "model" } },
    ],
  ])("ends with a typed error, once, and exit code 1: %s", async (_, turn, end) => {
    await using workspace = await openWorkspace(() => turn);
    const finished = await workspace.keelson(...headless, "go");
    expect(endOf(eventsOf(finished))).toMatchObject(end);
    expect([finished.code, finished.stderr]).toEqual([1, expect.stringMatching(/^keelson: .+\n$/s)]);
    expect(finished.stderr).not.toMatch(/\n +at |key-of-/);
  });

  it("survives a response that never ends: the time limit does", async () => {
    await using workspace = await openWorkspace([{ misbehave: { stall: "before-headers" } }]);
    const finished = await workspace.keelson(...headless, "--timeout", "1s", "go");
    expect([finished.code, endOf(eventsOf(finished))]).toEqual([3, expect.objectContaining({ reason: "timeout" })]);
  });

  it("gives calls that cannot run a result, so that the model can mend them", async () => {
    await using workspace = await openWorkspace([
      {
        toolCalls: [
          { name: "read_fill", input: { path: "a" } },
          { name: "read_file", input: { path: 7 } },
          { name: "read_file", inputText: '{"path": ' },
          { name: "read_file", input: { path: "../../etc/passwd" } },
          { name: "read_file", input: { path: "missing.txt" } },
        ],
      },
      { text: "I see." },
    ]);
    const finished = await workspace.keelson(...headless, "go");
    expect([finished.code, endOf(eventsOf(finished))]).toEqual([0, expect.objectContaining({ reason: "complete", text: "I see." })]);
    const results = eventsOf(finished).flatMap((event) => (event.type === "tool-result" ? [event] : []));
    expect(results.map(({ isError }) => isError)).toEqual([true, true, true, true, true]);
    const told = resultsIn(workspace.server.requests[1] as never);
    for (const words of ["read_file", "path", "missing.txt"]) expect(told).toContain(words);
    expect(told).not.toContain("root:");
  });

  it("ends a response that is too long, and keeps what a tool prints within bounds", async () => {
    await using workspace = await openWorkspace([
      { toolCalls: [{ name: "bash", input: { command: "head -c 100000000 /dev/zero | tr '\\0' x" } }] },
      { text: ["on and ".repeat(10_000)], misbehave: { hugeTextBytes: 20 * 1024 * 1024 } },
    ]);
    const finished = await workspace.keelson("-p", "--model", MODELS[wire], "--output-format", "json", "--allow", "bash(*)", "go");
    expect([finished.code, (JSON.parse(finished.stdout) as { readonly reason: string }).reason]).toEqual([3, "max-output"]);
    expect(resultsIn(workspace.server.requests[1] as never).length).toBeLessThan(200_000);
  });
});
