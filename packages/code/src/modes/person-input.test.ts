import { PassThrough } from "node:stream";
import { setImmediate as settle } from "node:timers/promises";
import { type AgentEvent, EnvironmentError, type Executor } from "@keelson/protocol";
import { afterEach, describe, expect, it } from "vitest";
import { firstCompletion } from "../editor/completions/completion-source.ts";
import { ESCAPE_MS } from "../editor/read-keys.ts";
import { createStyle } from "../text/style.ts";
import { createPersonInput, type PersonInput, type PersonInputOptions } from "./person-input.ts";

const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAIAAAA2iEnWAAAAC0lEQVR4nGNgQAYAAA4AAamRc7EAAAAASUVORK5CYII=", "base64");
const CTRL_V = "\u0016";
const ALT_UP = "\u001b[1;3A";

const opened: PersonInput[] = [];
afterEach(() => opened.splice(0).forEach(({ input }) => input.close()));

interface Setting {
  readonly person: PersonInput;
  readonly did: string[];
  readonly shown: string[];
  type(keys: string): Promise<void>;
  escape(): Promise<void>;
}

function setUp(options: Partial<PersonInputOptions> = {}): Setting {
  const stdin = new PassThrough();
  const did: string[] = [];
  const shown: string[] = [];
  let escape = (): void => {};
  const exec: Executor = {
    async execute({ command, onOutput }) {
      onOutput?.("stdout", `ran ${command}\n`);
      return { exitCode: 0, signal: null, stdout: "", stderr: "", stdoutBytes: 0, stderrBytes: 0, timedOut: false, durationMs: 1 };
    },
  };
  const person = createPersonInput({
    ...{ stdin, exec: () => exec, environment: {}, cwd: () => "/project", history: [], completions: firstCompletion([]) },
    style: createStyle(false),
    screen: { block: (lines) => void shown.push(...lines) },
    onChange() {},
    onMessage: (text) => did.push(`message ${text}`),
    onAnswer: (text) => did.push(`answer ${text}`),
    onInterrupt: () => did.push("interrupt"),
    onEscape: () => did.push("escape"),
    onEnd: () => did.push("end"),
    onKey: (name) => did.push(name),
    deliver: (text) => did.push(`deliver ${text}`),
    readClipboard: async () => PNG,
    after(ms, done) {
      if (ms === ESCAPE_MS) escape = done;
      return () => {};
    },
    ...options,
  });
  opened.push(person);
  const type = async (keys: string): Promise<void> => {
    stdin.write(keys);
    await settle();
  };
  return {
    ...{ person, did, shown, type },
    async escape() {
      await type("\u001b");
      escape();
      await settle();
    },
  };
}

describe("createPersonInput", () => {
  it("runs a command of the person, and tells the agent with the next message", async () => {
    const typed: string[] = [];
    const { person, did, shown, type } = setUp({ onTyped: (text) => typed.push(text) });
    await type("!git status\r");
    expect(typed).toEqual(["!git status"]);
    expect([did, shown]).toEqual([[], ["", "$ git status", "  ran git status", "  done; the agent reads it with your next message"]]);
    expect(await person.outgoing("what now?")).toBe(
      "I ran this command in the project myself: git status\nran git status\n[exit code 0]\n\nwhat now?",
    );
    expect(await person.outgoing("again")).toBe("again");
  });

  it("puts an image of the clipboard into the text and sends it", async () => {
    const { person, did, shown, type } = setUp();
    await type(CTRL_V);
    await settle();
    await type("what is this?\r");
    expect(did).toEqual(["message [image #1] what is this?"]);
    expect(await person.outgoing("[image #1] what is this?")).toEqual([
      { type: "text", text: "[image #1]" },
      { type: "image", mediaType: "image/png", data: PNG.toString("base64") },
      { type: "text", text: " what is this?" },
    ]);
    expect(shown).toEqual(["  image #1: clipboard 2×3", ""]);
  });

  it("says why there is no image", async () => {
    const { shown, type } = setUp({ readClipboard: async () => Buffer.from("text") });
    await type(CTRL_V);
    await settle();
    expect(shown).toEqual(["! clipboard is not a PNG, JPEG, GIF or WebP image. Convert it to one of these."]);
  });

  it("takes a message that waits back into the input with Alt-Up, and says if none waits", async () => {
    const { person, shown, type } = setUp();
    await type("typed");
    person.queue.send("one");
    expect(person.part.rows({ columns: 60, rows: 5 }).lines).toEqual(["waits › one (Alt-Up edits)", "› typed"]);
    await type(ALT_UP);
    expect([person.input.draft(), shown]).toEqual(["one\ntyped", []]);
    await type(ALT_UP);
    expect(shown).toEqual(["! There is no waiting message to edit."]);
  });

  it("takes it back with Esc in an empty input, and passes Esc on otherwise", async () => {
    const { person, did, escape } = setUp();
    person.queue.send("one");
    await escape();
    expect([person.input.draft(), did]).toEqual(["one", []]);
    person.queue.send("two");
    await escape();
    expect(did).toEqual(["escape"]);
  });

  it("stops the command of the person with Esc and Ctrl-C, and not the agent", async () => {
    let stopped = 0;
    const exec: Executor = {
      execute: ({ signal }) =>
        new Promise((_resolve, reject) => {
          signal?.addEventListener("abort", () => {
            stopped += 1;
            reject(new EnvironmentError({ kind: "cancelled", message: "cancelled" }));
          });
        }),
    };
    const { did, shown, type, escape } = setUp({ exec: () => exec });
    await type("!sleep 100\r");
    await escape();
    await type("!sleep 200\r");
    await type("\u0003");
    expect([did, stopped, shown]).toEqual([[], 2, ["", "$ sleep 100", "  stopped", "", "$ sleep 200", "  stopped"]]);
    await type("\u0003");
    expect(did).toEqual(["interrupt"]);
  });

  it("edits the text in another program, which has the terminal meanwhile", async () => {
    let hadTerminal = false;
    const { person, shown, type } = setUp({
      environment: { ...process.env, VISUAL: "", EDITOR: 'sh -c \'printf " more" >> "$0"\'' },
      async outside(program) {
        hadTerminal = true;
        return program();
      },
    });
    await type("some");
    const { promise, resolve } = Promise.withResolvers<void>();
    const setDraft = person.input.setDraft;
    Object.assign(person.input, { setDraft: (text: string) => (setDraft(text), resolve()) });
    await type("\u0007");
    await promise;
    expect([person.input.draft(), hadTerminal, shown]).toEqual(["some more", true, []]);
    await type("!");
    expect(person.input.draft()).toBe("some more!");
  });

  it("reports keys for other parts of the screen, and messages of the terminal", async () => {
    const reports: string[] = [];
    const { did, type } = setUp({ onReport: (report) => reports.push(report) });
    await type("\u001b[Z\u000f\u0014\u000c\u001b[I");
    expect([did, reports]).toEqual([["mode", "open-output", "tasks", "redraw"], ["\u001b[I"]]);
  });

  it("reads no key while the process is suspended", async () => {
    const { promise: continued, resolve } = Promise.withResolvers<void>();
    const { person, type } = setUp({ suspendProcess: () => continued });
    await type("a\u001a");
    await type("b");
    expect(person.input.draft()).toBe("a");
    resolve();
    await settle();
    await settle();
    expect(person.input.draft()).toBe("ab");
  });

  it("hands messages to the run when it can read them", async () => {
    const { person, did } = setUp();
    const event = (type: AgentEvent["type"]): AgentEvent => ({ type, runId: "r1", seq: 1, at: 0 }) as AgentEvent;
    async function* events(): AsyncIterable<AgentEvent> {
      yield event("turn-start");
      yield event("tool-calls-start");
    }
    const types: string[] = [];
    for await (const { type } of person.queue.following(events())) {
      types.push(type);
      if (type === "turn-start") person.queue.send("steer");
    }
    expect([types, did]).toEqual([["turn-start", "tool-calls-start"], ["deliver steer"]]);
  });
});
