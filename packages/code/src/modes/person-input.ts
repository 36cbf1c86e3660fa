import type { Executor } from "@keelson/protocol";
import type { RunInput } from "keelson";
import type { InputStream } from "../core/command-host.ts";
import { readAttachedImage } from "../editor/attached-image.ts";
import { createAttachments } from "../editor/attachments.ts";
import { readClipboardImage } from "../editor/clipboard-image.ts";
import type { CompletionSource } from "../editor/completions/completion-source.ts";
import { editExternally } from "../editor/external-editor.ts";
import { parseShellLine } from "../editor/parse-shell-line.ts";
import type { After } from "../terminal/after-reading.ts";
import type { LivePart } from "../terminal/live-part.ts";
import type { Screen } from "../terminal/screen.ts";
import { stackedPart } from "../terminal/stacked-part.ts";
import { printable, printableLine } from "../text/printable.ts";
import type { Style } from "../text/style.ts";
import { createLineInput } from "./line-input.ts";
import { createMessageQueue, type MessageQueue } from "./message-queue.ts";
import { createOwnCommands } from "./own-commands.ts";
import { suspendProcess } from "./suspend-process.ts";
import { createTerminalInput, type ReportedKey, type TerminalInput, type TerminalInputOptions } from "./terminal-input.ts";

export interface PersonInputOptions extends Pick<TerminalInputOptions, "history" | "onAnswer" | "onInterrupt" | "onEnd" | "onReport"> {
  readonly stdin: InputStream;
  readonly screen: Pick<Screen, "block">;
  readonly style: Style;
  readonly environment: { readonly [name: string]: string | undefined };
  /** The folder of the session that is open, absolute. */
  cwd(): string;
  /** Runs the commands of the person: the sandbox of the agent if it has one. */
  exec(): Executor;
  /** True for a screen that moves no cursor: the terminal itself edits the lines. */
  readonly isSpoken?: boolean;
  readonly completions: CompletionSource;
  /** `part` shows something else. */
  onChange(): void;
  /** Each text that Enter sent, to be kept in the history. */
  onTyped?(text: string): void;
  /** A command of the person has ended. */
  onOwnCommandEnd?(): void;
  /** A message, or a command of the prompt. */
  onMessage(text: string): void;
  /** Esc, if nothing that was typed has a use for it. */
  onEscape(): void;
  /** Hands a message to the run that is under way. */
  deliver(text: string): void;
  /** Keys for other parts of the screen. */
  onKey(name: Exclude<ReportedKey, "paste-image" | "external-editor" | "take-back" | "suspend">): void;
  /** Gives the terminal to a program until it ends. Default: calls it. */
  readonly outside?: <Result>(program: () => Promise<Result>) => Promise<Result>;
  readonly readClipboard?: () => Promise<Uint8Array>;
  /** Default: stops this process until it is continued. */
  readonly suspendProcess?: () => Promise<void>;
  readonly after?: After;
}

/** The input of a conversation, with its queue, its images and the commands that a person runs. */
export interface PersonInput {
  readonly input: TerminalInput;
  /** The messages that wait and, below them, the input. */
  readonly part: LivePart;
  readonly queue: MessageQueue;
  /** Returns a message as the agent gets it: with its images, and after the results of own commands. */
  outgoing(text: string): Promise<RunInput>;
  /** Returns messages to the input, above what is typed there. */
  giveBack(texts: readonly string[]): void;
  /** Ends the command of the person if one runs; else it is left to `onInterrupt`. */
  interrupt(): void;
  /** Stops reading keys and ends the command of the person. */
  close(): Promise<void>;
}

export function createPersonInput(options: PersonInputOptions): PersonInput {
  const { stdin, screen, style, environment, onChange, onMessage, onEscape, onKey } = options;
  const { isSpoken = false, outside = (program) => program(), readClipboard = () => readClipboardImage({ environment }) } = options;
  const { suspendProcess: suspend = suspendProcess } = options;
  const attachments = createAttachments({ cwd: () => options.cwd() });
  const ownCommands = createOwnCommands({ screen, style, exec: () => options.exec() });
  const queue = createMessageQueue({ style, onChange, deliver: (text) => options.deliver(text) });
  const warn = (text: string): void => screen.block([style.yellow(`! ${printableLine(text)}`)]);
  const warnOf = (error: unknown): void => warn(error instanceof Error ? error.message : String(error));

  const heard = {
    ...options,
    input: stdin,
    onMessage(text: string) {
      if (text.trim() !== "") options.onTyped?.(text);
      const line = parseShellLine(text);
      if (line === undefined) return onMessage(text);
      if (!isSpoken) screen.block(["", ...printable(`$ ${line.command}`).split("\n").map(style.bold)]);
      void ownCommands.run(line.command).then(options.onOwnCommandEnd);
    },
    onInterrupt() {
      if (!ownCommands.stop()) options.onInterrupt();
    },
    onEscape() {
      if (ownCommands.stop()) return;
      if (input.draft() !== "" || !takeBack()) onEscape();
    },
    onProblem: warnOf,
    onKey(name: ReportedKey) {
      if (name === "paste-image") void pasteImage();
      else if (name === "external-editor") void editDraft();
      else if (name === "suspend") void input.suspend(() => outside(suspend)).catch(warnOf);
      else if (name !== "take-back") onKey(name);
      else if (!takeBack()) warn("There is no waiting message to edit.");
    },
  };
  const input: TerminalInput = isSpoken
    ? createLineInput({ ...heard, onPrompt: (text) => screen.block([text]) })
    : createTerminalInput(heard);

  function giveBack(texts: readonly string[]): void {
    input.setDraft([...texts, input.draft()].filter((text) => text !== "").join("\n"));
  }

  function takeBack(): boolean {
    const text = queue.takeLast();
    if (text !== undefined) giveBack([text]);
    return text !== undefined;
  }

  async function pasteImage(): Promise<void> {
    try {
      input.insert(`${attachments.add(readAttachedImage(await readClipboard(), "clipboard"))} `);
    } catch (error) {
      warnOf(error);
    }
  }

  async function editDraft(): Promise<void> {
    try {
      input.setDraft(await input.suspend(() => outside(() => editExternally(input.draft(), { environment }))));
    } catch (error) {
      warnOf(error);
    }
  }

  return {
    input,
    part: stackedPart(queue.part, input.part),
    queue,
    async outgoing(text) {
      const { content, sent, problems } = await attachments.attach(text);
      if (sent.length > 0) screen.block([...sent.map((line) => style.dim(`  ${line}`)), ""]);
      for (const problem of problems) warn(problem);
      const results = ownCommands.takeResults();
      if (results.length === 0) return content;
      const before = results.join("\n\n");
      return typeof content === "string" ? `${before}\n\n${content}` : [{ type: "text", text: `${before}\n\n` }, ...content];
    },
    giveBack,
    interrupt: heard.onInterrupt,
    async close() {
      input.close();
      await ownCommands.close();
    },
  };
}
