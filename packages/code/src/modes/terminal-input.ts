import { createInterface, type Interface, type Key } from "node:readline";
import { Writable } from "node:stream";
import type { InputStream } from "../core/surroundings.ts";
import type { InputLine } from "../render/live-screen.ts";

export interface TerminalInputOptions {
  readonly input: InputStream;
  readonly columns: number;
  /** Earlier lines, newest first. */
  readonly history: readonly string[];
  draw(line: InputLine): void;
  onLine(text: string): void;
  onInterrupt(): void;
  /** Ctrl-D on an empty line, or the terminal went away. */
  onEnd(): void;
}

/** A line that is edited while other things are shown: readline keeps it, the screen draws it. */
export interface TerminalInput {
  prompt(text: string): void;
  /** Puts text into the line, to be edited. */
  fill(text: string): void;
  /** @returns whether there was anything to clear */
  clear(): boolean;
  close(): void;
}

export function createTerminalInput({ input, columns, history, draw, onLine, onInterrupt, onEnd }: TerminalInputOptions): TerminalInput {
  // Readline would draw by itself, over what else is shown.
  const nowhere = Object.assign(new Writable({ write: (_chunk, _encoding, done) => done() }), { columns });
  const reader: Interface = createInterface({
    input,
    output: nowhere,
    terminal: true,
    history: [...history],
    historySize: 500,
    removeHistoryDuplicates: true,
  });
  let prompt = "› ";
  // Lines of a paste are one text: without this, each of them would be sent.
  let pasted: string[] | undefined;
  let earlier: string[] = [];

  const redraw = (): void => {
    const lead = earlier.length > 0 ? `[+${earlier.length} ${earlier.length === 1 ? "line" : "lines"}] ` : "";
    draw({ prompt: lead + prompt, text: reader.line, cursor: reader.cursor });
  };
  const onKey = (_text: string | undefined, key: Key | undefined): void => {
    if (key?.name === "paste-start") pasted = [];
    if (key?.name === "paste-end" && pasted !== undefined) {
      earlier = [...earlier, ...pasted];
      pasted = undefined;
    }
    redraw();
  };
  input.on("keypress", onKey);
  reader.on("line", (line) => {
    if (pasted !== undefined) {
      pasted.push(line);
      return;
    }
    const text = [...earlier, line].join("\n");
    earlier = [];
    onLine(text);
    redraw();
  });
  reader.on("SIGINT", onInterrupt);
  reader.on("close", onEnd);
  return {
    prompt(text) {
      prompt = text;
      redraw();
    },
    fill(text) {
      reader.write(text);
      redraw();
    },
    clear() {
      const had = reader.line !== "" || earlier.length > 0;
      earlier = [];
      reader.write(null, { ctrl: true, name: "e" });
      reader.write(null, { ctrl: true, name: "u" });
      redraw();
      return had;
    },
    close() {
      input.off("keypress", onKey);
      reader.off("close", onEnd);
      reader.close();
    },
  };
}
