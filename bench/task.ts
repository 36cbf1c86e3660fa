// The one task that every subject of the bench is given, and what a subject is.

/** One conversation: the model asks for the tool `calls` times, once a turn, then answers in `chunks` pieces. */
export interface Conversation {
  readonly calls: number;
  readonly chunks: number;
  /** How long the model thinks before each response. */
  readonly delayMs: number;
}

export interface Watcher {
  onToolCall(): void;
  onText(text: string): void;
}

/** Something that can hold such a conversation. */
export interface Subject {
  /** @returns the text of the last response. Rejects when the conversation did not come to its end. */
  run(conversation: Conversation, watcher: Watcher): Promise<string>;
  /** Bytes on disk, of a subject that keeps something there. */
  diskBytes?(): number;
  close?(): Promise<void>;
}

/** @param baseUrl where the model server speaks Chat Completions */
export type CreateSubject = (baseUrl: string) => Subject | Promise<Subject>;

export const INSTRUCTIONS = "You are a librarian. Look up what you need with the tool, then answer in plain words.";
export const TASK = "Which of the books on this shelf mention a lighthouse, and where?";

export const TOOL_NAME = "read_page";
export const TOOL_DESCRIPTION = "Reads one page of a book.";
/** What the tool takes, for those who write it by hand; others say the same with Zod. */
export const TOOL_PARAMETERS = {
  type: "object",
  properties: { book: { type: "string" }, page: { type: "number" } },
  required: ["book", "page"],
  additionalProperties: false,
} as const;

const LINE = "The keeper climbed the stairs at dusk and lit the lamp before the fog came in. ";

/** About 250 characters, as a small tool answers. */
export function readPage(book: string, page: number): string {
  return `${book}, page ${page}: ${LINE.repeat(3).trimEnd()}`;
}

/** The model's name tells the server its script, so that the server keeps nothing of a conversation. */
export function scriptName({ calls, chunks, delayMs }: Conversation): string {
  return `script-${calls}-${chunks}-${delayMs}`;
}

export function scriptOf(model: string): Conversation | undefined {
  const [, calls, chunks, delayMs] = /^script-(\d+)-(\d+)-(\d+)$/.exec(model) ?? [];
  return calls === undefined ? undefined : { calls: Number(calls), chunks: Number(chunks), delayMs: Number(delayMs) };
}
