import { createInterface } from "node:readline";
import { type After, afterReading } from "../terminal/after-reading.ts";
import { printableLine } from "../text/printable.ts";
import { createQuietTime } from "./quiet-time.ts";
import type { TerminalInput, TerminalInputOptions } from "./terminal-input.ts";

export interface LineInputOptions extends Pick<TerminalInputOptions, "input" | "onMessage" | "onAnswer" | "onEnd"> {
  /** Shows a line: what is typed next, and what became of what was typed. */
  onPrompt(text: string): void;
  /** Default: the process's timers. */
  readonly after?: After;
}

/** A line that consists of this answers with the text that was shown. */
const KEEP = "=";

/**
 * The contract of the terminal input on the line editing of the terminal itself, for screen readers and terminals without cursor movement. It sees
 * whole lines only. A line that ends with a backslash continues in the next one. A line that arrives before a question could be read joins the
 * draft, which is sent with the next message. Ctrl-C is a signal of the process here, and there is no key Esc.
 */
export function createLineInput({ input, onPrompt, onMessage, onAnswer, onEnd, after = afterReading }: LineInputOptions): TerminalInput {
  const reader = createInterface({ input, terminal: false });
  const quiet = createQuietTime(after);
  let asking: "message" | "question" | "answer" = "message";
  let isSettling = false;
  /** Lines of the message that is not sent yet. */
  let draft: readonly string[] = [];
  /** Lines of an answer before the one that is typed. */
  let begun: readonly string[] = [];
  let filled = "";

  function settle(): void {
    isSettling = true;
    quiet.await(() => (isSettling = false));
  }

  function keep(text: string): void {
    draft = [...draft, text];
    onPrompt(`kept for your next message: ${printableLine(text)}`);
  }

  /** @returns `undefined` if the text continues in the next line */
  function finished(line: string): string | undefined {
    if (!line.endsWith("\\")) return [...begun, line].join("\n");
    begun = [...begun, line.slice(0, -1)];
    return undefined;
  }

  function onLine(line: string): void {
    if (isSettling) {
      quiet.key();
      if (line !== "") keep(line);
      return;
    }
    const text = finished(line);
    if (text === undefined) return;
    begun = [];
    if (asking !== "message") return onAnswer(asking === "answer" && text === KEEP ? filled : text);
    const whole = [...draft, text].join("\n");
    draft = [];
    onMessage(whole);
  }
  reader.on("line", onLine);
  reader.on("close", onEnd);

  return {
    part: { rows: () => ({ lines: [] }) },
    message(prompt) {
      if (asking === "message") return;
      asking = "message";
      quiet.cancel();
      isSettling = false;
      begun = [];
      onPrompt(prompt.trimEnd());
    },
    question(prompt, missed = "") {
      if (missed !== "") keep(missed);
      if (asking === "message") draft = [...draft, ...begun];
      begun = [];
      asking = "question";
      settle();
      onPrompt(prompt.trimEnd());
    },
    answer(prompt, text) {
      asking = "answer";
      begun = [];
      filled = text;
      onPrompt(text === "" ? prompt.trimEnd() : `${prompt}${printableLine(text)} (${KEEP} keeps it)`);
    },
    clear() {
      const had = draft.length > 0 || begun.length > 0;
      draft = [];
      begun = [];
      return had;
    },
    draft: () => [...draft, ...(asking === "message" ? begun : [])].join("\n"),
    setDraft(text) {
      draft = [];
      if (text !== "") keep(text);
    },
    insert: keep,
    // A terminal without cursor movement shows no list that keys could move in.
    lend: () => () => {},
    async suspend(program) {
      reader.pause();
      try {
        return await program();
      } finally {
        reader.resume();
      }
    },
    close() {
      quiet.cancel();
      reader.off("close", onEnd);
      reader.close();
    },
  };
}
