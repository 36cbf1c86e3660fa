/** Told what a conversation does, so that a person who looks elsewhere learns of it. */
export interface Attention {
  working(): void;
  /** A question is open. */
  waiting(question: string): void;
  /** The run is over, or waits for a decision. @param ending its reason, such as `complete` */
  done(ending: string): void;
}

export interface AttentionOptions {
  /** What the title begins with: the folder of the conversation. */
  readonly name: string;
  setTitle(text: string): void;
  /** Notifies the person, unless they look at the terminal. */
  notify(notification: { readonly title: string; readonly body: string }): void;
  /** Unix ms. */
  now(): number;
}

/** The duration from which the end of a run is told: a person stays for a shorter one. */
export const WORTH_TELLING_MS = 10_000;

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
      if (took > WORTH_TELLING_MS) notify({ title: name, body: ending });
    },
  };
}
