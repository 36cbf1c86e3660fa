import type { JsonObject } from "@keelson/protocol";

/** A question to a client as it stands on the wire of the stateless revision. */
export interface WireQuestion {
  readonly method: "elicitation/create" | "sampling/createMessage" | "roots/list";
  readonly params: object;
}

interface Waiting {
  readonly question: WireQuestion;
  readonly mayRepeat: boolean | undefined;
  readonly hear: (response: unknown) => void;
}

/**
 * What a handler asks the client in the stateless revision, where a question ends the request and its answer comes with the next one. Questions
 * that are asked at the same time go to the client together.
 */
export class ClientAnswers {
  readonly #given: Map<string, unknown>;
  readonly #waiting = new Map<string, Waiting>();
  readonly #used = new Set<string>();
  #count = 0;
  #asked: (() => void) | undefined;
  #isOver = false;

  /** @param given what the client answered so far, by key; it is data from outside */
  constructor(given: { readonly [key: string]: unknown }) {
    this.#given = new Map(Object.entries(given));
  }

  /** By its order in the request, where its author gave it no name. */
  nextKey(): string {
    this.#count += 1;
    return `question-${this.#count}`;
  }

  /**
   * What the client says to a question, read by `read`. What that can't read is no answer, and the question is asked again. It never settles
   * where the request ends first.
   */
  async answer<Answer>(
    key: string,
    question: WireQuestion,
    read: (response: unknown) => Promise<Answer | undefined> | Answer | undefined,
    mayRepeat?: boolean,
  ): Promise<Answer> {
    for (;;) {
      if (this.#given.has(key)) {
        const answer = await read(this.#given.get(key));
        if (answer !== undefined) {
          this.#used.add(key);
          return answer;
        }
        this.#given.delete(key);
      }
      if (this.#isOver) throw new Error("it did not answer in time");
      await new Promise<void>((resolve) => {
        this.#waiting.set(key, {
          question,
          mayRepeat,
          hear: (response) => {
            this.#given.set(key, response);
            resolve();
          },
        });
        this.#asked?.();
      });
    }
  }

  /** Resolves when something is asked that has no answer, and all that is asked beside it is there. */
  async asked(): Promise<"asked"> {
    if (this.#waiting.size === 0) await new Promise<void>((resolve) => (this.#asked = resolve));
    // Whoever asks several things at once does it in one turn of the loop of events.
    await new Promise((resolve) => setImmediate(resolve));
    return "asked";
  }

  get open(): { readonly [key: string]: WireQuestion } {
    return Object.fromEntries([...this.#waiting].map(([key, { question }]) => [key, question]));
  }

  /** Whether the request may be made again from its start with the answers to what is open. @param otherwise of a question that does not say */
  mayRepeat(otherwise: boolean): boolean {
    return [...this.#waiting.values()].every(({ mayRepeat }) => mayRepeat ?? otherwise);
  }

  /** What was asked and answered, to be known when the request is made again. What nobody asked is left out. */
  get known(): JsonObject {
    return Object.fromEntries([...this.#given].filter(([key]) => this.#used.has(key))) as JsonObject;
  }

  /** Tells those that wait, and keeps the others for questions to come. */
  hear(responses: { readonly [key: string]: unknown }): void {
    for (const [key, response] of Object.entries(responses)) {
      const waiting = this.#waiting.get(key);
      this.#waiting.delete(key);
      if (waiting) waiting.hear(response);
      else this.#given.set(key, response);
    }
  }

  /** Nobody answers any more: whoever waits for an answer is told so, by a rejection. */
  cancel(): void {
    this.#isOver = true;
    this.hear(Object.fromEntries([...this.#waiting.keys()].map((key) => [key, undefined])));
  }
}
