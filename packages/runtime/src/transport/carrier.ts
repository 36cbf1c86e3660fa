/** The head of an answer. */
export interface AnswerHead {
  readonly status: number;
  /** By their names in lower case. Values of a repeated header are joined by ", ". */
  readonly headers: Pick<ReadonlyMap<string, string>, "get">;
}

/** Takes what a {@link Carrier} brings: `connected` (perhaps more than once), `head`, `bytes`, `end`; or `broken`, after which nothing comes. */
export interface AnswerReceiver {
  /** The connection stands: from now on an answer is waited for. */
  connected(): void;
  head(head: AnswerHead): void;
  /** The bytes are the receiver's. */
  bytes(chunk: Uint8Array): void;
  end(): void;
  broken(cause: unknown): void;
}

/** One request under way. Once its answer has ended nothing may be called: the connection may serve another. */
export interface Carrier {
  pause(): void;
  resume(): void;
  /** Closes the connection. The receiver hears nothing afterwards. */
  destroy(): void;
}
