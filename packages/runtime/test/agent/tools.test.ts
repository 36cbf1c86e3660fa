import { createAgent, createRunner, defineTool, type AgentOptions, type Tool } from "keelson";
import { createMemoryBlobStore } from "keelson/state";
import { aliasTool, planBatches } from "keelson/tools";
import { scriptedModel, type ScriptedResponse, type ScriptedModel, type ScriptedTurn } from "keelson/testing";
import { textMessage, type Digest, type JsonValue, type ToolOutput } from "@keelson/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { impatientClock, ofType, recordingTool, runnerOf, types, watch } from "./support.ts";

type Call = NonNullable<ScriptedResponse["toolCalls"]>[number];
const calls = (...toolCalls: readonly Call[]): ScriptedTurn => ({ toolCalls });

/** A run of these calls, then a response; the results as the log has them and as the model reads them. */
async function run(tools: readonly Tool[], turns: readonly ScriptedTurn[], options: Partial<AgentOptions> = {}) {
  const model = scriptedModel([...turns, "done"]);
  const { events, outcome } = await watch(runnerOf(createAgent({ name: "a", model, tools, ...options })).run("go"));
  return { events, outcome, model, results: ofType(events, "tool-result") };
}

/** What the model reads as the results before its last response. */
function told(model: ScriptedModel): readonly unknown[] {
  const messages = model.requests.at(-1)?.messages ?? [];
  const asked = messages.findLastIndex(({ role }) => role === "assistant");
  return messages.slice(asked + 1).flatMap(({ content }) => content);
}

/** A picture of one pixel. */
const DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

describe("finding a tool", () => {
  it("tells the model of each tool's name, description and schema, in one order whatever order they were given in [TL-01, TL-04, LA-14]", async () => {
    const tools = ["zeta", "alpha", "mid"].map((name) => recordingTool(name, { effect: "read" }));
    const one = await run(tools, []);
    const other = await run(tools.toReversed(), []);
    expect(one.model.requests[0]?.tools).toEqual(
      ["alpha", "mid", "zeta"].map((name) => ({
        name,
        description: `Test tool ${name}.`,
        inputSchema: { type: "object", properties: {} },
      })),
    );
    expect(other.model.requests[0]?.tools).toEqual(one.model.requests[0]?.tools);
  });

  it("refuses a name there is none of, with the names there are, and runs nothing [TL-05]", async () => {
    const look = recordingTool("look_around", { effect: "read" });
    const { outcome, results } = await run([look, recordingTool("write")], [calls({ name: "look_arond" })]);
    expect(outcome.reason).toBe("complete");
    expect(results[0]).toMatchObject({
      name: "look_arond",
      isError: true,
      output: expect.stringMatching(/no tool "look_arond".*Did you mean "look_around".*Available tools: look_around, write/),
    });
    expect(look.calls).toEqual([]);
  });

  it("finds a tool by an alias and in another case; the result goes by its own name [TL-03]", async () => {
    const bash = { ...recordingTool("bash", { effect: "read" }), aliases: ["run_command"] };
    const ls = aliasTool("ls", recordingTool("list_directory", { effect: "read" }));
    const { results } = await run([bash, ls], [calls({ name: "run_command" }, { name: "Bash", input: { n: 2 } }, { name: "ls" })]);
    expect(results.map(({ name, isError, output }) => [name, isError, output])).toEqual([
      ["bash", false, "bash done"],
      ["bash", false, "bash done"],
      ["ls", false, "list_directory done"],
    ]);
  });

  it("makes a call of the tool that another one redirects it to, with its gates and under its name", async () => {
    const redirect = (input: JsonValue) =>
      (input as { readonly command?: string }).command === "patch it" ? { tool: "patch", input: { text: "it" } } : undefined;
    const shell = { ...recordingTool("shell", { effect: "write" }), redirect };
    const patch = recordingTool("patch", { effect: "write" });
    const asked = [calls({ name: "shell", input: { command: "patch it" } }, { name: "shell", input: { command: "ls" } })];
    const { results } = await run([shell, patch], asked, { permissions: { mode: "bypass-all", rules: [] } });
    expect(results.map(({ name, output }) => [name, output])).toEqual([
      ["patch", "patch done"],
      ["shell", "shell done"],
    ]);
    expect(patch.calls).toEqual([{ text: "it" }]);
    const denied = await run([shell, patch], asked, {
      permissions: { mode: "bypass-all", rules: [{ pattern: "patch", behavior: "deny" }] },
    });
    expect(denied.results.map(({ name, isError }) => [name, isError])).toEqual([
      ["patch", true],
      ["shell", false],
    ]);
    expect((await run([shell], asked, { permissions: { mode: "bypass-all", rules: [] } })).results[0]?.name).toBe("shell");
  });

  it("leaves out what is excluded, and neither shows nor runs what is not allowed [AG-08, AG-09, AG-10]", async () => {
    const tools = ["look", "write", "erase"].map((name) => recordingTool(name, { effect: "read" }));
    const { model, results } = await run(tools, [calls({ name: "look" }, { name: "write" }, { name: "erase" })], {
      excludedTools: ["erase"],
      allowedTools: ["look", "erase"],
    });
    expect(model.requests[0]?.tools?.map(({ name }) => name)).toEqual(["look"]);
    expect(tools.map((tool) => tool.calls.length)).toEqual([1, 0, 0]);
    expect(results.map(({ output }) => output)).toEqual([
      "look done",
      expect.stringMatching(/Not permitted: write is not on the list of allowed tools/),
      expect.stringMatching(/no tool "erase".*Available tools: look, write/),
    ]);
  });
});

describe("the arguments of a call", () => {
  const typed = () => {
    const seen: unknown[] = [];
    const tool = defineTool({
      name: "open",
      description: "Opens.",
      effect: "read",
      input: z.object({ path: z.string(), lines: z.number().default(10) }),
      execute: (input) => (seen.push(input), "opened"),
    });
    return { seen, tool };
  };

  it("that are not valid do not run the tool; what is wrong is told so that the model can mend it [TL-05, TL-09]", async () => {
    const { seen, tool } = typed();
    const { results, model } = await run(
      [tool],
      [calls({ name: "open", input: { file: "a.ts" } }), calls({ name: "open", input: { path: "a.ts" } })],
    );
    expect(results[0]).toMatchObject({
      isError: true,
      output: expect.stringMatching(/not accepted, and it did not run[^]*path[^]*provided: "file"[^]*A call looks like this: \{"path"/),
    });
    expect(results[1]).toMatchObject({ isError: false });
    expect(model.requests[1]?.messages.at(-1)?.content[0]).toMatchObject({ type: "tool-result", isError: true });
    expect(seen).toEqual([{ path: "a.ts", lines: 10 }]);
  });

  it("in text that is almost JSON are repaired where that is safe [TL-05]", async () => {
    const { seen, tool } = typed();
    const { results } = await run(
      [tool],
      [calls({ name: "open", inputText: "```json\n{path: 'a.ts', \"lines\": 3,}\n```" }, { name: "open", inputText: '{"path": "b.ts"' })],
    );
    expect(seen[0]).toEqual({ path: "a.ts", lines: 3 });
    expect(results[0]?.isError).toBe(false);
  });

  it("that are no arguments at all are refused, not run [TL-05]", async () => {
    const { seen, tool } = typed();
    const { results } = await run(
      [tool],
      [calls({ name: "open", inputText: "please open a.ts" }, { name: "open", input: ["a.ts"] }, { name: "open", input: null })],
    );
    expect(results.map(({ isError }) => isError)).toEqual([true, true, true]);
    expect(seen).toEqual([]);
  });
});

describe("permissions", () => {
  it("deny by rule: the model is told which and why, and the run goes on [AG-20, MC-15]", async () => {
    const erase = recordingTool("erase", { effect: "write" });
    const { results, outcome } = await run(
      [erase],
      [calls({ name: "erase", input: { path: "/" } }, { name: "erase", input: { path: "/tmp/x" } })],
      {
        permissions: {
          rules: [
            { pattern: 'erase(*"path":"/"*)', behavior: "deny" },
            { pattern: "erase", behavior: "allow" },
          ],
        },
      },
    );
    expect(erase.calls).toEqual([{ path: "/tmp/x" }]);
    expect(results[0]).toMatchObject({ isError: true, output: expect.stringContaining("Not permitted: The permission rule") });
    expect(outcome.reason).toBe("complete");
  });

  it.each([
    ["default", [true, true, false]],
    ["plan-only", [true, false, false]],
    ["bypass-all", [true, true, true]],
    ["deny-unauthorized", [false, false, false]],
  ] as const)("in mode %s let run what the mode lets run [AG-19, MC-08]", async (mode, ran) => {
    const tools = [
      recordingTool("look", { effect: "read" }),
      recordingTool("note", { effect: "write" }),
      recordingTool("erase", { effect: "write", risk: "high" }),
    ];
    const model = scriptedModel([calls(...tools.map(({ name }) => ({ name }))), "done"]);
    const runner = runnerOf(createAgent({ name: "a", model, tools, permissions: { mode } }), { approvals: () => ({ type: "deny" }) });
    expect((await runner.run("go").outcome).reason).toBe("complete");
    expect(tools.map((tool) => tool.calls.length === 1)).toEqual(ran);
  });
});

describe("the loop guard", () => {
  const turnsOf = (count: number, input: (n: number) => JsonValue = () => ({})) =>
    Array.from({ length: count }, (_, n) => calls({ name: "look", input: input(n) }));

  it("refuses the third call that is like two before it, with the same result", async () => {
    const look = recordingTool("look", { effect: "read" });
    const { results } = await run([look], turnsOf(3));
    expect(look.calls).toHaveLength(2);
    expect(results[2]).toMatchObject({ isError: true, output: expect.stringContaining("gave the same result each time") });
  });

  it("refuses the sixth like five before it, whatever they gave", async () => {
    let n = 0;
    const look = recordingTool("look", { effect: "read", output: () => `seen ${++n}` });
    const { results } = await run([look], turnsOf(7));
    expect(look.calls).toHaveLength(5);
    expect(results.map(({ isError }) => isError)).toEqual([false, false, false, false, false, true, true]);
  });

  it("knows calls by their arguments, not by how these are written", async () => {
    const look = recordingTool("look", { effect: "read" });
    await run(
      [look],
      turnsOf(3, (n) => ({ n })),
    );
    expect(look.calls).toHaveLength(3);
    const same = recordingTool("look", { effect: "read" });
    await run(
      [same],
      ['{"a":1,"b":2}', '{"b":2,"a":1}', '{ "a": 1, "b": 2 }'].map((inputText) => calls({ name: "look", inputText })),
    );
    expect(same.calls).toHaveLength(2);
  });

  it("begins anew with each message of the user", async () => {
    const look = recordingTool("look", { effect: "read" });
    const model = scriptedModel([...turnsOf(2), "done", ...turnsOf(2), "done"]);
    const runner = runnerOf(createAgent({ name: "a", model, tools: [look] }));
    await runner.run("go", { session: "s" }).outcome;
    await runner.run("again", { session: "s" }).outcome;
    expect(look.calls).toHaveLength(4);
  });

  it("begins anew with a successful write that is new: looking again makes sense then", async () => {
    const look = recordingTool("look", { effect: "read" });
    const write = recordingTool("write", { effect: "write" });
    await run(
      [look, write],
      [...turnsOf(2), calls({ name: "write", input: { n: 1 } }), ...turnsOf(2), calls({ name: "write", input: { n: 1 } }), ...turnsOf(1)],
    );
    expect(look.calls).toHaveLength(4);
    const failing = recordingTool("write", {
      effect: "write",
      output: () => {
        throw new Error("disk full");
      },
    });
    const again = recordingTool("look", { effect: "read" });
    await run([again, failing], [...turnsOf(2), calls({ name: "write" }), ...turnsOf(1)]);
    expect(again.calls).toHaveLength(2);
  });

  it("can be switched off", async () => {
    const look = recordingTool("look", { effect: "read" });
    await run([look], turnsOf(8), { loopGuard: false });
    expect(look.calls).toHaveLength(8);
  });
});

describe("batches", () => {
  /** Tools that note when they start and end, and end in the reverse order of their starts. */
  function busy() {
    const notes: string[] = [];
    let working = 0;
    let most = 0;
    const make = (name: string, concurrency: "shared" | "exclusive"): Tool => {
      const tool = recordingTool(name, { effect: "read", concurrency });
      tool.execute = async (input) => {
        const { n } = input as { readonly n: number };
        notes.push(`+${name}${n}`);
        most = Math.max(most, ++working);
        for (let wait = 10 - n; wait > 0; wait--) await new Promise<void>((resolve) => setImmediate(resolve));
        working--;
        notes.push(`-${name}${n}`);
        return n;
      };
      return tool;
    };
    return { notes, most: () => most, tools: [make("s", "shared"), make("x", "exclusive")] };
  }

  it("run neighbouring shared calls together and an exclusive one alone, and give results in call order [CE-24, LA-14, LA-17]", async () => {
    const { notes, tools } = busy();
    const { results, model, events } = await run(tools, [
      calls(
        { name: "s", input: { n: 1 } },
        { name: "s", input: { n: 2 } },
        { name: "x", input: { n: 3 } },
        { name: "s", input: { n: 4 } },
        { name: "s", input: { n: 5 } },
      ),
    ]);
    expect(notes).toEqual(["+s1", "+s2", "-s2", "-s1", "+x3", "-x3", "+s4", "+s5", "-s5", "-s4"]);
    expect(results.map(({ output }) => output)).toEqual([1, 2, 3, 4, 5]);
    expect(told(model).map((part) => (part as { output: unknown }).output)).toEqual([1, 2, 3, 4, 5]);
    const ends = ofType(events, "tool-end").map(({ callId }) => results.findIndex((result) => result.callId === callId) + 1);
    expect(ends).toEqual([2, 1, 3, 5, 4]);
  });

  it("are what the planner plans and the tools' hints decide, executed and nothing else; steering waits in the inbox until they are [LA-17]", async () => {
    const some = fc.array(fc.constantFrom("s", "x"), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(some, fc.nat(), async (names, at) => {
        const { notes, tools } = busy();
        const wanted = names.map((name, index) => ({ name, input: { n: index + 1 } }));
        const planned = planBatches(wanted.map((call) => ({ ...call, tool: tools.find(({ name }) => name === call.name) as Tool })));
        const model = scriptedModel([calls(...wanted), "done"]);
        const started = runnerOf(createAgent({ name: "a", model, tools })).run("go");
        const { length } = names;
        let starts = 0;
        for (const tool of tools) {
          const { execute } = tool;
          tool.execute = async (input, call) => {
            const working = execute(input, call);
            if (starts++ === at % length) await started.steer("and hurry");
            return working;
          };
        }
        await started.outcome;
        // Each batch starts once the one before it has ended, and all of it at once.
        const batches: string[][] = [];
        let working = 0;
        for (const note of notes) {
          if (note.startsWith("+") && working++ === 0) batches.push([]);
          if (note.startsWith("+")) batches.at(-1)?.push(note.slice(1));
          else working--;
        }
        expect(batches).toEqual(planned.map((batch) => batch.map(({ name, input }) => `${name}${input.n}`)));
        const asked = model.requests[1]?.messages ?? [];
        expect(asked.slice(2).map(({ role }) => role)).toEqual([...names.map(() => "tool"), "user"]);
        expect(asked.at(-1)).toEqual(textMessage("user", "and hurry"));
      }),
      { numRuns: 25 },
    );
  });

  it("are no larger than the agent allows", async () => {
    const many = calls(...[1, 2, 3, 4, 5].map((n) => ({ name: "s", input: { n } })));
    const two = busy();
    await run(two.tools, [many], { limits: { maxParallelCalls: 2 } });
    expect(two.most()).toBe(2);
    const all = busy();
    await run(all.tools, [many]);
    expect(all.most()).toBe(5);
  });

  it("pass a refused call by, and its neighbours still run together [CE-24]", async () => {
    const { notes, tools } = busy();
    const { results } = await run(tools, [calls({ name: "s", input: { n: 1 } }, { name: "nothing" }, { name: "s", input: { n: 2 } })]);
    expect(notes).toEqual(["+s1", "+s2", "-s2", "-s1"]);
    expect(results.map(({ isError }) => isError)).toEqual([false, true, false]);
  });
});

describe("what a tool does", () => {
  it("is told as its result, its progress and its end [EV-05, EV-06, TL-07, TC-16]", async () => {
    const tool = recordingTool("build", { effect: "read" });
    tool.execute = async (_input, { progress, callId, idempotencyKey, attempt, agent, session, runId }) => {
      progress("compiling", 0.5);
      progress("linking");
      return { callId, agent, session, runId, attempt, keyed: idempotencyKey !== "" };
    };
    const { events, results, outcome } = await run([tool], [calls({ name: "build" })]);
    const [result] = results;
    expect(outcome.reason).toBe("complete");
    expect(ofType(events, "tool-progress").map(({ callId, message, ratio }) => [callId, message, ratio])).toEqual([
      [result?.callId, "compiling", 0.5],
      [result?.callId, "linking", undefined],
    ]);
    expect(result?.output).toEqual({
      callId: result?.callId,
      agent: "a",
      session: expect.any(String),
      runId: result?.runId,
      attempt: 1,
      keyed: true,
    });
    const order = types(events).filter((type) => type.startsWith("tool-"));
    expect(order).toEqual([
      "tool-call-start",
      "tool-call-delta",
      "tool-call-end",
      "tool-calls-start",
      "tool-progress",
      "tool-progress",
      "tool-end",
      "tool-result",
      "tool-calls-complete",
    ]);
  });

  it("in JSON is read by the model as JSON; nothing is said as that [TL-09]", async () => {
    const json = recordingTool("json", { effect: "read", output: () => ({ rows: [1, null, "x"] }) });
    const nothing = recordingTool("nothing", { effect: "read" });
    nothing.execute = () => undefined as never;
    const { model } = await run([json, nothing], [calls({ name: "json" }, { name: "nothing" })]);
    expect(told(model)).toMatchObject([{ output: { rows: [1, null, "x"] } }, { output: "(no output)" }]);
  });

  it("as images goes to the model as images", async () => {
    const image = { type: "image" as const, mediaType: "image/png", data: DOT };
    const shot = recordingTool("shot", {
      effect: "read",
      output: (): ToolOutput => ({ type: "content", content: [{ type: "text", text: "the door" }, image] }),
    });
    const { model, results } = await run([shot], [calls({ name: "shot" })]);
    expect(told(model)).toMatchObject([
      { type: "tool-result", output: { type: "content", content: [{ type: "text", text: "the door" }, image] } },
    ]);
    expect(results[0]?.isError).toBe(false);
  });

  it("is cut where it is too long, and the whole can be read from the run's blob store", async () => {
    const blobs = createMemoryBlobStore();
    const whole = `begin ${"é".repeat(100_000)} end`;
    const flood = { ...recordingTool("flood", { effect: "read", output: () => whole }), maxOutputBytes: 1000 };
    const model = scriptedModel([calls({ name: "flood" }), "done"]);
    const { events } = await watch(runnerOf(createAgent({ name: "a", model, tools: [flood] }), { blobs }).run("go"));
    const [result] = ofType(events, "tool-result");
    const shown = result?.output as string;
    expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(1000);
    expect([shown.startsWith("begin"), shown.endsWith("end")]).toEqual([true, true]);
    expect(new TextDecoder().decode(await blobs.get(result?.blob as Digest))).toBe(whole);
    expect(told(model)).toMatchObject([{ output: shown, blob: result?.blob }]);
  });

  it("is kept as far as it was shown when the whole can't be kept, and watchers are told [EV-09]", async () => {
    const blobs = { ...createMemoryBlobStore(), put: () => Promise.reject(new Error("disk full")) };
    const flood = { ...recordingTool("flood", { effect: "read", output: () => "x".repeat(5000) }), maxOutputBytes: 1000 };
    const model = scriptedModel([calls({ name: "flood" }), "done"]);
    const { events, outcome } = await watch(runnerOf(createAgent({ name: "a", model, tools: [flood] }), { blobs }).run("go"));
    expect(outcome.reason).toBe("complete");
    expect(ofType(events, "tool-result")[0]).toMatchObject({ isError: false });
    expect(ofType(events, "status")).toMatchObject([{ level: "warn", status: expect.stringContaining("disk full") }]);
  });

  it("that lasts longer than the run allows is stopped, unless the tool has a limit of its own", async () => {
    const clock = impatientClock();
    const hang = recordingTool("hang", { effect: "read" });
    let stopped: unknown;
    hang.execute = (_input, { signal }) =>
      new Promise((resolve) => signal.addEventListener("abort", () => ((stopped = signal.reason), resolve("late")), { once: true }));
    const own = { ...recordingTool("own", { effect: "read" }), timeoutMs: 777, execute: hang.execute };
    const model = scriptedModel([calls({ name: "hang" }, { name: "own", input: { n: 1 } }), "done"]);
    const { events } = await watch(
      createRunner({ clock, agent: createAgent({ name: "a", model, tools: [hang, own], limits: { toolTimeoutMs: 333 } }) }).run("go"),
    );
    expect((stopped as Error).name).toBe("TimeoutError");
    expect(clock.waits).toEqual(expect.arrayContaining([333, 777]));
    expect(ofType(events, "tool-result").map(({ name }) => name)).toEqual(["hang", "own"]);
  });

  it("that ignores its signal is left behind, and the model is told [TL-05]", async () => {
    const hang = recordingTool("hang", { effect: "write" });
    hang.execute = () => new Promise(() => {});
    const { results, outcome } = await run([hang], [calls({ name: "hang" })], { limits: { toolTimeoutMs: 50 } });
    expect(outcome.reason).toBe("complete");
    expect(results[0]).toMatchObject({ isError: true, output: expect.stringMatching(/did not finish within 50 ms.*was not undone/) });
  });

  it.each<[string, () => unknown, RegExp]>([
    [
      "throws",
      () => {
        throw new Error("no such door");
      },
      /"odd" failed: no such door/,
    ],
    [
      "throws no error",
      () => {
        const nothing: unknown = null;
        throw nothing;
      },
      /"odd" failed/,
    ],
    ["rejects", () => Promise.reject(new Error("later")), /"odd" failed: later/],
    ["returns parts that are none", () => ({ type: "content", content: [{ type: "video" }] }), /no text, image or file part/],
    ["says itself that it failed", () => ({ type: "content", content: [{ type: "text", text: "exit 1" }], isError: true }), /exit 1/],
  ])("goes on when a tool %s: that is a result, not the end of the run [TL-05, ET-04]", async (_what, execute, message) => {
    const odd = recordingTool("odd", { effect: "read" });
    odd.execute = execute as Tool["execute"];
    const { results, outcome, model } = await run([odd], [calls({ name: "odd" })]);
    expect(outcome).toMatchObject({ reason: "complete", text: "done" });
    expect(results[0]?.isError).toBe(true);
    const output = results[0]?.output;
    expect(typeof output === "string" ? output : JSON.stringify(output)).toMatch(message);
    expect(told(model)).toMatchObject([{ isError: true }]);
  });

  it.each([
    ["a bigint", () => 10n, "10"],
    ["a Date", () => ({ at: new Date(0) }), { at: "1970-01-01T00:00:00.000Z" }],
    ["a Map", () => new Map([["a", 1]]), { a: 1 }],
    [
      "a cycle",
      () => {
        const cycle: { self?: unknown } = {};
        cycle.self = cycle;
        return cycle;
      },
      { self: "[circular]" },
    ],
  ])("keeps the result of a tool that returns %s, as JSON [TL-05]", async (_what, execute, output) => {
    const odd = recordingTool("odd", { effect: "read" });
    odd.execute = execute as Tool["execute"];
    const { results, outcome } = await run([odd], [calls({ name: "odd" })]);
    expect(outcome).toMatchObject({ reason: "complete", text: "done" });
    expect(results[0]).toMatchObject({ isError: false, output });
  });
});
