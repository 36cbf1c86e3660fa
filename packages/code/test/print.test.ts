import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { endOf, eventsOf, MODELS, openWorkspace, resultsIn, WIRES } from "./keelson-process.ts";

// Every test starts processes, on machines that may be busy.
vi.setConfig({ testTimeout: 60_000 });

const GREETING = { "src/greeting.js": 'export const greeting = "Helo";\n' };

describe.each(WIRES)("keelson -p over the wire of %s", (wire) => {
  it("works through a whole loop: reads, edits, runs, responds", async () => {
    await using workspace = await openWorkspace(
      [
        {
          text: "Let me look.",
          toolCalls: [
            { name: "read_file", input: { path: "src/greeting.js" } },
            { name: "glob", input: { pattern: "**/*.js" } },
          ],
        },
        {
          thinking: "A letter is missing.",
          toolCalls: [{ name: "edit_file", input: { path: "src/greeting.js", old_string: "Helo", new_string: "Hello" } }],
        },
        { toolCalls: [{ name: "bash", input: { command: "cat src/greeting.js missing.js" } }] },
        { text: "Fixed the greeting." },
      ],
      GREETING,
    );
    const { code, stdout, stderr } = await workspace.keelson(
      "-p",
      "--model",
      MODELS[wire],
      "--permission-mode",
      "accept-edits",
      "--allow",
      "bash(cat *)",
      "fix the typo",
    );
    expect([code, stdout]).toEqual([0, "Fixed the greeting.\n"]);
    expect(stderr).toContain("Let me look.");
    expect(stderr).not.toContain("Fixed the greeting.");
    expect(await readFile(join(workspace.project, "src/greeting.js"), "utf8")).toBe('export const greeting = "Hello";\n');
    for (const words of [
      "● read_file src/greeting.js",
      "● edit_file src/greeting.js",
      '+ export const greeting = "Hello";',
      "✗ bash cat src/greeting.js missing.js  exit code 1",
      `✔ complete · ${MODELS[wire]} · 4 turns`,
    ]) {
      expect(stderr).toContain(words);
    }
    expect(stderr).toMatch(/\$0\.\d{4}/);
    expect(workspace.server.requests.map((request) => request.wire)).toEqual(
      Array(4).fill(wire === "anthropic" ? "anthropic-messages" : "openai-chat"),
    );
    const [first, , third, last] = workspace.server.requests;
    expect(JSON.stringify(first?.body)).toContain("fix the typo");
    expect(JSON.stringify(first?.body)).toContain("You are Keelson");
    expect(resultsIn(third as never)).toContain("Edited src/greeting.js");
    expect(resultsIn(last as never)).toContain("exit code 1");
    expect(JSON.stringify(last?.body)).not.toContain("key-of-");
  });

  it("writes every event as a line of JSON, in order, and ends once", async () => {
    await using workspace = await openWorkspace(
      [{ toolCalls: [{ name: "list_directory", input: { path: "." } }] }, { text: "One file." }],
      GREETING,
    );
    const finished = await workspace.keelson("-p", "--model", MODELS[wire], "--output-format", "stream-json", "what is here?");
    const events = eventsOf(finished);
    expect(events[0]).toMatchObject({ type: "run-start", model: MODELS[wire], agent: "code", metadata: { cwd: workspace.project } });
    expect(endOf(events)).toMatchObject({ type: "run-complete", reason: "complete", text: "One file.", turns: 2 });
    const seqs = events.flatMap((event) => ("seq" in event ? [event.seq] : []));
    expect(seqs).toEqual([...seqs].sort((a, b) => a - b));
    expect(new Set(events.map(({ runId }) => runId)).size).toBe(1);
    expect(
      events
        .filter(({ type }) => type === "text-delta")
        .map((event) => (event.type === "text-delta" ? event.text : ""))
        .join(""),
    ).toBe("One file.");
    expect([finished.code, finished.stderr]).toEqual([0, ""]);
  });
});

describe("keelson -p", () => {
  it("prints one object with --output-format json", async () => {
    await using workspace = await openWorkspace([{ text: "Four.", usage: { inputTokens: 1_000, outputTokens: 10 } }]);
    const { code, stdout, stderr } = await workspace.keelson("--output-format", "json", "two and two?");
    expect(JSON.parse(stdout)).toEqual({
      reason: "complete",
      text: "Four.",
      session: expect.any(String),
      run: expect.any(String),
      model: "anthropic/claude-sonnet-5",
      turns: 1,
      usage: { inputTokens: 1_000, outputTokens: 10, cacheReadTokens: 0, cacheCreationTokens: 0, reasoningTokens: null },
      cost: "0.0021",
    });
    expect([code, stdout.endsWith("}\n"), stderr]).toEqual([0, true, ""]);
  });

  it("takes the task from standard input, or what it is about", async () => {
    await using workspace = await openWorkspace(() => ({ text: "ok" }));
    const finished = await Promise.all([
      workspace.start([], { stdin: "from a pipe\n" }).finished,
      workspace.start(["-p", "review this"], { stdin: "a diff\n" }).finished,
    ]);
    expect(finished.map(({ code, stdout }) => [code, stdout])).toEqual([
      [0, "ok\n"],
      [0, "ok\n"],
    ]);
    const asked = workspace.server.requests.map(({ body }) => JSON.stringify((body["messages"] as readonly unknown[]).at(-1)));
    expect(asked.some((message) => message.includes("from a pipe"))).toBe(true);
    expect(asked.some((message) => message.includes("review this\\n\\na diff"))).toBe(true);
  });

  it("works in the folder of -C, and refuses one that is none", async () => {
    await using workspace = await openWorkspace([{ toolCalls: [{ name: "list_directory", input: { path: "." } }] }, { text: "seen" }], {
      "sub/inner.txt": "x",
    });
    expect((await workspace.keelson("-p", "-C", "sub", "look")).code).toBe(0);
    expect(resultsIn(workspace.server.requests[1] as never)).toContain("inner.txt");
    const refused = await workspace.keelson("-p", "-C", "nowhere", "look");
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringMatching(/nowhere is no folder/)]);
  });

  it("says at once, with exit code 2, what is missing", async () => {
    await using workspace = await openWorkspace([]);
    const noKey = {
      ANTHROPIC_API_KEY: "",
      ANTHROPIC_BASE_URL: "",
      OPENAI_API_KEY: "",
      OPENAI_BASE_URL: "",
      GEMINI_API_KEY: "",
      OLLAMA_HOST: "",
    };
    const cases: readonly [readonly string[], RegExp, { readonly [name: string]: string }?][] = [
      [["-p"], /there is no task/],
      [["-p", "go"], /no key for a model[\s\S]*ANTHROPIC_API_KEY or OPENAI_API_KEY/, noKey],
      [["-p", "-c", "go"], /no session of .*project to go on with/],
    ];
    const finished = await Promise.all(cases.map(([args, , env]) => workspace.start(args, { stdin: "", ...(env && { env }) }).finished));
    for (const [index, { code, stdout, stderr }] of finished.entries()) {
      expect([code, stdout, stderr]).toEqual([2, "", expect.stringMatching(cases[index]?.[1] as RegExp)]);
      expect(stderr).not.toMatch(/\n +at /);
    }
    expect(workspace.server.requests).toEqual([]);
  });

  it("exits with 3 at a limit and says which", async () => {
    await using workspace = await openWorkspace(() => ({ text: "again", toolCalls: [{ name: "list_directory", input: { path: "." } }] }));
    const [turns, budget] = await Promise.all([
      workspace.keelson("-p", "--output-format", "json", "--max-turns", "2", "go"),
      workspace.keelson("-p", "--output-format", "json", "--max-budget-usd", "0.0001", "go"),
    ]);
    expect([turns.code, JSON.parse(turns.stdout)]).toEqual([3, expect.objectContaining({ reason: "max-turns", turns: 2 })]);
    expect([budget.code, JSON.parse(budget.stdout)]).toEqual([3, expect.objectContaining({ reason: "budget-exhausted" })]);
  });

  it("exits with 3 when its time is over, though the server is silent", async () => {
    await using workspace = await openWorkspace([{ text: "never", misbehave: { stall: "in-body" } }]);
    const finished = await workspace.keelson("-p", "--output-format", "stream-json", "--timeout", "700ms", "go");
    expect([finished.code, endOf(eventsOf(finished))]).toEqual([3, expect.objectContaining({ type: "run-complete", reason: "timeout" })]);
  });

  it("denies by itself what must be asked, with --on-approval deny", async () => {
    await using workspace = await openWorkspace([
      { toolCalls: [{ name: "bash", input: { command: "touch made" } }] },
      { text: "I may not." },
    ]);
    const { code, stdout, stderr } = await workspace.keelson("-p", "--on-approval", "deny", "touch a file");
    expect([code, stdout]).toEqual([0, "I may not.\n"]);
    expect(stderr).toContain("deny by keelson --on-approval deny");
    expect(resultsIn(workspace.server.requests[1] as never)).toContain("nobody is there to ask");
    await expect(readFile(join(workspace.project, "made"))).rejects.toThrow(/ENOENT/);
  });

  it("ends quietly when its reader goes away", async () => {
    await using workspace = await openWorkspace([
      { text: Array.from({ length: 200 }, (_, index) => `word${index} `), misbehave: { chunkBytes: 64 } },
    ]);
    const running = workspace.start(["-p", "go"]);
    await running.until(/word0/);
    running.child.stdout?.destroy();
    const { stderr } = await running.finished;
    expect(stderr).not.toMatch(/EPIPE|\n +at /);
  });
});
