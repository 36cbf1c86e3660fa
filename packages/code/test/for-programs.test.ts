import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { openWorkspace } from "./keelson-process.ts";

// Every test starts processes, on machines that may be busy.
vi.setConfig({ testTimeout: 240_000 });

const linesOf = (stdout: string): readonly { readonly [name: string]: unknown }[] =>
  stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as { readonly [name: string]: unknown });
const said = (text: string): string => `${JSON.stringify({ type: "user", message: { role: "user", content: text } })}\n`;

const SCHEMA = JSON.stringify({
  type: "object",
  properties: { answer: { type: "integer" } },
  required: ["answer"],
  additionalProperties: false,
});

describe("keelson for programs", () => {
  it("prints a value of the JSON Schema that it is given, as JSON or as a file, and has it in each format", async () => {
    await using workspace = await openWorkspace(() => ({ text: '{"answer": 42}' }));
    await writeFile(join(workspace.project, "schema.json"), SCHEMA);
    const plain = await workspace.keelson("-p", "--json-schema", SCHEMA, "six times seven?");
    expect([plain.code, JSON.parse(plain.stdout)]).toEqual([0, { answer: 42 }]);
    const asJson = await workspace.keelson("--output-format", "json", "--json-schema", "schema.json", "six times seven?");
    expect([asJson.code, JSON.parse(asJson.stdout)]).toEqual([0, expect.objectContaining({ reason: "complete", output: { answer: 42 } })]);
    const asClaude = await workspace.keelson("--output-format", "claude-stream-json", "--json-schema", "schema.json", "six times seven?");
    expect(linesOf(asClaude.stdout).at(-1)).toMatchObject({ type: "result", subtype: "success", structured_output: { answer: 42 } });
    expect(JSON.stringify(workspace.server.requests[0]?.body)).toContain('\\"integer\\"'.replaceAll("\\", ""));
  });

  it("does not end as complete with a response that the JSON Schema does not allow", async () => {
    await using workspace = await openWorkspace(() => ({ text: '{"answer": "many"}' }));
    const { code, stdout } = await workspace.keelson(
      "--output-format",
      "json",
      "--max-turns",
      "3",
      "--json-schema",
      SCHEMA,
      "six times seven?",
    );
    const outcome = JSON.parse(stdout) as { readonly reason: string; readonly output?: unknown };
    expect([code === 0, outcome.reason === "complete", outcome.output]).toEqual([false, false, undefined]);
    // The model is asked again before that.
    expect(workspace.server.requests.length).toBeGreaterThan(1);
  });

  it("refuses what is no JSON Schema, and options that do not fit together, with the remedy", async () => {
    await using workspace = await openWorkspace([]);
    const cases: readonly [readonly string[], RegExp][] = [
      [["-p", "--json-schema", "{", "go"], /--json-schema is no JSON[\s\S]*path of a file/],
      [["-p", "--json-schema", "missing.json", "go"], /neither JSON nor a file that can be read/],
      [["--include-partial-messages", "-p", "go"], /--include-partial-messages is about --output-format claude-stream-json/],
      [["--input-format", "stream-json", "go"], /reads the task from standard input/],
    ];
    for (const [args, pattern] of cases) {
      const { code, stdout, stderr } = await workspace.keelson(...args);
      expect([code, stdout, stderr]).toEqual([2, "", expect.stringMatching(pattern)]);
    }
  });

  it("answers each message of --input-format stream-json in one session before it reads the next, and refuses other lines", async () => {
    await using workspace = await openWorkspace([{ text: "One." }, { text: "Two." }]);
    const args = ["--input-format", "stream-json", "--output-format", "claude-stream-json"];
    const running = workspace.start(args, { keepInput: true });
    running.child.stdin?.write(said("first"));
    await running.until(/"result":"One\."/);
    running.child.stdin?.end(`\n${said("second")}`);
    const { code, stdout } = await running.finished;
    const results = linesOf(stdout).filter(({ type }) => type === "result");
    expect([code, results.map(({ result }) => result)]).toEqual([0, ["One.", "Two."]]);
    expect(new Set(results.map(({ session_id: session }) => session)).size).toBe(1);
    const last = JSON.stringify(workspace.server.requests[1]?.body);
    for (const text of ["first", "One.", "second"]) expect(last).toContain(text);

    const refused = await workspace.start(["--input-format", "stream-json", "-p"], { stdin: `${said("x").replace("user", "control")}` })
      .finished;
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringMatching(/line 1 of standard input has the type "control"[\s\S]*"type": "user"/),
    ]);
  });

  it("writes the lines of Claude Code's stream-json, with pieces of messages only if they are asked for", async () => {
    const script = () => [
      { text: "Let me look.", toolCalls: [{ name: "list_directory", input: { path: "." } }] },
      { text: "One file.", usage: { inputTokens: 1_000, outputTokens: 10 } },
    ];
    await using workspace = await openWorkspace([...script(), ...script()], { "a.txt": "a" });
    const whole = linesOf((await workspace.keelson("-p", "--output-format", "claude-stream-json", "look")).stdout);
    expect(whole.map(({ type }) => type)).toEqual(["system", "assistant", "user", "assistant", "result"]);
    const [first, call, result, , end] = whole;
    expect(first).toMatchObject({
      subtype: "init",
      cwd: workspace.project,
      permissionMode: "default",
      model: expect.stringContaining("anthropic/"),
    });
    const id = (call as { readonly message: { readonly content: readonly { readonly id?: string }[] } }).message.content[1]?.id;
    expect(call).toMatchObject({
      message: {
        role: "assistant",
        content: [
          { type: "text", text: "Let me look." },
          { type: "tool_use", name: "list_directory" },
        ],
      },
    });
    expect(result).toMatchObject({ message: { role: "user", content: [{ type: "tool_result", tool_use_id: id, is_error: false }] } });
    expect(end).toMatchObject({
      subtype: "success",
      is_error: false,
      result: "One file.",
      num_turns: 2,
      total_cost_usd: expect.any(Number),
    });
    expect(new Set(whole.map(({ session_id: session }) => session)).size).toBe(1);

    const pieces = linesOf(
      (await workspace.keelson("-p", "--output-format", "claude-stream-json", "--include-partial-messages", "look")).stdout,
    );
    const texts = pieces
      .filter(({ type }) => type === "stream_event")
      .map(({ event }) => (event as { readonly delta: { readonly text?: string } }).delta.text ?? "");
    expect(texts.join("")).toBe("Let me look.One file.");
    expect(pieces.filter(({ type }) => type !== "stream_event").map(({ type }) => type)).toEqual(whole.map(({ type }) => type));
  });
});

describe("what waits for a decision", () => {
  const ASKS = { toolCalls: [{ name: "bash", input: { command: "touch made" } }] };

  it("is listed by approve without a token, with short ids by which it is decided", async () => {
    await using workspace = await openWorkspace([ASKS, ASKS, { text: "Made." }]);
    for (const task of ["one", "two"]) expect((await workspace.keelson("-p", task)).code).toBe(4);
    const listed = await workspace.keelson("approve");
    const ids = [...listed.stdout.matchAll(/^([0-9a-f]{8,}) {2}bash .*touch made/gm)].map(([, id = ""]) => id);
    expect([listed.code, ids.length, new Set(ids).size]).toEqual([0, 2, 2]);
    expect(listed.stdout).toContain(`Decide with: keelson approve ${ids[0]} allow`);
    const decided = await workspace.keelson("approve", ids[0]?.slice(0, 6) ?? "", "allow");
    const session = /keelson -p -r (\S+)/.exec(decided.stdout)?.[1] ?? "";
    expect((await workspace.keelson("-p", "-r", session)).stdout).toBe("Made.\n");
    const left = JSON.parse((await workspace.keelson("approve", "--json")).stdout) as readonly { readonly id: string }[];
    expect(left.map(({ id }) => id)).toEqual([ids[1]]);
    const unknown = await workspace.keelson("approve", ids[0] ?? "", "allow");
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining(`no open question has the id ${ids[0]}`)]);
  });

  it("keeps -c from a session of another person, which says so, and -r takes it", async () => {
    await using workspace = await openWorkspace([{ text: "Mine." }, ASKS, { text: "Mine again." }]);
    expect((await workspace.keelson("-p", "mine")).code).toBe(0);
    const theirs = await workspace.start(["-p", "--output-format", "json", "theirs"], { env: { USER: "grace" } }).finished;
    const { session } = JSON.parse(theirs.stdout) as { readonly session: string };
    const own = await workspace.start(["-p", "-c"], { env: { USER: "grace" } }).finished;
    expect([own.code, own.stderr]).toEqual([4, expect.stringContaining(session)]);
    const continued = await workspace.keelson("-p", "-c", "more");
    expect([continued.code, continued.stdout]).toEqual([0, "Mine again.\n"]);
    expect(continued.stderr).toContain(
      `session ${session} waits for an answer of grace and was passed over; to continue it: keelson -r ${session}`,
    );
    const named = await workspace.keelson("-p", "-r", session);
    expect([named.code, named.stderr]).toEqual([4, expect.stringContaining("keelson approve")]);
  });
});

it("sessions show marks the calls that failed, and no others", async () => {
  await using workspace = await openWorkspace(
    [
      {
        toolCalls: [
          { name: "read_file", input: { path: "missing.txt" } },
          { name: "read_file", input: { path: "a.txt" } },
        ],
      },
      { text: "One of two." },
    ],
    { "a.txt": "a\n" },
  );
  expect((await workspace.keelson("-p", "read both")).code).toBe(0);
  const [session] = JSON.parse((await workspace.keelson("sessions", "list", "--json")).stdout) as readonly { readonly id: string }[];
  const shown = (await workspace.keelson("sessions", "show", session?.id ?? "")).stdout
    .split("\n")
    .filter((line) => /^\S+ read_file/.test(line));
  expect(shown).toEqual([expect.stringMatching(/^✗ read_file missing\.txt.*\(failed\)$/), expect.stringMatching(/^● read_file a\.txt$/)]);
});
