import type { InputStream } from "../core/command-host.ts";
import type { CompletionSource } from "../editor/completions/completion-source.ts";
import { isRelease, type KeyAction, keyAction, plainKey } from "../editor/keys.ts";
import { createPromptEditor } from "../editor/prompt-editor.ts";
import { createKeyReader } from "../editor/read-keys.ts";
import type { LivePart } from "../terminal/live-part.ts";
import { type After, afterReading } from "../terminal/after-reading.ts";
import { createStyle, type Style } from "../text/style.ts";
import { createQuietTime } from "./quiet-time.ts";

/** Keys that the terminal input reports instead of editing with them. */
export type ReportedKey = Extract<
  KeyAction,
  "mode" | "open-output" | "paste-image" | "redraw" | "external-editor" | "tasks" | "take-back" | "suspend"
>;

export interface TerminalInputOptions {
  readonly input: InputStream;
  /** Earlier messages, newest first. */
  readonly history: readonly string[];
  /** Default: without colours. */
  readonly style?: Style;
  /** Menus for messages. Absent: there are none. */
  readonly completions?: CompletionSource | undefined;
  /** `part` shows something else. */
  onChange(): void;
  /** A message for the agent, or a command. */
  onMessage(text: string): void;
  /** An answer that was typed after its question could be read, and into an empty line. */
  onAnswer(text: string): void;
  onInterrupt(): void;
  onEscape(): void;
  /** Ctrl-D in an empty line, or the terminal went away. */
  onEnd(): void;
  /** Suggestions cannot be made. */
  onProblem?(error: unknown): void;
  /** A key that does not edit. */
  onKey?(name: ReportedKey): void;
  /** A message of the terminal, such as its focus. */
  onReport?(report: string): void;
  /** Default: the process's timers. */
  readonly after?: After;
}

/**
 * A text that is edited while other things are shown. What is typed is a message, the draft, until a question parks it. Text that
 * was meant for one is never used for the other: when the meaning of Enter changes while a person types, keys still belong to the
 * draft, and Enter sends nothing, until no key came for a while.
 */
export interface TerminalInput {
  /** The rows of the input. */
  readonly part: LivePart;
  /** What is typed is a message: a parked draft returns. */
  message(prompt: string): void;
  /** What is typed answers a question, after a pause. `missed` was typed as an answer and is none: it joins the draft. */
  question(prompt: string, missed?: string): void;
  /** A further line of the same answer, which `text` is to be edited for. */
  answer(prompt: string, text: string): void;
  /** Empties the line. @returns whether there was anything to clear */
  clear(): boolean;
  /** The text of the message, also while a question is open. */
  draft(): string;
  setDraft(text: string): void;
  /** Inserts a text at the cursor of the message. */
  insert(text: string): void;
  /**
   * Lends the keys to another part of the screen, such as a list. Pastes arrive as keys of several characters.
   * @returns a function that ends the loan
   */
  lend(handle: (sequence: string) => void): () => void;
  /** Runs a program that needs the terminal: until it ends, no key is read here. */
  suspend<Result>(program: () => Promise<Result>): Promise<Result>;
  close(): void;
}

const REPORTED: { readonly [Key in ReportedKey]: true } = {
  "mode": true,
  "open-output": true,
  "paste-image": true,
  "redraw": true,
  "external-editor": true,
  "tasks": true,
  "take-back": true,
  "suspend": true,
};

export function createTerminalInput({
  input,
  history,
  style = createStyle(false),
  completions,
  onChange,
  onMessage,
  onAnswer,
  onInterrupt,
  onEscape,
  onEnd,
  onKey = () => {},
  onReport = () => {},
  onProblem,
  after = afterReading,
}: TerminalInputOptions): TerminalInput {
  const quiet = createQuietTime(after);
  let prompt = "› ";
  let asking: "message" | "question" | "answer" = "message";
  /** Enter does nothing yet, and keys belong to the draft. */
  let settling = false;
  /** A key came since. */
  let typing = false;
  let borrower: ((sequence: string) => void) | undefined;
  let isClosed = false;

  const draft = createPromptEditor({ style, history, completions, onChange, ...(onProblem && { onProblem }), onSend: onMessage });
  const reply = createPromptEditor({ style, isOneLine: true, onChange, onSend: onAnswer });
  /** The editor that keys belong to. */
  const edited = (): typeof draft => (asking === "message" || settling ? draft : reply);

  function redraw(): void {
    const isHidden = settling && asking !== "message";
    const lead = asking !== "message" && !draft.isEmpty ? "[draft kept] " : "";
    // The sign before the cursor shows when an answer is read.
    const label = { lead, prompt: isHidden ? prompt.replace("›", "⋯") : prompt, isHidden };
    draft.label(label);
    reply.label(label);
    onChange();
  }

  function settle(): void {
    settling = true;
    typing = false;
    quiet.await(() => {
      settling = false;
      redraw();
    });
  }

  function ask(question: string, missed = ""): void {
    draft.close();
    // Text that was read as an answer joins a draft that a question parked.
    if (asking !== "message" && !settling) draft.setText(draft.text() + missed);
    reply.setText("");
    prompt = question;
    asking = "question";
    settle();
    redraw();
  }

  /** Enter while the draft settles keeps it, with room for what follows. */
  function pad(): void {
    const text = draft.text();
    if (text !== "" && !/\s$/.test(text)) draft.setText(`${text} `);
  }

  function onSequence(given: string): void {
    if (isRelease(given)) return;
    const sequence = plainKey(given);
    if (borrower !== undefined) return borrower(sequence);
    const action = keyAction(sequence);
    if (action === "stop") return edited().close() ? redraw() : onEscape();
    typing = true;
    quiet.key();
    if (action === "interrupt") {
      const isSearch = edited().isSearching;
      edited().close();
      if (!isSearch) onInterrupt();
    } else if (action === "end" && edited().isEmpty) onEnd();
    else if (isReported(action)) onKey(action);
    else if (action === "send" && settling) pad();
    else edited().handle(sequence);
    redraw();
  }

  function onPaste(text: string): void {
    if (borrower !== undefined) return borrower(text);
    typing = true;
    quiet.key();
    // Terminals paste nothing if the clipboard holds an image.
    if (text === "" && asking === "message") return onKey("paste-image");
    // No person pastes an answer to a question: this is text that was under way.
    if (asking === "question" && !settling) ask(prompt, reply.text());
    edited().paste(text);
    redraw();
  }

  const reader = createKeyReader({ after, onKey: onSequence, onPaste, onReport });
  const onData = (chunk: Uint8Array | string): void => reader.push(chunk);

  function open(): void {
    input.setRawMode?.(true);
    input.on("data", onData);
    input.resume();
  }
  function leave(): void {
    input.off("data", onData);
    input.pause();
    input.setRawMode?.(false);
  }
  open();
  input.on("end", onEnd);

  return {
    part: { rows: (room) => edited().part.rows(room) },
    message(text) {
      prompt = text;
      if (asking !== "message") {
        const isUnderWay = settling ? typing : !reply.isEmpty;
        asking = "message";
        quiet.cancel();
        settling = false;
        reply.setText("");
        if (isUnderWay) settle();
      }
      redraw();
    },
    question: ask,
    answer(text, filled) {
      prompt = text;
      asking = "answer";
      reply.setText(filled);
      redraw();
    },
    clear() {
      const had = !edited().isEmpty;
      edited().setText("");
      redraw();
      return had;
    },
    draft: () => draft.text(),
    setDraft(text) {
      draft.setText(text);
      redraw();
    },
    insert(text) {
      draft.insert(text);
      redraw();
    },
    lend(handle) {
      borrower = handle;
      return () => {
        if (borrower === handle) borrower = undefined;
      };
    },
    async suspend(program) {
      leave();
      try {
        return await program();
      } finally {
        if (!isClosed) open();
        redraw();
      }
    },
    close() {
      isClosed = true;
      quiet.cancel();
      reader.close();
      input.off("end", onEnd);
      leave();
    },
  };
}

function isReported(action: KeyAction | undefined): action is ReportedKey {
  return action !== undefined && Object.hasOwn(REPORTED, action);
}
