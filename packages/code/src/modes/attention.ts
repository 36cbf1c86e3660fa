/** Receives the states of a conversation, so that a person who does other work learns of them. */
export interface Attention {
  working(): void;
  /** A question is open. */
  waiting(question: string): void;
  /** The run is over, or waits for a decision. @param ending its reason, such as `complete` */
  done(ending: string): void;
}

export interface AttentionOptions {
  /** The name of the conversation, such as its folder. */
  readonly name: string;
  setTitle(text: string): void;
  /** Notifies the person, unless the terminal has the focus. */
  notify(notification: { readonly title: string; readonly body: string }): void;
  /** Unix ms. */
  now(): number;
}

/** The duration from which the end of a run is notified of: a person waits for a shorter one. */
export const MIN_NOTIFIED_RUN_MS = 10_000;

/** Sets the title of the terminal, and notifies when the agent waits for an answer or is done after a while. */
export function createAttention({ name, setTitle, notify, now }: AttentionOptions): Attention {
  let since: number | undefined;
  const show = (state: string): void => setTitle(`${state === "" ? "" : `${state} · `}${name}`);
  return {
    working() {
      since ??= now();
      show("working");
    },
    waiting(question) {
      show("waiting");
      notify({ title: name, body: `waits: ${question}` });
    },
    done(ending) {
      const took = since === undefined ? 0 : now() - since;
      since = undefined;
      show("");
      if (took > MIN_NOTIFIED_RUN_MS) notify({ title: name, body: ending });
    },
  };
}
