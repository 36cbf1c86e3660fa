import type { AgentEvent, CallId, DurableEvent, JsonValue, RunId, SessionId, TransientEvent, Usd } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { createPlainScreen } from "../terminal/plain-screen.ts";
import { createPlainHighlight } from "../markdown/highlight-code.ts";
import { createMarkdownWords, markdownLines } from "../markdown/markdown-words.ts";
import type { Reading } from "../markdown/reading.ts";
import { createTheme } from "../markdown/theme.ts";
import { createRunView, type RunViewOptions } from "./run-view.ts";
import type { PartsScreen } from "./words-view.ts";
import { createStyle } from "../text/style.ts";

const START = 1_700_000_000_000;

interface Shown {
  readonly words: string;
  readonly notes: string;
  readonly all: string;
}

/** Shows events on a screen without colours, 60 columns wide. Each durable event is a second later than the one before. */
function shown(...events: readonly (DurableEvent | TransientEvent)[]): Shown {
  return shownWith({}, events);
}

function shownWith(options: Partial<RunViewOptions>, events: readonly (DurableEvent | TransientEvent)[]): Shown {
  let words = "";
  let notes = "";
  let all = "";
  const out = { write: (text: string) => void ((words += text), (all += text)) };
  const err = { write: (text: string) => void ((notes += text), (all += text)) };
  const view = createRunView({ screen: createPlainScreen(out, err, 60), style: createStyle(false), now: () => START, ...options });
  for (const [index, event] of events.entries())
    view.show({ ...event, runId: "r1" as RunId, seq: index + 1, at: START + index * 1_000 } as AgentEvent);
  return { words, notes, all };
}

const start: DurableEvent = { type: "run-start", session: "s1" as SessionId, agent: "code", definition: "d", model: "test/model" };
const usage = { inputTokens: 1_200, outputTokens: 80, cacheReadTokens: null, cacheCreationTokens: null, reasoningTokens: null };
const complete: DurableEvent = { type: "run-complete", reason: "complete", text: "", usage, cost: "0.0123" as Usd, turns: 2 };
const delta = (text: string): TransientEvent => ({ type: "text-delta", text });
const response = (text: string): DurableEvent => ({ type: "message", message: { role: "assistant", content: [{ type: "text", text }] } });

function call(name: string, input: JsonValue, output: JsonValue, { isError = false, durationMs = 5 } = {}): readonly DurableEvent[] {
  const callId = "c_1" as CallId;
  return [
    { type: "tool-calls-start", calls: [{ callId, name, input, inputText: JSON.stringify(input) }] },
    { type: "tool-result", callId, name, output, isError, durationMs },
  ];
}

describe("createRunView", () => {
  it("writes what has streamed when the run goes on without this view", () => {
    expect(shown(start, delta("half a sent"), { type: "detached", reason: "the lease was lost" } as never).all).toMatch(/half a sent\n/);
  });

  it("shows the list of tasks in the place of the arguments and the result of the call that wrote it", () => {
    const tasks = [
      { text: "Read", state: "done" },
      { text: "Write", state: "doing" },
    ];
    expect(shown(start, ...call("update_tasks", { tasks }, "1 of 2 done.")).notes).toBe(
      "● update_tasks 2 tasks\n  │ ☑ Read\n  │ ◐ Write\n",
    );
  });

  it("leaves to a status line and to a list in sight what they show", () => {
    const tasks = [
      { text: "Read", state: "done" },
      { text: "Write", state: "doing" },
    ];
    const { notes } = shownWith({ figures: false, tasks: false }, [start, ...call("update_tasks", { tasks }, "1 of 2 done."), complete]);
    expect(notes).toBe("● update_tasks 2 tasks  1 done\n\n✔ complete · 2 turns · 1.2k in, 80 out · $0.0123 · 3 s\n");
  });

  it("shows warnings of what works beside the run, and no other status", () => {
    const { notes } = shown(
      start,
      { type: "status", level: "info", status: "connected" } as TransientEvent,
      { type: "status", level: "warn", status: "the server failed:\nat a" } as TransientEvent,
    );
    expect(notes).toBe("! the server failed:\n  at a\n");
  });

  it("says how the permission mode and the effort changed", () => {
    const { notes } = shown(
      start,
      { type: "permission-mode-switch", from: "plan-only", to: "default" },
      { type: "effort-switch", from: null, to: "high" },
    );
    expect(notes).toContain("⇄ permission mode: plan-only → default\n");
    expect(notes).toContain("⇄ effort: default → high\n");
  });

  it("streams words to one stream and everything else to the other, with a footer", () => {
    const { words, notes } = shown(
      start,
      { type: "turn-start", turn: 1, model: "test/model" },
      delta("Hello "),
      delta("there."),
      response("Hello there."),
      complete,
    );
    expect(words).toBe("Hello there.\n");
    expect(notes).toBe("\n✔ complete · test/model · 2 turns · 1.2k in, 80 out · $0.0123 · 5 s\n");
  });

  it("shows a response once, whether or not its deltas were seen", () => {
    expect(shown(start, response("Whole.")).words).toBe("Whole.\n");
    expect(shown(start, delta("Wh"), delta("ole."), response("Whole."), delta("Next."), response("Next.")).words).toBe("Whole.\nNext.\n");
  });

  it("shows a response again whole after a retry or a gap", () => {
    expect(
      shown(start, delta("Hel"), { type: "retry", attempt: 1, reason: "stream broke off", delayMs: 1_500 }, response("Hello.")).all,
    ).toBe("Hel\n\n↻ stream broke off; trying again in 1.5 s (1)\n\nHello.\n");
    expect(shown(start, delta("Hel"), { type: "gap", dropped: 3 }, response("Hello.")).words).toBe("Hel\nHello.\n");
  });

  it("shows a command with its exit code, its time and the folded end of its output", () => {
    const output = Array.from({ length: 20 }, (_, index) => `line ${index + 1}`)
      .join("\n")
      .concat("\n[exit code 1, 1 s]");
    expect(shown(...call("bash", { command: "npm test" }, output, { durationMs: 1_240 })).notes).toBe(
      [
        "✗ bash npm test  exit code 1, 1.2 s",
        "  │ line 1",
        "  │ line 2",
        "  │ … 10 more lines",
        ...Array.from({ length: 8 }, (_, index) => `  │ line ${index + 13}`),
        "",
      ].join("\n"),
    );
  });

  it("shows an edit as a diff and a read as a count", () => {
    expect(
      shown(...call("edit_file", { path: "src/a.js", old_string: "let a = 1;\nkeep();", new_string: "let a = 2;\nkeep();" }, "ok")).notes,
    ).toBe(["● edit_file src/a.js", "  │ - let a = 1;", "  │ + let a = 2;", "  │   keep();", ""].join("\n"));
    expect(shown(...call("read_file", { path: "src/a.js" }, "1\n2\n3\n")).notes).toBe("● read_file src/a.js  3 lines\n");
  });

  it("prefers the diff that the tool made, which knows the lines around", () => {
    const output = "Edited src/a.js: 1 replacement.\n@@ -1,3 +1,3 @@\n before\n-let a = 1;\n+let a = 2;\n@@ -9,1 +9,1 @@\n-x\n+y";
    expect(shown(...call("edit_file", { path: "src/a.js", old_string: "1", new_string: "2" }, output)).notes).toBe(
      [
        "● edit_file src/a.js",
        "  │ 1   before",
        "  │ 2 - let a = 1;",
        "  │ 2 + let a = 2;",
        "  │     ⋮",
        "  │ 9 - x",
        "  │ 9 + y",
        "",
      ].join("\n"),
    );
  });

  it("shows the result of a patch as a diff under the names of its files", () => {
    const output = "Updated a.ts.\n@@ -1,1 +1,1 @@\n-one\n+two\nMade b.ts.";
    expect(
      shown(...call("apply_patch", { input: "*** Begin Patch\n*** Update File: a.ts\n@@\n-one\n+two\n*** End Patch" }, output)).notes,
    ).toBe(["● apply_patch a.ts", "  │     Updated a.ts.", "  │ 1 - one", "  │ 1 + two", "  │     Made b.ts.", ""].join("\n"));
  });

  it("marks a failed call and keeps the end of its message", () => {
    expect(shown(...call("read_file", { path: "nope" }, "no such file: nope", { isError: true })).notes).toBe(
      "✗ read_file nope\n  │ no such file: nope\n",
    );
  });

  it("shows a question with what it would do, and the decision", () => {
    const { notes } = shown(
      {
        type: "approval-request",
        question: "approval",
        callId: "c_1" as CallId,
        token: "t",
        nonce: "n",
        operation: "edit_file",
        description: "",
        risk: "low",
        input: { path: "a", old_string: "x", new_string: "y" },
        reason: "edits ask",
        expiresAt: START,
      },
      { type: "approval-decision", callId: "c_1" as CallId, nonce: "n", decision: { type: "deny", reason: "not now", by: "ada" } },
    );
    expect(notes).toBe("? edit_file a\n  │ - x\n  │ + y\n  edits ask\n  call: ✗ deny by ada: not now\n");
  });

  it("obeys nothing that a model or a tool writes", () => {
    const evil = "\u001b]0;title\u0007\u001b[2J\u009b31m\u202eback\r\u0008";
    const { all } = shown(start, delta(evil), response(evil), ...call(`n${evil}`, { command: `c${evil}` }, evil), {
      type: "error",
      failure: { kind: "other", message: evil },
    });
    // oxlint-disable-next-line no-control-regex -- looking for exactly these
    expect(all.replace(/\n/g, "")).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
    expect(all).toContain("<U+202E>back");
  });

  it("joins a character whose halves come in two deltas", () => {
    expect(shown(delta("a\ud83d"), delta("\ude00b")).words).toBe("a😀b");
  });

  it("ends with the failure of a run", () => {
    expect(
      shown(start, {
        type: "error",
        failure: {
          kind: "model",
          message: "wrong key\nset ANTHROPIC_API_KEY",
          model: { kind: "server-error", message: "wrong key\nset ANTHROPIC_API_KEY" },
        },
      }).notes,
    ).toBe("✗ model: wrong key\n  set ANTHROPIC_API_KEY\n");
  });

  it("says beside the reason of an end which limit it was, what was said about it, and what of the cost is estimated", () => {
    const { notes } = shown(start, {
      ...complete,
      reason: "budget-exhausted",
      cost: "0.49" as Usd,
      limit: { name: "maxCost", limit: "0.5" as Usd, used: "0.49" as Usd },
      estimated: { modelCalls: 1, cost: "0.02" as Usd, withoutUsage: "reserve" },
    });
    expect(notes).toBe(
      [
        "✗ budget-exhausted · test/model · 2 turns · 1.2k in, 80 out · $0.4900 · 1 s",
        "  the budget of $0.5000 allows no more ($0.4900 used)",
        "  of the cost $0.0200 is estimated: the vendor told no usage of 1 model call, counted as all that it could have come to",
        "",
      ].join("\n"),
    );
    const endings: readonly (readonly [object, string])[] = [
      [{ reason: "max-turns", limit: { name: "maxTurns", limit: 2, used: 2 } }, "  2 of 2 turns are used\n"],
      [{ reason: "timeout", limit: { name: "maxDurationMs", limit: 90_000, used: 90_001 } }, "  the time limit of 1 m 30 s is over\n"],
      [{ reason: "stopped", why: "this is production" }, "  this is production\n"],
      [{ reason: "halted", halted: { by: "guard", reason: "no" } }, "  guard: no\n"],
      [
        {
          reason: "circuit-breaker",
          limit: { name: "maxFailedTurns", limit: 3, used: 3 },
          why: "every tool call of the last 3 turns failed",
        },
        "  every tool call of the last 3 turns failed\n",
      ],
      [{ reason: "complete" }, ""],
    ];
    for (const [end, words] of endings)
      expect(shown({ ...complete, ...end } as DurableEvent).notes).toMatch(new RegExp(`^. [^\n]*\n${words.replaceAll(/[().]/g, "\\$&")}$`));
  });

  it("says what a suspended run waits for", () => {
    expect(
      shown(start, { type: "usage", usage, cost: null, model: "m" }, { type: "run-suspend", reason: "awaiting-approval", waits: [] }).notes,
    ).toBe("‖ awaiting-approval · test/model · 0 turns · 1.2k in, 80 out · cost unknown · 2 s\n");
  });
});

describe("createRunView on a screen that draws open text again", () => {
  const options = { theme: createTheme("none"), highlight: createPlainHighlight() };
  const reading: Reading = {
    ...options,
    load: async () => {},
    words: () => createMarkdownWords(options),
    lines: (text, columns) => markdownLines(text, columns, options),
  };

  function written(...events: readonly (DurableEvent | TransientEvent)[]): readonly string[] {
    const lines: string[] = [];
    const screen: PartsScreen = {
      columns: 60,
      part() {},
      changed() {},
      finished: (added) => void lines.push(...added),
      text: () => expect.unreachable("words are Markdown here"),
      endText() {},
      block: (added) => void lines.push(...added),
      status() {},
    };
    const view = createRunView({ screen, style: createStyle(false), now: () => START, reading });
    for (const [index, event] of events.entries())
      view.show({ ...event, runId: "r1" as RunId, seq: index + 1, at: START + index * 1_000 } as AgentEvent);
    return lines;
  }

  it("renders Markdown, whether or not its deltas were seen", () => {
    const table = "| a |\n|---|\n| 1 |";
    const shownTable = ["┌───┐", "│ a │", "├───┤", "│ 1 │", "└───┘"];
    expect(written(start, delta("| a |\n|--"), delta("-|\n| 1 |"), response(table))).toEqual(shownTable);
    expect(written(start, response(table))).toEqual(shownTable);
  });

  it("writes the rest of a text that a run ends in", () => {
    expect(written(start, delta("half a sen"), { ...complete, reason: "aborted" } as DurableEvent)).toEqual([
      "half a sen",
      "",
      expect.stringMatching(/^✗ aborted/),
    ]);
  });

  it("drops what was open of a response that is void", () => {
    const retry: DurableEvent = { type: "retry", attempt: 1, reason: "stream broke off", delayMs: 0 };
    expect(written(start, delta("# A\n\nhal"), retry, response("# A\n\nhalf"))).toEqual([
      "# A",
      "",
      "↻ stream broke off; trying again (1)",
      "",
      "# A",
      "",
      "half",
    ]);
  });
});
