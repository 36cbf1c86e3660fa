import { createInterface, type Interface, type Key } from "node:readline";
import { Writable } from "node:stream";
import type { InputStream } from "../core/command-host.ts";
import type { InputLine } from "../terminal/input-line.ts";
import { type After, afterReading, createQuietTime } from "./quiet-time.ts";

export interface TerminalInputOptions {
  readonly input: InputStream;
  readonly columns: number;
  /** Earlier lines, newest first. */
  readonly history: readonly string[];
  draw(line: InputLine): void;
  /** A line for the agent, or a command. */
  onMessage(text: string): void;
  /** A line that was typed after a question could be read, and into an empty line. */
  onAnswer(text: string): void;
  onInterrupt(): void;
  onEscape(): void;
  /** Ctrl-D on an empty line, or the terminal went away. */
  onEnd(): void;
  /** A key that does more than edit the text. */
  onKey?(action: "mode" | "open-output" | "tasks"): void;
  /** Default: the process's timers. */
  readonly after?: After;
}

/**
 * A line that is edited while other things are shown: readline keeps it, the screen draws it. What is typed is a message, the
 * draft, until a question parks it. Text that was meant for one is never taken for the other: when what Enter means changes under
 * a person's hands, keys still belong to the draft, and Enter sends nothing, until none came for a while.
 */
export interface TerminalInput {
  /** What is typed is a message: a parked draft returns. */
  message(prompt: string): void;
  /** What is typed answers a question, after a pause. `missed` was typed as an answer and is none: it joins the draft. */
  question(prompt: string, missed?: string): void;
  /** A further line of the same answer, which `text` is to be edited for. */
  answer(prompt: string, text: string): void;
  /** Empties the line. @returns whether there was anything to clear */
  clear(): boolean;
  close(): void;
}

// A lone Esc is told from the beginning of a key's sequence by what follows it at once.
const ESCAPE_MS = 20;

export function createTerminalInput({
  input,
  columns,
  history,
  draw,
  onMessage,
  onAnswer,
  onInterrupt,
  onEscape,
  onEnd,
  onKey: onAction = () => {},
  after = afterReading,
}: TerminalInputOptions): TerminalInput {
  // Readline would draw by itself, over what else is shown.
  const nowhere = Object.assign(new Writable({ write: (_chunk, _encoding, done) => done() }), { columns });
  const reader: Interface = createInterface({
    input,
    output: nowhere,
    terminal: true,
    history: [...history],
    historySize: 500,
    removeHistoryDuplicates: true,
    escapeCodeTimeout: ESCAPE_MS,
  });
  const quiet = createQuietTime(after);
  let prompt = "› ";
  let asking: "message" | "question" | "answer" = "message";
  /** Enter does nothing yet, and keys belong to the draft. */
  let settling = false;
  /** A key came since. */
  let typing = false;
  /** Lines of the message or answer before the one that is edited. */
  let earlier: readonly string[] = [];
  let parked: { readonly line: string; readonly earlier: readonly string[] } | undefined;
  // Lines of a paste are one text: without this, each of them would be sent.
  let pasted: string[] | undefined;

  function redraw(): void {
    if (pasted !== undefined) return;
    const hidden = settling && asking !== "message";
    const draft = parked ?? { line: reader.line, earlier };
    const kept = asking !== "message" && (draft.line !== "" || draft.earlier.length > 0) && (hidden || parked !== undefined);
    const lead = kept ? "[draft kept] " : earlier.length > 0 ? `[+${earlier.length} ${earlier.length === 1 ? "line" : "lines"}] ` : "";
    // The sign before the cursor says when an answer is heard.
    draw({ lead, prompt: hidden ? prompt.replace("›", "⋯") : prompt, text: hidden ? "" : reader.line, cursor: hidden ? 0 : reader.cursor });
  }

  function place(text: string): void {
    reader.write(null, { ctrl: true, name: "e" });
    reader.write(null, { ctrl: true, name: "u" });
    if (text !== "") reader.write(text);
  }

  function park(): void {
    parked = { line: reader.line, earlier };
    earlier = [];
    place("");
  }

  function unpark(missed = ""): void {
    if (parked === undefined) return;
    const { line, earlier: lines } = parked;
    parked = undefined;
    earlier = lines;
    place(line + missed);
  }

  function settle(): void {
    settling = true;
    typing = false;
    quiet.await(() => {
      settling = false;
      if (asking !== "message") park();
      redraw();
    });
  }

  function ask(question: string, missed?: string): void {
    unpark(missed);
    prompt = question;
    asking = "question";
    settle();
    redraw();
  }

  const onKey = (_text: string | undefined, key: Key | undefined): void => {
    if (key?.name === "escape") return onEscape();
    if (key?.name === "tab" && key.shift === true) onAction("mode");
    else if (key?.ctrl === true && key.name === "o") onAction("open-output");
    else if (key?.ctrl === true && key.name === "t") onAction("tasks");
    typing = true;
    quiet.key();
    if (key?.name === "paste-start") {
      // Nobody pastes an answer to a question: it is text that was on its way.
      if (asking === "question" && !settling) ask(prompt, reader.line);
      pasted = [];
    }
    if (key?.name === "paste-end" && pasted !== undefined) {
      earlier = [...earlier, ...pasted];
      pasted = undefined;
    }
    redraw();
  };
  input.on("keypress", onKey);
  // What was answered is nothing to go back to.
  reader.on("history", (lines: string[]) => {
    if (asking !== "message" && !settling) lines.shift();
  });
  reader.on("line", (line) => {
    if (pasted !== undefined) {
      pasted.push(line);
      return;
    }
    if (settling) {
      // Kept as it is, with room for what is typed on.
      if (line !== "") place(/\s$/.test(line) ? line : `${line} `);
      return;
    }
    const text = [...earlier, line].join("\n");
    earlier = [];
    if (asking === "message") onMessage(text);
    else onAnswer(text);
    redraw();
  });
  reader.on("SIGINT", onInterrupt);
  reader.on("close", onEnd);

  return {
    message(text) {
      prompt = text;
      if (asking !== "message") {
        const underWay = settling ? typing : reader.line !== "";
        asking = "message";
        quiet.cancel();
        settling = false;
        if (parked !== undefined) earlier = [];
        unpark();
        if (underWay) settle();
      }
      redraw();
    },
    question: ask,
    answer(text, filled) {
      prompt = text;
      asking = "answer";
      // Readline edits one line: a line end in it would send the answer.
      const lines = filled.split("\n");
      earlier = lines.slice(0, -1);
      place(lines.at(-1) ?? "");
      redraw();
    },
    clear() {
      const had = reader.line !== "" || earlier.length > 0;
      earlier = [];
      place("");
      redraw();
      return had;
    },
    close() {
      quiet.cancel();
      input.off("keypress", onKey);
      reader.off("close", onEnd);
      reader.close();
    },
  };
}
