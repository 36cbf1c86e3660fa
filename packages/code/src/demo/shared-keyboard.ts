import { PassThrough } from "node:stream";
import type { InputStream } from "../core/command-host.ts";
import { isRelease, keyAction, plainKey } from "../editor/keys.ts";
import { createKeyReader } from "../editor/read-keys.ts";
import { type After, afterReading } from "../terminal/after-reading.ts";

export interface SharedKeyboardOptions {
  /** The terminal of the person. */
  readonly person: InputStream;
  /** True while the person may answer a question: then their keys reach the conversation. */
  isAsked(): boolean;
  /** Any other key. */
  onSkip(): void;
  /** Ctrl-C, Ctrl-D, or the terminal went away. */
  onLeave(): void;
  readonly after?: After;
}

/** A keyboard that a show and a person use together. */
export interface SharedKeyboard {
  /** The input of the conversation. */
  readonly input: InputStream;
  /** Resolves when the conversation reads keys. */
  readonly ready: Promise<void>;
  /** The number of keys with which the person answers the question that is open. */
  readonly answerKeys: number;
  /** Another question is open. */
  beginAnswer(): void;
  /** Presses keys for the show. */
  press(keys: string): void;
  close(): void;
}

export function createSharedKeyboard({ person, isAsked, onSkip, onLeave, after = afterReading }: SharedKeyboardOptions): SharedKeyboard {
  const { promise: ready, resolve: begin } = Promise.withResolvers<void>();
  let answerKeys = 0;
  const input = Object.assign(new PassThrough(), {
    isTTY: true as const,
    setRawMode(isRaw: boolean) {
      person.setRawMode?.(isRaw);
      if (isRaw) begin();
    },
  });

  function onKey(sequence: string): void {
    if (isRelease(sequence)) return;
    const key = plainKey(sequence);
    const action = keyAction(key);
    if (action === "interrupt" || action === "end") return onLeave();
    // The conversation gives the terminal back to the shell, and takes it again.
    if (action === "suspend") return void input.write(sequence);
    // No answer begins with a blank or Enter: a person who skips ahead with them skips the question, too.
    if (!isAsked() || (answerKeys === 0 && (key === " " || action === "send"))) return onSkip();
    if (!isAnswerKey(key)) return;
    answerKeys += 1;
    input.write(sequence);
  }

  const reader = createKeyReader({ after, onKey, onPaste() {}, onReport: (report) => void input.write(report) });
  const onData = (chunk: Uint8Array | string): void => reader.push(chunk);
  person.on("data", onData);
  person.on("end", onLeave);
  person.resume();

  return {
    input,
    ready,
    get answerKeys() {
      return answerKeys;
    },
    beginAnswer() {
      answerKeys = 0;
    },
    press: (keys) => void input.write(keys),
    close() {
      reader.close();
      person.off("data", onData);
      person.off("end", onLeave);
      person.pause();
    },
  };
}

/** True for the keys of an answer in one line. Others could leave the question or change the draft. */
function isAnswerKey(key: string): boolean {
  // oxlint-disable-next-line no-control-regex -- keys that edit are control characters
  return keyAction(key) === "send" || key === "\u007f" || key === "\b" || /^[^\u0000-\u001f\u007f]+$/.test(key);
}
